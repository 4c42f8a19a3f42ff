#pragma once

#include <sluice/queue/queue_traits.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <set>
#include <utility>

// Replacements for messages, memory and machine in the unit tests of the queues.

namespace sluice::test {

/// Counts the memory that it gives and gets back. With exceptions it can be made to run out.
class CountingResource : public std::pmr::memory_resource {
public:
    static constexpr int endless = -1;
    int allocationsLeft = endless;
    int allocations = 0;
    int deallocations = 0;
    std::size_t bytesInUse = 0;
    std::size_t largestAlignment = 0;

protected:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
#if defined(__cpp_exceptions)
        if (allocationsLeft == 0) {
            throw std::bad_alloc();
        }
#endif
        allocationsLeft -= allocationsLeft == endless ? 0 : 1;
        ++allocations;
        bytesInUse += bytes;
        largestAlignment = std::max(largestAlignment, alignment);
        return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* place, std::size_t bytes, std::size_t alignment) override {
        ++deallocations;
        bytesInUse -= bytes;
        std::pmr::new_delete_resource()->deallocate(place, bytes, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }
};

/// A message that counts how many of its kind live.
struct Tracked {
    explicit Tracked(int number) : value(number) { ++alive; }
    Tracked(const Tracked& other) : value(other.value) { ++alive; }
    Tracked(Tracked&& other) noexcept : value(std::exchange(other.value, movedFrom)) { ++alive; }
    Tracked& operator=(const Tracked&) = delete;
    ~Tracked() { --alive; }

    static constexpr int movedFrom = -1;
    inline static int alive = 0;
    int value;
};

/// A message whose construction can be looked into: the call runs in the middle of it, and may
/// throw.
struct Building {
    explicit Building(int number) : value(number) {}
    template <class Call>
    Building(int number, Call&& call) : value(number) {
        std::forward<Call>(call)();
    }
    int value;
};

/// Positions of 8 bits that wrap after a few messages and once more every 128.
struct ByteTraits : QueueTraits {
    using Index = std::uint8_t;
    static constexpr std::uint64_t firstPosition = 250;
};

/// Positions of the usual width, three messages before their wrap.
struct NearWrapTraits : QueueTraits {
    static constexpr std::uint64_t firstPosition = ~std::uint64_t{0} - 5;
};

/// Segments of three slots, so that a few messages cross several.
template <class Traits>
struct TinySegments : Traits {
    static constexpr std::size_t segmentBytes = 1;
    static constexpr std::size_t minSegmentSlots = 3;
    static constexpr std::size_t keptBytes = 1048576;
};
struct TinyTraits : TinySegments<QueueTraits> {};
struct TinyByteTraits : TinySegments<ByteTraits> {};
struct TinyNearWrapTraits : TinySegments<NearWrapTraits> {};

/// As for a single-core part: no distance between anything.
struct CompactTraits : QueueTraits {
    using Index = std::uint32_t;
    static constexpr std::size_t cacheLineSize = 4;
};

/// Notes the cache lines that are written through it and counts read-modify-writes. The flags of
/// debug builds are the only shared variables of type bool that are ever exchanged; these do not
/// count.
struct WriteTrace {
    using Lines = std::set<std::uintptr_t>;

    static void note(const void* address) {
        lines.insert(reinterpret_cast<std::uintptr_t>(address) / cacheLineSize);
    }
    static Lines take() { return std::exchange(lines, {}); }

    inline static Lines lines;
    inline static int readModifyWrites = 0;
};

template <class T>
struct TracingAtomic : std::atomic<T> {
    using Base = std::atomic<T>;
    using Base::Base;

    void store(T value, std::memory_order order) noexcept {
        WriteTrace::note(this);
        Base::store(value, order);
    }
    T exchange(T value, std::memory_order order) noexcept {
        WriteTrace::note(this);
        return Base::exchange(value, order);
    }
    T fetch_add(T value, std::memory_order order) noexcept {
        WriteTrace::note(this);
        ++WriteTrace::readModifyWrites;
        return Base::fetch_add(value, order);
    }
    T fetch_or(T value, std::memory_order order) noexcept {
        WriteTrace::note(this);
        ++WriteTrace::readModifyWrites;
        return Base::fetch_or(value, order);
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) noexcept {
        WriteTrace::note(this);
        ++WriteTrace::readModifyWrites;
        return Base::compare_exchange_weak(expected, desired, success, failure);
    }
};

struct TracingPlatform : StdPlatform {
    template <class T>
    using Atomic = TracingAtomic<T>;
};

struct TracingTraits : QueueTraits {
    using Platform = TracingPlatform;
};

inline bool areDisjoint(const WriteTrace::Lines& left, const WriteTrace::Lines& right) {
    for (const std::uintptr_t line : left) {
        if (right.count(line) != 0) {
            return false;
        }
    }
    return true;
}

}  // namespace sluice::test
