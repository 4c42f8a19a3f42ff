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

/// Passes the newest value of a type from several writers to one reader. Writers overwrite values
/// that the reader has not taken, so a slow reader never makes a writer wait or fail.
///
///     Latest<Position, 2> position;  // at most two threads write at the same moment
///     (void)position.set(Position{3, 4});  // by any thread
///
///     if (const Position* newest = position.update()) {  // by the reader
///         draw(*newest);  // valid until the next update()
///     }
///
/// Use it for measurements and states, of which only the newest counts. Use a ring if each message
/// must arrive.
///
/// Threads: any thread calls set, emplace and hasNew. A signal handler may call set if it may call
/// the functions of T. The reader calls update(). One thread at a time is the reader, and may pass
/// the role on by a synchronised hand-over. Debug builds notice overlapping calls of update(). A
/// constructor or a destructor of T may call set() on the same Latest: it then counts as one more
/// writer. A destructor of T that update() runs must not call update() on the same Latest. While
/// the Latest is destroyed, set() returns false.
///
/// Progress: apart from the functions of T, update() is wait-free: one load, and one exchange if
/// there is a new value. set() is lock-free: a writer repeats a step only if another writer has
/// just done the same step.
///
/// - A stopped writer delays no other thread. Its value is missing until it goes on, and it keeps
///   one of the `Writers + 2` slots.
/// - A stopped reader delays no other thread. It keeps the value that it holds.
///
/// Memory promise: the reader that gets a value sees the writes of its writer before set(). The
/// writer that reuses a slot sees the reader's work with the slot's earlier value.
///
/// Order: linearizable. The newest value is the one whose set() exchanged last. The reader never
/// gets a value and later an older one.
///
/// Capacity: set() returns false if it finds `Writers` other calls of set() running. The arguments
/// are then untouched. If no more than `Writers` threads ever write, and no function of T writes,
/// set() is always true. The object holds Writers + 2 slots, each on cache lines of its own.
/// Nothing is allocated.
///
/// Exceptions: if a constructor of T throws, nothing has changed. A destructor of T must not throw.
///
/// Destruction: a writer destroys the value that it overwrites. An update() that finds a newer
/// value destroys the value that the reader holds, before it takes the newer one. The other values
/// are destroyed with the Latest.
///
/// Origin: the triple buffer of graphics, with a free stack in place of the single writer's slot.
///
/// Invariant: each slot is in exactly one place: in the free stack, with a writer, named by
/// `newest`, or held by the reader. `newest` names exactly one slot, and the reader holds exactly
/// one. So `Writers` slots are left for the stack and the writers.
///
/// Edges: E1 publish: value written -> newest release .. newest acquire -> value read by the
/// reader, or destroyed by a writer. E2 reuse: value destroyed by the reader -> newest release ..
/// newest acquire by a writer -> E1 of SlotStack -> slot written.
///
/// Tests: tests/unit/queue/latest_test.cpp, tests/model/latest_model_test.cpp,
/// tests/stress/latest_stress_test.cpp, tests/alloc/queue_allocation_test.cpp.
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
        newest_.store(empty(first), std::memory_order_relaxed);  // relaxed: not shared yet
    }
    Latest(const Latest&) = delete;
    Latest& operator=(const Latest&) = delete;

    ~Latest() {
        free_.takeAll();  // so no destructor of a value adds one
        destroyHeld();
        (void)update();  // takes the newest value
        destroyHeld();
    }

    // ---- Writers

    [[nodiscard]] bool set(const T& value) { return emplace(value); }
    [[nodiscard]] bool set(T&& value) { return emplace(std::move(value)); }

    /// Constructs the value in its slot and makes it the newest one.
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

    /// Returns the newest value: the same one as before if there is no newer one, nullptr if there
    /// was never a value. The value stays valid until the next update(). The reader may change it
    /// or move from it.
    [[nodiscard]] T* update() noexcept {
        const typename RoleCheck::Scope reader(readerRole_, oneReader);
        if (hasNew()) {
            destroyHeld();
            // The value of hasNew() may be overwritten by now, but only by a newer one.
            held_ = slotOf(newest_.exchange(empty(held_),
                                            std::memory_order_acq_rel));  // E1 publish, E2 reuse
            hasValue_ = true;
        }
        return hasValue_ ? std::addressof(cells_[held_].cell.get()) : nullptr;
    }

    // ---- Anybody

    /// Whether update() would find a newer value. Exact for the reader, a hint for other threads.
    [[nodiscard]] bool hasNew() const noexcept {
        // Relaxed: only the reader takes a value away, and update() acquires it.
        return isNew(newest_.load(std::memory_order_relaxed));
    }

private:
    static constexpr std::size_t line = Traits::cacheLineSize;
    static constexpr const char* oneReader =
        "a second reader of a Latest: let one thread at a time "
        "read, or give each reader a Latest of its own";

    /// The number of a slot, and in the lowest bit whether the slot has a value.
    using Word = std::uint32_t;
    static constexpr Word full(Slot slot) noexcept { return Word{slot} << 1U | 1U; }
    static constexpr Word empty(Slot slot) noexcept { return Word{slot} << 1U; }
    static constexpr bool isNew(Word word) noexcept { return (word & 1U) != 0; }
    static constexpr Slot slotOf(Word word) noexcept { return static_cast<Slot>(word >> 1U); }

    /// A slot that a writer has. The destructor gives it back, also when a constructor throws.
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

    // Written by writers and the reader.
    alignas(line) alignas(Atomic<Word>) Atomic<Word> newest_{0};

    // Written by writers.
    alignas(line) alignas(FreeSlots) FreeSlots free_;

    // Written by the reader: its slot, and whether a value is in it.
    alignas(line) alignas(Slot) Slot held_{};
    bool hasValue_ = false;
    RoleCheck readerRole_;

    std::array<OwnLines, Writers + 2> cells_;
};

}  // namespace sluice
