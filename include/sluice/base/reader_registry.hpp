#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/base/thread_slots.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace [[gnu::visibility("default")]] sluice {

namespace detail {

template <class Platform>
inline constexpr unsigned readersInGroup = 32;

/// Holds the addresses of the objects that a thread is reading.
template <class Platform>
struct alignas(cacheLineSize) ReaderSlot {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;
    using Word = std::uintptr_t;
    using Entry = Atomic<Word>;

    // An entry's word is an address whose lowest bits are flags.

    /// A flag that flips with each ReadGuard, so that consecutive words of an entry differ.
    static constexpr Word phase = 1;
    /// Marks a slot that serves a single ReadGuard and is released with this guard.
    static constexpr Word temporary = 2;
    /// The alignment of read objects. A word smaller than `firstAddress` marks an idle entry.
    static constexpr Word firstAddress = 4;

    static Word wordOf(const void* where) noexcept { return reinterpret_cast<Word>(where); }
    static bool isIn(Word word, const void* where) noexcept {
        return (word & ~(firstAddress - 1)) == wordOf(where);
    }

    /// Returns the entry of the outermost guard for the object at `where`, or null, and sets `word`
    /// to the entry's word. Stops at the first idle entry, because guards end in reverse order.
    const Entry* find(const void* where, Word& word) const noexcept {
        for (const Entry& entry : entries) {
            word = entry.load(std::memory_order_acquire);  // E1 leave
            if (word < firstAddress) {
                return nullptr;
            }
            if (isIn(word, where)) {
                return &entry;
            }
        }
        return nullptr;
    }

    Entry entries[8]{};  // written by the slot's owner, read by grace periods

    // Used by ReadGuards nested in a guard of the same object. GracePeriods ignore this entry.
    alignas(cacheLineSize) Entry inner{0};
    Atomic<const void*> thread{nullptr};  // the owner, or null
    // While the slot's owner waits for another thread's ReadGuard: the guard's entry and word.
    Atomic<const Entry*> awaited{nullptr};
    Atomic<Word> awaitedWord{0};
    // The slot is taken while `bit` is set in `*taken`, which all slots of a group share.
    Atomic<Word>* taken = nullptr;
    Word bit = 0;
};

}  // namespace detail

/// A registry of the threads that read shared objects, like hazard pointers for whole objects. A
/// thread that unlinks an element waits for the object's current readers before it frees the
/// element.
///
///     reader                                       remover
///     auto guard = registry.enter(&list);          node = list.unlink();
///     use(list.first());                           registry.waitForOthers(&list);
///                                                  delete node;
///
/// Thread safety: any thread may call any member. A read guard must end in the scope and on the
/// thread that created it, so it must not span a co_await. Two threads deadlock if each waits for
/// the readers of an object that the other thread is reading. Threads that have called enter(where)
/// must end before the registry is destroyed. A preempted reader delays only removals from the
/// object that it reads. A remover that has waited for a guard's end sees all writes that were made
/// under the guard.
///
/// Performance: enter() is a store and a light fence. A thread takes a slot in its first enter().
/// While it reads eight objects, each enter() for another object takes a further slot. Taking a
/// slot may throw std::bad_alloc. A remover reads all taken slots, and one word per 32 slots.
template <class Platform = StdPlatform>
class BasicReaderRegistry {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using Slot = detail::ReaderSlot<Platform>;
    using Entry = typename Slot::Entry;
    using Word = typename Slot::Word;

private:
    struct Group {
        static constexpr unsigned size = detail::readersInGroup<Platform>;
        static constexpr Word allTaken = (Word{2} << (size - 1)) - 1;

        Atomic<Word> taken{1};  // one bit for each slot
        Group* next = nullptr;
        Slot slots[size];
    };

    class Walk {
    public:
        explicit Walk(Group* first) noexcept : next_(first) {}

        /// Returns the next taken slot, or null after the last one. Not inlined: often called.
        [[gnu::noinline]] Slot* step() noexcept {
            while (left_ == 0) {
                if (next_ == nullptr) {
                    return nullptr;
                }
                group_ = std::exchange(next_, next_->next);
                left_ = group_->taken.load(std::memory_order_acquire);  // E3 slot
            }
            const unsigned index = SLUICE_LOWEST_BIT(left_);
            left_ &= left_ - 1;
            return &group_->slots[index];
        }

    private:
        Group* group_ = nullptr;
        Group* next_;
        Word left_ = 0;  // slots of group_ not visited yet
    };

public:
    /// The state of a wait for the ReadGuards that an object had at beginGrace().
    class GracePeriod {
    public:
        GracePeriod() noexcept = default;

    private:
        friend class BasicReaderRegistry;
        explicit GracePeriod(Group* first) noexcept : walk_(first) {}

        Walk walk_{nullptr};
        const Slot* slot_ = nullptr;
        const Entry* entry_ = nullptr;
        Word word_ = 0;
    };

    BasicReaderRegistry() noexcept : hash_(Table::hash(this)) {}
    BasicReaderRegistry(const BasicReaderRegistry&) = delete;
    BasicReaderRegistry& operator=(const BasicReaderRegistry&) = delete;
    ~BasicReaderRegistry() {
        Group* group = groups_.load(std::memory_order_relaxed);  // not shared
        while (group != nullptr) {
            delete std::exchange(group, group->next);
        }
    }

    /// A guard that keeps the elements of one object from being freed.
    class [[nodiscard]] ReadGuard {
    public:
        ReadGuard(const ReadGuard&) = delete;
        ReadGuard& operator=(const ReadGuard&) = delete;
        ~ReadGuard() {
            entry_.store(idle_ ^ Slot::phase, std::memory_order_release);  // E1 leave
            if (SLUICE_UNLIKELY((idle_ & Slot::temporary) != 0)) {
                releaseTemporary(entry_);
            }
        }

    private:
        friend class BasicReaderRegistry;
        ReadGuard(Entry& entry, Word idle, const void* where) noexcept
            : entry_(entry), idle_(idle) {
            // Release (E1): if hasPassed() reads this word, it may have missed the previous guard.
            entry.store(Slot::wordOf(where) + idle, std::memory_order_release);
            Platform::Fence::light();  // E2 announce
        }

        Entry& entry_;
        const Word idle_;
    };

    /// Begins to read the object at `where`, an address that is a multiple of 4. A signal handler
    /// may call enter() if its thread has a slot and fewer than eight nested guards.
    ReadGuard enter(const void* where) {
        return enter(*Table::findOr(this, hash_, [this] { return addSlot(); }), where);
    }

    /// Like enter(where), but uses a slot that acquire() has returned.
    ReadGuard enter(Slot& slot, const void* where) {
        SLUICE_ASSERT(where != nullptr && (Slot::wordOf(where) & (Slot::firstAddress - 1)) == 0,
                      "enter() needs the address of an object that is aligned to 4 bytes");
        Entry& entry = slot.entries[0];
        const Word idle = entry.load(std::memory_order_relaxed);  // own variable
        if (SLUICE_UNLIKELY(idle >= Slot::firstAddress)) {
            return enterInside(slot, where);
        }
        return ReadGuard(entry, idle, where);
    }

    /// Returns true if no other thread has a slot, so that no other thread is reading.
    [[nodiscard, gnu::noinline]] bool isAlone() const noexcept {
        Platform::Fence::light();  // E5 alone
        const void* const self = Platform::thisThread();
        Walk walk(firstGroup());
        const Slot* slot = walk.step();
        // Relaxed: value only.
        while (slot != nullptr && slot->thread.load(std::memory_order_relaxed) == self) {
            slot = walk.step();
        }
        return slot == nullptr;
    }

    [[nodiscard]] bool isInside(const void* where) const noexcept {
        return anyOwnSlot([where](const Slot& slot) {
            Word word = 0;
            return slot.find(where, word) != nullptr;
        });
    }

    /// Call beginGrace() after an unlink. Runs a heavy fence if other threads have slots.
    [[nodiscard]] GracePeriod beginGrace() const noexcept {
        if (!isAlone()) {
            Platform::Fence::heavy();  // E2 announce
        }
        return GracePeriod(firstGroup());
    }

    /// Returns true if all ReadGuards that the object at `where` had at beginGrace() have ended.
    /// Use each GracePeriod for one object, and on one thread at a time.
    [[nodiscard]] bool hasPassed(GracePeriod& period, const void* where) const noexcept {
        return advance(period, where, nullptr);
    }

    /// Returns true if the object at `where` seems to have no readers. May miss new ReadGuards.
    [[nodiscard]] bool looksUnread(const void* where) const noexcept {
        GracePeriod period(firstGroup());
        return hasPassed(period, where);
    }

    /// Waits until other threads' current guards of `where` have ended. Spins, yields, then sleeps.
    void waitForOthers(const void* where) const noexcept {
        GracePeriod period = beginGrace();
        BasicBackoff<Platform> backoff;
        bool hasWaited = false;
        for (; !advance(period, where, Platform::thisThread()); hasWaited = true) {
            publishWait(period.entry_, period.word_);
            backoff.wait();
            SLUICE_ASSERT(!backoff.isLong() || !isWaitingForThis(*period.slot_),
                          "two threads wait for each other's sections to end: do not wait for a "
                          "callback inside another one that its thread waits for");
        }
        if (hasWaited) {
            publishWait(nullptr, 0);
        }
    }

    /// Takes a slot that this thread owns until release(). May throw std::bad_alloc.
    [[gnu::cold, gnu::noinline]] Slot& acquire() {
        Slot& slot = take();
        Platform::Fence::heavy();  // E5 alone
        return slot;
    }

    /// Releases the slot, so that any thread may take it. The slot must have no ReadGuards.
    [[gnu::cold, gnu::noinline]] static void release(Slot& slot) noexcept {
        slot.thread.store(nullptr, std::memory_order_relaxed);       // by E3
        slot.taken->fetch_sub(slot.bit, std::memory_order_release);  // E3 slot
    }

    // ---- For ThreadSlots

    Slot& enroll(const void* /*thread*/) { return acquire(); }

    void dismiss(Slot& slot) noexcept {
        const bool isInside =
            slot.entries[0].load(std::memory_order_relaxed) >= Slot::firstAddress;  // own variable
        SLUICE_ASSERT(!isInside, "a thread ends inside a ReadGuard: end it first, and never "
                                 "allocate one on the heap");
        // If a guard is left, the slot stays taken, so that no remover frees what the guard reads.
        if (!isInside) {
            release(slot);
        }
    }

    static constexpr bool isAbandoned() noexcept { return false; }

private:
    // Happens-before edges (proof: docs/algorithms/reader-registry.md):
    //   E1 leave: guard -> hasPassed.
    //   E2 announce: guard <-> beginGrace.
    //   E3 slot: release -> take/Walk.
    //   E4 list: take -> firstGroup.
    //   E5 alone: acquire <-> isAlone.
    //   E6 wait: publishWait -> isWaitingForThis.
    // Invariant: entries in use precede the idle entries of their slot, and name different objects.

    using Table = ThreadSlots<BasicReaderRegistry>;

    Group* firstGroup() const noexcept { return groups_.load(std::memory_order_acquire); }  // E4

    /// Adds a slot for this thread. An ending thread receives a temporary slot for one guard.
    [[gnu::cold, gnu::noinline]] Slot* addSlot() {
        Slot* const slot = Table::add(*this);
        return slot != nullptr ? slot : &markTemporary(acquire());
    }

    [[gnu::noinline]] ReadGuard enterInside(Slot& slot, const void* where) {
        for (Entry& entry : slot.entries) {
            const Word word = entry.load(std::memory_order_relaxed);  // own variable
            if (word < Slot::firstAddress) {
                return ReadGuard(entry, word, where);
            }
            if (Slot::isIn(word, where)) {
                return ReadGuard(slot.inner, 0, where);
            }
        }
        // A temporary slot needs no heavy fence (E5), because its thread already has another slot.
        Entry& entry = markTemporary(take()).entries[0];
        return ReadGuard(entry, entry.load(std::memory_order_relaxed), where);  // own variable
    }

    static Slot& markTemporary(Slot& slot) noexcept {
        // Keeps the phase bit, so that the words of consecutive ReadGuards differ.
        Entry& entry = slot.entries[0];
        entry.store(entry.load(std::memory_order_relaxed) | Slot::temporary,
                    std::memory_order_release);  // E1 leave
        return slot;
    }

    /// Releases a temporary slot, whose only ReadGuard used the first entry.
    [[gnu::cold, gnu::noinline]] static void releaseTemporary(Entry& entry) noexcept {
        entry.store(entry.load(std::memory_order_relaxed) & Slot::phase,
                    std::memory_order_release);  // E1 leave
        release(reinterpret_cast<Slot&>(entry));
    }

    template <class Test>
    bool anyOwnSlot(Test test) const noexcept {
        const void* const self = Platform::thisThread();
        Walk walk(firstGroup());
        while (Slot* const slot = walk.step()) {
            // Relaxed: value only.
            if (slot->thread.load(std::memory_order_relaxed) == self && test(*slot)) {
                return true;
            }
        }
        return false;
    }

    /// Moves `period` to its next unfinished ReadGuard, or returns true if all ReadGuards have
    /// ended. Skips the slots of the thread `ignored`.
    [[gnu::noinline]] bool advance(GracePeriod& period, const void* where,
                                   const void* ignored) const noexcept {
        while (period.entry_ == nullptr ||
               period.entry_->load(std::memory_order_acquire) != period.word_) {  // E1 leave
            period.slot_ = period.walk_.step();
            if (period.slot_ == nullptr) {
                period.entry_ = nullptr;
                return true;
            }
            // Relaxed: value only.
            const bool isIgnored = ignored != nullptr &&
                                   period.slot_->thread.load(std::memory_order_relaxed) == ignored;
            period.entry_ = isIgnored ? nullptr : period.slot_->find(where, period.word_);
        }
        return false;
    }

    /// Publishes the guard that this thread waits for. Release builds publish, too, because other
    /// translation units may be built with assertions.
    void publishWait(const Entry* entry, Word word) const noexcept {
        (void)anyOwnSlot([&](Slot& slot) {
            slot.awaitedWord.store(word, std::memory_order_relaxed);  // by E6
            slot.awaited.store(entry, std::memory_order_release);     // E6 wait
            return false;
        });
    }

    bool isWaitingForThis(const Slot& other) const noexcept {
        const Entry* const entry = other.awaited.load(std::memory_order_acquire);  // E6 wait
        if (entry == nullptr) {
            return false;
        }
        const Word word = other.awaitedWord.load(std::memory_order_relaxed);  // by E6
        return anyOwnSlot([&](const Slot& slot) {
            bool isAwaited = false;
            for (const Entry& own : slot.entries) {
                isAwaited |= &own == entry && own.load(std::memory_order_relaxed) == word;
            }
            return isAwaited;
        });
    }

    [[gnu::cold, gnu::noinline]] Slot& take() {
        Group* group = firstGroup();
        Word bit = 0;
        while (group != nullptr && (bit = takenIn(*group)) == 0) {
            group = group->next;
        }
        if (group == nullptr) {
            group = new Group;
            bit = 1;
            group->next = groups_.load(std::memory_order_relaxed);  // retried
            while (!groups_.compare_exchange_weak(group->next, group,
                                                  std::memory_order_release,  // E4 list
                                                  std::memory_order_relaxed)) {
            }
        }
        Slot& slot = group->slots[SLUICE_LOWEST_BIT(bit)];
        slot.taken = &group->taken;
        slot.bit = bit;
        slot.thread.store(Platform::thisThread(), std::memory_order_relaxed);  // value only
        return slot;
    }

    /// Takes a slot and returns its bit, or returns 0 if all slots are taken.
    static Word takenIn(Group& group) noexcept {
        Word taken = group.taken.load(std::memory_order_relaxed);  // retried
        while (taken != Group::allTaken) {
            const Word bit = ~taken & (taken + 1);  // the lowest clear bit
            if (group.taken.compare_exchange_weak(taken, taken + bit,
                                                  std::memory_order_acquire,  // E3 slot
                                                  std::memory_order_relaxed)) {
                return bit;
            }
        }
        return 0;
    }

    const std::size_t hash_;
    Atomic<Group*> groups_{nullptr};  // a Group lives as long as the registry
};

using ReaderRegistry = BasicReaderRegistry<>;

}  // namespace sluice
