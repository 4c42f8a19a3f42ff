#include <sluice/memory/static_arena.hpp>

#include <array>
#include <utility>

using sluice::ArenaPtr;
using sluice::StaticArena;

using Arena = StaticArena<64, 16>;
struct alignas(32) Strict {
    int value;
};
struct Large {
    std::array<char, 65> bytes;
};

std::size_t use(Arena& arena) {
#if CASE == 0
    ArenaPtr<int> handle = arena.emplaceAt<int, 48>(1);
    const ArenaPtr<int> moved = std::move(handle);
    return moved ? arena.objects() : 0;
#elif CASE == 1
    // EXPECT: the T ends beyond the arena
    const auto handle = arena.emplaceAt<std::array<char, 17>, 48>();
    return arena.objects();
#elif CASE == 2
    // EXPECT: Offset must be a multiple of the arena's Align
    const auto handle = arena.emplaceAt<int, 8>(1);
    return arena.objects();
#elif CASE == 3
    // EXPECT: T needs a stricter alignment than the arena's Align
    const auto handle = arena.tryEmplace<Strict>();
    return arena.objects();
#endif
}
