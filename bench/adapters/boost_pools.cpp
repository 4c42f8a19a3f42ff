#include "adapters/memory_subjects.hpp"

#include <boost/pool/pool.hpp>
#include <boost/pool/pool_alloc.hpp>
#include <boost/version.hpp>

namespace sluice::bench {

namespace {

template <std::size_t Bytes>
class BoostPool : public PlainAllocator {
public:
    explicit BoostPool(std::size_t most) : PlainAllocator(most) {}
    std::byte* allocate() { return static_cast<std::byte*>(pool_.malloc()); }
    void deallocate(std::byte* block) { pool_.free(block); }

private:
    boost::pool<> pool_{Bytes};
};

template <std::size_t Bytes>
struct BoostFastAllocator : PlainAllocator {
    using PlainAllocator::PlainAllocator;
    using Allocator = boost::fast_pool_allocator<Payload<Bytes>>;
    static std::byte* allocate() { return reinterpret_cast<std::byte*>(Allocator::allocate()); }
    static void deallocate(std::byte* block) {
        Allocator::deallocate(reinterpret_cast<Payload<Bytes>*>(block));
    }
};

}  // namespace

void addBoostPools(MemorySubjects& subjects) {
    Subject info;
    info.library = "Boost.Pool";
    info.version = BOOST_LIB_VERSION;
    info.id = "boost/pool";
    info.use = "malloc(), free(); for one thread, no lock";
    addAllocator<BoostPool>(subjects, info);
    info.id = "boost/fast_pool_allocator";
    info.use = "allocate(), deallocate() of one object; a mutex for each size";
    addSharedAllocator<BoostFastAllocator>(subjects, info);
}

}  // namespace sluice::bench
