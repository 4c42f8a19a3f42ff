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

/// The number of slots in a group.
template <class Platform>
inline constexpr unsigned readersInGroup = 32;

/// The entries of one reader thread: the addresses of the objects that it reads.
template <class Platform>
struct alignas(cacheLineSize) ReaderSlot {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;
    using Word = std::uintptr_t;
    using Entry = Atomic<Word>;

    // Bits of a word below the address.

    /// Flips with each guard of the entry.
    static constexpr Word phase = 1;
    /// Set in the first entry of a slot that is released when its guard ends.
    static constexpr Word temporary = 2;
    /// The alignment of addresses. No guard uses an entry with a smaller word.
    static constexpr Word firstAddress = 4;

    static Word wordOf(const void* where) noexcept { return reinterpret_cast<Word>(where); }
    static bool isIn(Word word, const void* where) noexcept {
        return (word & ~(firstAddress - 1)) == wordOf(where);
    }

    /// The entry of the object's outermost guard, and its word. Null if there is none. Guards end
    /// in reverse order, so no entry behind an idle one is in use.
    const Entry* find(const void* where, Word& word) const noexcept {
        for (const Entry& entry : entries) {
            word = entry.load(std::memory_order_acquire);  // E1
            if (word < firstAddress) {
                return nullptr;
            }
            if (isIn(word, where)) {
                return &entry;
            }
        }
        return nullptr;
    }

    Entry entries[8]{};  // written by the owner, read by grace periods

    // Used by guards of an object that has an outer guard. Not read by grace periods.
    alignas(cacheLineSize) Entry inner{0};
    Atomic<const void*> thread{nullptr};  // the owner, or null
    // The entry that the owner waits for in waitForOthers(), otherwise null; and its word.
    Atomic<const Entry*> awaited{nullptr};
    Atomic<Word> awaitedWord{0};
    // The slot's group has its `bit` here while it is taken. Written by each owner.
    Atomic<Word>* taken = nullptr;
    Word bit = 0;
};

}  // namespace detail

/// A registry of the threads that read shared objects: hazard pointers that name whole objects
/// instead of nodes. A thread that has unlinked an element waits for the readers of this object
/// only, and then frees the element.
///
///     reader                                       remover
///     auto guard = registry.enter(&list);          node = list.unlink();
///     use(list.first());                           registry.waitForOthers(&list);
///                                                  delete node;
///
/// Thread safety: any thread may call any member. A read guard stays in the scope and on the thread
/// that created it, so it must not span a co_await. Guards may be nested. Two threads must not call
/// waitForOthers() if each reads the object of the other's call. Threads that have called
/// enter(where) must end before the registry is destroyed. A reader preempted inside one object
/// delays removals of this object only. After hasPassed() has returned true, or waitForOthers() has
/// returned, the caller sees all writes of the earlier guards of the object.
///
/// Performance: enter() is a store and a light fence. A thread's first enter(), and guards of more
/// than eight objects on one thread, take a slot, which may allocate: std::bad_alloc changes
/// nothing. A remover reads one word for each group of slots, and the slots of running threads.
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

        Atomic<Word> taken{1};  // a bit for each slot that a thread has
        Group* next = nullptr;
        Slot slots[size];
    };

    /// Walks over the slots that are taken.
    class Walk {
    public:
        explicit Walk(Group* first) noexcept : next_(first) {}

        /// Returns null at the end. Not inlined, because each removal walks several times.
        [[gnu::noinline]] Slot* step() noexcept {
            while (left_ == 0) {
                if (next_ == nullptr) {
                    return nullptr;
                }
                group_ = std::exchange(next_, next_->next);
                left_ = group_->taken.load(std::memory_order_acquire);  // E3
            }
            const auto index = static_cast<unsigned>(__builtin_ctzll(left_));
            left_ &= left_ - 1;
            return &group_->slots[index];
        }

    private:
        Group* group_ = nullptr;
        Group* next_;
        Word left_ = 0;  // slots of group_ that are still to be visited
    };

public:
    /// The time until all guards that an object had at beginGrace() have ended.
    class GracePeriod {
    public:
        GracePeriod() noexcept = default;

    private:
        friend class BasicReaderRegistry;
        explicit GracePeriod(Group* first) noexcept : walk_(first) {}

        Walk walk_{nullptr};
        // The guard that the period waits for, if any.
        const Slot* slot_ = nullptr;
        const Entry* entry_ = nullptr;
        Word word_ = 0;
    };

    BasicReaderRegistry() noexcept : hash_(Table::hash(this)) {}
    BasicReaderRegistry(const BasicReaderRegistry&) = delete;
    BasicReaderRegistry& operator=(const BasicReaderRegistry&) = delete;
    ~BasicReaderRegistry() {
        Group* group = groups_.load(std::memory_order_relaxed);  // relaxed: no other thread uses it
        while (group != nullptr) {
            delete std::exchange(group, group->next);
        }
    }

    /// Keeps the elements of one object from being freed.
    class [[nodiscard]] ReadGuard {
    public:
        ReadGuard(const ReadGuard&) = delete;
        ReadGuard& operator=(const ReadGuard&) = delete;
        ~ReadGuard() {
            entry_.store(idle_ ^ Slot::phase, std::memory_order_release);  // E1
            if (__builtin_expect((idle_ & Slot::temporary) != 0, 0)) {
                releaseTemporary(entry_);
            }
        }

    private:
        friend class BasicReaderRegistry;
        ReadGuard(Entry& entry, Word idle, const void* where) noexcept
            : entry_(entry), idle_(idle) {
            // Release (E1): a hasPassed() that reads this guard instead of the end of the last
            // guard acquires the last guard all the same.
            entry.store(Slot::wordOf(where) + idle, std::memory_order_release);
            Platform::Fence::light();  // E2
        }

        Entry& entry_;
        const Word idle_;
    };

    /// Begins to read the object at `where`, an address that is a multiple of 4. Signal handlers
    /// may call it on a thread that has called it before, for up to eight nested guards.
    ReadGuard enter(const void* where) {
        return enter(*Table::findOr(this, hash_, [this] { return addSlot(); }), where);
    }

    /// Like enter(where), but in a slot that acquire() has returned.
    ReadGuard enter(Slot& slot, const void* where) {
        SLUICE_ASSERT(where != nullptr && (Slot::wordOf(where) & (Slot::firstAddress - 1)) == 0,
                      "enter() needs the address of an object that is aligned to 4 bytes");
        Entry& entry = slot.entries[0];
        const Word idle = entry.load(std::memory_order_relaxed);  // relaxed: its own
        if (__builtin_expect(idle >= Slot::firstAddress, 0)) {
            return enterInside(slot, where);
        }
        return ReadGuard(entry, idle, where);
    }

    /// Returns true if no other thread has a slot. Then no other thread can find an element that
    /// the caller has unlinked.
    [[nodiscard, gnu::noinline]] bool isAlone() const noexcept {
        Platform::Fence::light();  // E5
        const void* const self = Platform::thisThread();
        Walk walk(firstGroup());
        const Slot* slot = walk.step();
        // Relaxed: compared only. The guards of ended threads come before (E3).
        while (slot != nullptr && slot->thread.load(std::memory_order_relaxed) == self) {
            slot = walk.step();
        }
        return slot == nullptr;
    }

    /// Returns true if this thread reads the object.
    [[nodiscard]] bool isInside(const void* where) const noexcept {
        return anyOwnSlot([where](const Slot& slot) {
            Word word = 0;
            return slot.find(where, word) != nullptr;
        });
    }

    /// To be called after unlinking an element. A heavy fence if other threads have slots.
    [[nodiscard]] GracePeriod beginGrace() const noexcept {
        if (!isAlone()) {
            Platform::Fence::heavy();  // E2
        }
        return GracePeriod(firstGroup());
    }

    /// Returns true if all guards of the object that had begun before the period have ended. A
    /// period is for one object and one thread at a time.
    [[nodiscard]] bool hasPassed(GracePeriod& period, const void* where) const noexcept {
        return advance(period, where, nullptr);
    }

    /// Returns true if no guard of the object is visible. One that begins now may be missed.
    [[nodiscard]] bool looksUnread(const void* where) const noexcept {
        GracePeriod period(firstGroup());
        return hasPassed(period, where);
    }

    /// Waits for the guards of other threads that had begun before the call. It spins, then yields,
    /// then sleeps.
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

    /// A slot for this thread, until release(). May throw std::bad_alloc.
    [[gnu::cold, gnu::noinline]] Slot& acquire() {
        Slot& slot = take();
        Platform::Fence::heavy();  // E5
        return slot;
    }

    /// Takes a slot back that has no guards.
    [[gnu::cold, gnu::noinline]] static void release(Slot& slot) noexcept {
        slot.thread.store(nullptr, std::memory_order_relaxed);       // relaxed: E3
        slot.taken->fetch_sub(slot.bit, std::memory_order_release);  // E3
    }

    // ---- For ThreadSlots

    Slot& enroll(const void* /*thread*/) { return acquire(); }

    void dismiss(Slot& slot) noexcept {
        const bool isInside = slot.entries[0].load(std::memory_order_relaxed) >=
                              Slot::firstAddress;  // relaxed: its thread
        SLUICE_ASSERT(!isInside, "a thread ends inside a ReadGuard: end it first, and never "
                                 "allocate one on the heap");
        // Without assertions the slot stays taken: removers wait, but nothing in use is freed.
        if (!isInside) {
            release(slot);
        }
    }

    static constexpr bool isAbandoned() noexcept { return false; }

private:
    // Origin: hazard pointers (M. Michael, 2004), with the reader's fence moved to the remover by
    // membarrier.
    //
    // Invariants: an entry is below `firstAddress` exactly while no guard uses it. Only the thread
    // of a slot writes its entries. The entries in use precede the idle ones, each for an object of
    // its own: a nested guard of the same object is covered by the outer one. Words of consecutive
    // guards of one entry differ. A thread may hold several slots: one for each shared object of
    // the program whose code calls enter(), and one for each guard that found no idle entry.
    //
    // Edges:
    //   E1 leave     a guard -> release store to its entry .. acquire load by hasPassed()
    //   E2 announce  entry stored, light() | heavy(), entry loaded: either hasPassed() sees the
    //                guard, or the guard no longer finds an element unlinked before heavy()
    //   E3 slot      last use of a slot -> release of its bit .. acquire by its next owner, or by a
    //                thread that finds it free
    //   E4 list      construction of a group -> release push .. acquire load by hasPassed()
    //   E5 alone     unlinked, light(), slots loaded | slot taken, heavy(), the guard's first load:
    //                either the remover sees the new slot, or the guard does not find the element

    using Table = ThreadSlots<BasicReaderRegistry>;

    Group* firstGroup() const noexcept { return groups_.load(std::memory_order_acquire); }  // E4

    /// For a thread without a slot. A thread that is ending receives one for this guard only.
    [[gnu::cold, gnu::noinline]] Slot* addSlot() {
        Slot* const slot = Table::add(*this);
        return slot != nullptr ? slot : &markTemporary(acquire());
    }

    /// A guard inside other guards of this thread.
    [[gnu::noinline]] ReadGuard enterInside(Slot& slot, const void* where) {
        for (Entry& entry : slot.entries) {
            const Word word = entry.load(std::memory_order_relaxed);  // relaxed: its own
            if (word < Slot::firstAddress) {
                return ReadGuard(entry, word, where);
            }
            if (Slot::isIn(word, where)) {
                return ReadGuard(slot.inner, 0, where);
            }
        }
        // A slot for this guard. The thread is not new, so E5 needs no heavy().
        Entry& entry = markTemporary(take()).entries[0];
        return ReadGuard(entry, entry.load(std::memory_order_relaxed), where);  // relaxed: its own
    }

    static Slot& markTemporary(Slot& slot) noexcept {
        // Keeps the phase, so that words of consecutive guards differ. Release (E1): as in
        // ReadGuard, a hasPassed() may read this word instead.
        Entry& entry = slot.entries[0];
        entry.store(entry.load(std::memory_order_relaxed) | Slot::temporary,
                    std::memory_order_release);
        return slot;
    }

    /// A Slot::temporary slot has one guard, which uses the first entry.
    [[gnu::cold, gnu::noinline]] static void releaseTemporary(Entry& entry) noexcept {
        entry.store(entry.load(std::memory_order_relaxed) & Slot::phase,
                    std::memory_order_release);  // E1
        release(reinterpret_cast<Slot&>(entry));
    }

    /// Returns true if a slot of this thread passes the test. Relaxed: a thread recognises its own
    /// slots only.
    template <class Test>
    bool anyOwnSlot(Test test) const noexcept {
        const void* const self = Platform::thisThread();
        Walk walk(firstGroup());
        while (Slot* const slot = walk.step()) {
            if (slot->thread.load(std::memory_order_relaxed) == self && test(*slot)) {
                return true;
            }
        }
        return false;
    }

    /// Moves the period to the first guard that it still waits for. Returns true if there is none.
    /// Ignores the slots of `ignored`. One guard for each slot is enough: the others of the slot
    /// that had begun before the period are nested in it.
    [[gnu::noinline]] bool advance(GracePeriod& period, const void* where,
                                   const void* ignored) const noexcept {
        while (period.entry_ == nullptr ||
               period.entry_->load(std::memory_order_acquire) != period.word_) {  // E1
            period.slot_ = period.walk_.step();
            if (period.slot_ == nullptr) {
                period.entry_ = nullptr;
                return true;
            }
            // Relaxed: a thread recognises its own slots only.
            const bool isIgnored = ignored != nullptr &&
                                   period.slot_->thread.load(std::memory_order_relaxed) == ignored;
            period.entry_ = isIgnored ? nullptr : period.slot_->find(where, period.word_);
        }
        return false;
    }

    /// Publishes which guard this thread waits for, for isWaitingForThis() of other threads. Also
    /// with NDEBUG, because units with and without it may be linked together.
    void publishWait(const Entry* entry, Word word) const noexcept {
        (void)anyOwnSlot([&](Slot& slot) {
            // Relaxed: the store of `awaited` releases it.
            slot.awaitedWord.store(word, std::memory_order_relaxed);
            slot.awaited.store(entry, std::memory_order_release);
            return false;
        });
    }

    /// Returns true if the owner of `other` waits for a guard of this thread.
    bool isWaitingForThis(const Slot& other) const noexcept {
        const Entry* const entry = other.awaited.load(std::memory_order_acquire);
        if (entry == nullptr) {
            return false;
        }
        const Word word = other.awaitedWord.load(std::memory_order_relaxed);
        return anyOwnSlot([&](const Slot& slot) {
            bool isAwaited = false;
            for (const Entry& own : slot.entries) {
                isAwaited |= &own == entry && own.load(std::memory_order_relaxed) == word;
            }
            return isAwaited;
        });
    }

    /// Takes a slot for this thread.
    [[gnu::cold, gnu::noinline]] Slot& take() {
        Group* group = firstGroup();
        Word bit = 0;
        while (group != nullptr && (bit = takenIn(*group)) == 0) {
            group = group->next;
        }
        if (group == nullptr) {
            group = new Group;
            bit = 1;
            // Relaxed: checked by the exchange.
            group->next = groups_.load(std::memory_order_relaxed);
            while (!groups_.compare_exchange_weak(group->next, group,
                                                  std::memory_order_release,  // E4
                                                  std::memory_order_relaxed)) {
            }
        }
        Slot& slot = group->slots[__builtin_ctzll(bit)];
        slot.taken = &group->taken;
        slot.bit = bit;
        // Relaxed: compared with the address of the reading thread only.
        slot.thread.store(Platform::thisThread(), std::memory_order_relaxed);
        return slot;
    }

    /// Takes a slot of the group, and returns its bit; 0 if there is none.
    static Word takenIn(Group& group) noexcept {
        Word taken = group.taken.load(std::memory_order_relaxed);  // relaxed: checked below
        while (taken != Group::allTaken) {
            const Word bit = ~taken & (taken + 1);  // the lowest that is not set
            if (group.taken.compare_exchange_weak(taken, taken + bit,
                                                  std::memory_order_acquire,  // E3
                                                  std::memory_order_relaxed)) {
                return bit;
            }
        }
        return 0;
    }

    const std::size_t hash_;
    Atomic<Group*> groups_{nullptr};  // never removed before the destructor
};

using ReaderRegistry = BasicReaderRegistry<>;

}  // namespace sluice
