#include "adapters/memory_subjects.hpp"

#include <sluice/memory/static_arena.hpp>

#include <algorithm>
#include <memory>
#include <new>

namespace sluice::bench {

namespace {

template <std::size_t Bytes>
class ArenaPlace : public PlainAllocator {
    using Arena = StaticArena<Bytes, std::min<std::size_t>(Bytes, 4096)>;

public:
    explicit ArenaPlace(std::size_t most) : PlainAllocator(most) {}
    std::byte* allocate() {
        object_ = arena_->template emplaceAt<Payload<Bytes>, 0>();
        return object_->bytes;
    }
    void deallocate(std::byte*) { object_.reset(); }

private:
    // Too large for the stack, some of them.
    std::unique_ptr<Arena> arena_ = std::make_unique<Arena>();
    ArenaPtr<Payload<Bytes>> object_;
};

// The work without an allocation: the object is built at the same address each time.
template <std::size_t Bytes>
class OnePlace : public PlainAllocator {
public:
    explicit OnePlace(std::size_t most) : PlainAllocator(most) {}
    std::byte* allocate() { return (::new (place_.get()) Payload<Bytes>)->bytes; }
    static void deallocate(std::byte*) {}

private:
    std::unique_ptr<std::byte[]> place_ = std::make_unique<std::byte[]>(Bytes);
};

}  // namespace

void addPlacement(MemorySubjects& subjects) {
    Subject info;
    info.library = "sluice";
    info.ours = true;
    info.id = "sluice/StaticArena";
    info.use = "emplaceAt() the beginning of an arena for one object, reset()";
    info.features.topology = "one thread";
    MemorySubject arena{info, {}, 1};
    addPairs<ArenaPlace>(arena, Sizes{});
    subjects.push_back(std::move(arena));

    info.library = "C++";
    info.ours = false;
    info.id = floorPrefix + "placement new";
    info.use = "no allocator: placement new at one address, the floor under the others";
    MemorySubject floor{info, {}, 1};
    addPairs<OnePlace>(floor, Sizes{});
    subjects.push_back(std::move(floor));
}

}  // namespace sluice::bench
