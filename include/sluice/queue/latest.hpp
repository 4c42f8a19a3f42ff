#pragma once

#include <sluice/base/role_check.hpp>
#include <sluice/base/tagged_head.hpp>
#include <sluice/queue/queue_traits.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace sluice {

/// The newest value of a type, from several writers to one reader: a triple buffer. Writers
/// overwrite values that the reader has not taken, so a slow reader never blocks a writer.
///
///     sluice::Latest<Position, 2> position;  // at most two threads write simultaneously
///     (void)position.set(Position{3, 4});    // any thread
///     if (const Position* newest = position.update()) {  // the reader
///         draw(*newest);                                 // valid until the next update()
///     }
///
/// Order: the newest value is the value published last. The reader never receives an older value
/// after a newer value.
///
/// Thread safety: any thread may call any member, but only one thread at a time may call update().
/// A signal handler may call set() if T's functions are safe in signal handlers. A set() inside a
/// function of T counts as another writer. A preempted thread blocks no other thread.
///
/// Errors: set() returns false and leaves its arguments unchanged if `Writers` other calls of set()
/// are running, or if the Latest is being destroyed. A constructor that throws changes nothing.
///
/// Performance: update() is wait-free: a load, and an exchange if there is a new value. set() is
/// lock-free. A Latest contains Writers + 2 slots on separate cache lines, and allocates nothing.
template <class T, std::size_t Writers, class Traits = QueueTraits>
class Latest {
    static_assert(Writers >= 1, "Latest<T, Writers>: at least one thread must be able to write");
    static_assert(Writers <= 0xffff, "Latest<T, Writers>: at most 65,535 writers");
    static_assert(std::is_nothrow_destructible_v<T>, "Latest<T>: a destructor of T may not throw");

    using Platform = typename Traits::Platform;
    using RoleCheck = sluice::RoleCheck<Platform>;
    using FreeSlots = SlotStack<Platform, Writers + 2>;
    using Slot = typename FreeSlots::Slot;
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;

public:
    using value_type = T;

    Latest() noexcept {
        Slot first{};
        (void)free_.tryTake(held_);
        (void)free_.tryTake(first);
        newest_.store(empty(first), std::memory_order_relaxed);  // not shared
    }

    ~Latest() {
        free_.takeAll();  // so that set() fails in the values' destructors
        destroyHeld();
        (void)update();  // takes the newest value
        destroyHeld();
    }

    // ---- Writers

    [[nodiscard]] bool set(const T& value) { return emplace(value); }
    [[nodiscard]] bool set(T&& value) { return emplace(std::move(value)); }
    template <class U, detail::IfConverts<U, T> = 0>
    [[nodiscard]] bool set(U&& value) {
        return emplace(std::forward<U>(value));
    }

    /// Constructs the value in a free slot and publishes it as the newest value.
    template <class... Args>
    [[nodiscard]] bool emplace(Args&&... args) {
        Slot slot{};
        if (!free_.tryTake(slot)) {
            return false;
        }
        Taken taken{free_, slot};
        cells_[taken.slot].cell.construct(std::forward<Args>(args)...);
        const Word before =
            newest_.exchange(full(taken.slot), std::memory_order_acq_rel);  // E1 publish, E2 reuse
        taken.slot = slotOf(before);
        if (isNew(before)) {
            cells_[taken.slot].cell.destroy();
        }
        return true;
    }

    // ---- Reader

    /// The newest value, or nullptr if no value was ever set. The value is valid until the next
    /// update(), and may be modified or moved from.
    [[nodiscard]] T* update() noexcept {
        const typename RoleCheck::Scope reader(readerRole_, oneReader);
        if (hasNew()) {
            destroyHeld();
            // A writer may have replaced the value that hasNew() saw, but only by a newer value.
            held_ = slotOf(newest_.exchange(empty(held_),
                                            std::memory_order_acq_rel));  // E1 publish, E2 reuse
            hasValue_ = true;
        }
        return hasValue_ ? std::addressof(cells_[held_].cell.get()) : nullptr;
    }

    // ---- Any thread

    /// Returns true if update() would find a newer value. A hint, except on the reader's thread.
    [[nodiscard]] bool hasNew() const noexcept {
        return isNew(newest_.load(std::memory_order_relaxed));  // hint
    }

private:
    // Happens-before edges (proof: docs/algorithms/latest.md):
    //   E1 publish: set -> update/set.
    //   E2 reuse: update -> set.
    // Invariant: each slot is in free_, owned by a writer, named by newest_, or held by the reader.

    static constexpr std::size_t line = Traits::cacheLineSize;
    static constexpr const char* oneReader =
        "a second reader of a Latest: let one thread at a time "
        "read, or give each reader a Latest of its own";

    /// A slot's number; the lowest bit is set if the slot has a value.
    using Word = std::uint32_t;
    static constexpr Word full(Slot slot) noexcept { return Word{slot} << 1U | 1U; }
    static constexpr Word empty(Slot slot) noexcept { return Word{slot} << 1U; }
    static constexpr bool isNew(Word word) noexcept { return (word & 1U) != 0; }
    static constexpr Slot slotOf(Word word) noexcept { return static_cast<Slot>(word >> 1U); }

    struct Taken {
        FreeSlots& free;
        Slot slot;
        ~Taken() { free.giveBack(slot); }
    };

    struct alignas(std::max(line, alignof(typename Platform::template Cell<T>))) OwnLines {
        typename Platform::template Cell<T> cell;
    };

    void destroyHeld() noexcept {
        if (std::exchange(hasValue_, false)) {
            cells_[held_].cell.destroy();
        }
    }

    // Written by all threads.
    alignas(line) alignas(Atomic<Word>) Atomic<Word> newest_{0};

    // Written by writers.
    alignas(line) alignas(FreeSlots) FreeSlots free_;

    // Written by the reader.
    alignas(line) alignas(Slot) Slot held_{};
    bool hasValue_ = false;
    RoleCheck readerRole_;

    std::array<OwnLines, Writers + 2> cells_;
};

}  // namespace sluice
