#include "adapters/memory_subjects.hpp"

#include <sluice/memory/pooled.hpp>

namespace sluice::bench {

namespace {

template <std::size_t Bytes>
struct PooledPayload final : Pooled<PooledPayload<Bytes>>, Payload<Bytes> {};

template <std::size_t Bytes>
struct PooledBlocks : PlainAllocator {
    using PlainAllocator::PlainAllocator;
    static std::byte* allocate() { return (new PooledPayload<Bytes>)->bytes; }
    static void deallocate(std::byte* block) {
        delete static_cast<PooledPayload<Bytes>*>(reinterpret_cast<Payload<Bytes>*>(block));
    }
    static void trim() { Pooled<PooledPayload<Bytes>>::resource().trim(); }
};

}  // namespace

void addPooledClass(MemorySubjects& subjects) {
    Subject info;
    info.library = "sluice";
    info.ours = true;
    info.id = "sluice/Pooled new-delete";
    info.use = "new and delete of a class derived from Pooled; above 4 KiB from the heap";
    addSharedAllocator<PooledBlocks>(subjects, info);
}

}  // namespace sluice::bench
