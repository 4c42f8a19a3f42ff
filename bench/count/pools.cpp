#include "pool_rows.hpp"
#include "rows.hpp"

#include <sluice/memory/block_pool.hpp>
#include <sluice/memory/object_pool.hpp>

namespace sluice::count {

namespace {

class Blocks {
public:
    void* allocate() { return pool_.tryAllocate(); }
    void deallocate(void* block) { pool_.deallocate(block); }

private:
    static BlockPoolOptions options() {
        BlockPoolOptions options;
        options.blockSize = sizeof(Message);
        return options;
    }

    BlockPool pool_{options()};
};

/// Neither constructor nor destructor of the object does anything: the pool alone is counted.
struct Object {
    // NOLINTNEXTLINE(modernize-use-equals-default): that one would fill it with zeros
    Object() noexcept {}
    std::byte bytes[sizeof(Message)];  // uninitialised on purpose
};

class Objects {
public:
    Object* allocate() { return pool_.tryMake().release(); }
    static void deallocate(Object* object) { ObjectPool<Object>::destroy(object); }

private:
    ObjectPool<Object> pool_;
};

}  // namespace

void addPools(Rows& rows) {
    addPool<Blocks>(rows, ours, {"BlockPool"});
    addPool<Objects>(rows, ours, {"ObjectPool"});
}

}  // namespace sluice::count
