#include "adapters/memory_subjects.hpp"
#include "adapters/resource_blocks.hpp"

#include <sluice/memory/block_pool.hpp>
#include <sluice/memory/object_pool.hpp>
#include <sluice/memory/pool_resource.hpp>

#include <algorithm>

namespace sluice::bench {

namespace {

template <std::size_t Bytes>
class BlockPoolBlocks : public PlainAllocator {
public:
    explicit BlockPoolBlocks(std::size_t most) : PlainAllocator(most), pool_(options()) {}
    std::byte* allocate() { return static_cast<std::byte*>(pool_.tryAllocate()); }
    void deallocate(std::byte* block) { pool_.deallocate(block); }
    void trim() { pool_.trim(); }

private:
    static BlockPoolOptions options() {
        BlockPoolOptions options;
        options.blockSize = Bytes;
        options.alignment = std::min<std::size_t>(Bytes, 64);  // no two share a cache line
        return options;
    }

    BlockPool pool_;
};

template <std::size_t Bytes>
class Objects : public PlainAllocator {
    using Object = Payload<Bytes>;

public:
    explicit Objects(std::size_t most) : PlainAllocator(most) {}
    std::byte* allocate() {
        Object* const object = pool_.tryMake().release();
        return object != nullptr ? object->bytes : nullptr;
    }
    static void deallocate(std::byte* block) {
        ObjectPool<Object>::destroy(reinterpret_cast<Object*>(block));
    }
    void trim() { pool_.trim(); }

private:
    ObjectPool<Object> pool_;
};

template <std::size_t Bytes>
class OurResource : public ResourceBlocks<PoolResource, Bytes> {
public:
    using ResourceBlocks<PoolResource, Bytes>::ResourceBlocks;
    void trim() { this->resource_.trim(); }
};

}  // namespace

void addPools(MemorySubjects& subjects) {
    Subject info;
    info.library = "sluice";
    info.ours = true;
    info.id = "sluice/BlockPool";
    info.use = "tryAllocate(), deallocate(); blocks aligned to cache lines";
    addSharedAllocator<BlockPoolBlocks>(subjects, info);
    info.id = "sluice/ObjectPool";
    info.use = "tryMake(), destroy()";
    addSharedAllocator<Objects>(subjects, info);
    info.id = "sluice/PoolResource";
    info.use = "allocate(), deallocate() through memory_resource; above 4 KiB from the heap";
    addSharedAllocator<OurResource>(subjects, info);
}

}  // namespace sluice::bench
