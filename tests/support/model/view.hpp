#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice::model {

/// An exploration beyond one of these limits ends with a message that names the limit.
inline constexpr std::size_t maxThreads = 4;
inline constexpr std::size_t maxLocations = 80;

/// Combines two hashes, in order.
constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
    hash = hash * 0x9E3779B97F4A7C15U + value;
    hash = (hash ^ (hash >> 32U)) * 0xD6E8FEB86659FD93U;
    return hash ^ (hash >> 32U);
}

/// The stores that happened before one point of one thread. A release store passes them on.
///
/// `clock[t]` is the number of operations of thread t that happened before; `seen[x]` is the oldest
/// store to location x (its place in the modification order) that may still be read from here on.
/// Happens-before passes both on. A fence passes on `seen` alone, because it orders atomic accesses
/// but makes no data race legal.
struct View {
    std::uint32_t clock[maxThreads] = {};
    std::uint16_t seen[maxLocations] = {};
    std::size_t seenCount = 0;  // the number of entries of `seen` in use; the others are 0

    void join(const View& other) noexcept {
        for (std::size_t t = 0; t < maxThreads; ++t) {
            clock[t] = clock[t] < other.clock[t] ? other.clock[t] : clock[t];
        }
        joinSeen(other);
    }

    void joinSeen(const View& other) noexcept {
        seenCount = seenCount < other.seenCount ? other.seenCount : seenCount;
        for (std::size_t x = 0; x < other.seenCount; ++x) {
            seen[x] = seen[x] < other.seen[x] ? other.seen[x] : seen[x];
        }
    }

    void see(std::size_t location, std::size_t store) noexcept {
        seenCount = seenCount <= location ? location + 1 : seenCount;
        seen[location] = static_cast<std::uint16_t>(store);
    }
};

}  // namespace sluice::model
