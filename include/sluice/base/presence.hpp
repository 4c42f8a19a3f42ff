#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/cache_line.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/base/thread_table.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace [[gnu::visibility("default")]] sluice {

template <class Platform>
class BasicPresence;

namespace detail {

/// The sections of one thread: an entry for each, with the address of the object that the thread is
/// inside of. The edges are explained in presence.hpp.
template <class Platform>
struct alignas(cacheLineSize) PresenceSlot {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;
    using Word = std::uintptr_t;
    using Entry = Atomic<Word>;

    // Bits of a word below the address.

    /// Flips with each section of the entry.
    static constexpr Word phase = 1;
    /// Set in the first entry of a slot that is given back when its section ends.
    static constexpr Word temporary = 2;
    /// The alignment of addresses. No section uses an entry with a smaller word.
    static constexpr Word firstAddress = 4;

    static constexpr std::size_t entriesInLine = 8;

    /// More entries, for sections that are nested deeply.
    struct Block {
        Entry entries[entriesInLine]{};
        Atomic<Block*> next{nullptr};
    };

    explicit PresenceSlot(BasicPresence<Platform>& presence) noexcept : home(presence) {}
    PresenceSlot(const PresenceSlot&) = delete;
    PresenceSlot& operator=(const PresenceSlot&) = delete;

    ~PresenceSlot() {
        Block* block = more.load(std::memory_order_relaxed);  // relaxed, both: unused
        while (block != nullptr) {
            delete std::exchange(block, block->next.load(std::memory_order_relaxed));
        }
    }

    static Word wordOf(const void* where) noexcept { return reinterpret_cast<Word>(where); }
    static bool isIn(Word word, const void* where) noexcept {
        return (word & ~(firstAddress - 1)) == wordOf(where);
    }

    /// The entry with this index; null if there are fewer entries.
    Entry* entryAt(std::size_t index) noexcept {
        if (index < entriesInLine) {
            return &entries[index];
        }
        Block* block = more.load(std::memory_order_acquire);  // E4
        for (index -= entriesInLine; block != nullptr && index >= entriesInLine;
             index -= entriesInLine) {
            block = block->next.load(std::memory_order_acquire);  // E4
        }
        return block != nullptr ? &block->entries[index] : nullptr;
    }

    template <class Test>
    bool anyEntry(Test test) noexcept {
        for (std::size_t index = 0;; ++index) {
            Entry* const entry = entryAt(index);
            if (entry == nullptr || test(*entry)) {
                return entry != nullptr;
            }
        }
    }

    /// An entry for a nested section. The owner calls it. May throw std::bad_alloc.
    [[gnu::noinline]] Entry& freeEntry() {
        Entry* free = nullptr;
        const auto isFree = [&free](Entry& entry) {
            free = &entry;
            return entry.load(std::memory_order_relaxed) < firstAddress;  // relaxed: its own
        };
        if (anyEntry(isFree)) {
            return *free;
        }
        Atomic<Block*>* link = &more;
        while (Block* const block = link->load(std::memory_order_relaxed)) {  // relaxed: its own
            link = &block->next;
        }
        Block* const block = new Block;
        link->store(block, std::memory_order_release);  // E4
        return block->entries[0];
    }

    // Written by the owner for each section, read by grace periods.
    Entry entries[entriesInLine]{};

    alignas(cacheLineSize) Atomic<Block*> more{nullptr};
    Atomic<bool> isTaken{true};
    /// The thread that owns the slot; null while it has no owner.
    Atomic<const void*> thread{nullptr};
    /// The entry that the owner waits for in waitForOthers(), otherwise null; and its word.
    Atomic<const Entry*> awaited{nullptr};
    Atomic<Word> awaitedWord{0};
    BasicPresence<Platform>& home;
    PresenceSlot* next = nullptr;
};

}  // namespace detail

/// Tells which objects each thread is inside of. So a thread that removes an element of an object
/// can wait for the users of this object only.
///
///     reader                                       remover
///     auto section = presence.enter(&list);        node = list.unlink();
///     use(list.first());                           presence.waitForOthers(&list);
///                                                  delete node;
///
/// Use it if threads read many independent objects, and readers of one object must not delay the
/// removals of another one. Use std::shared_ptr if a reader keeps an object for long or passes it
/// on.
///
/// Threads: any thread calls any member at any time, with these exceptions.
/// - A Section stays in the scope and on the thread that created it. So it must not span a
///   co_await.
/// - Two threads must not call waitForOthers() if each is inside the object of the other's call:
///   both would wait for ever. Builds with assertions detect this for two threads.
///
/// A section may begin and end inside a section of the same or of another object. In a signal
/// handler this needs a thread that has been inside before, and at most eight nested sections.
///
/// Progress, and the delays by a stopped thread:
/// - enter() and leaving: wait-free. A thread's first enter() takes a slot: lock-free, and it
///   allocates. A section that is nested deeper than all earlier ones allocates, too.
/// - isAlone(), isInside(), hasPassed(): one step for each slot.
/// - waitForOthers(): waits for the sections of this object that had begun at the call, and for no
///   later ones. A thread that is stopped inside of another object delays no other thread.
///
/// Memory promise: a section that begins after beginGrace() cannot find an element that the caller
/// had unlinked before. When hasPassed() has returned true, or waitForOthers() has returned, the
/// caller sees all writes of the earlier sections of the object.
///
/// Allocation: one slot of two cache lines for each thread, kept for later threads. Exceptions:
/// std::bad_alloc from enter(), with nothing changed.
///
/// Shared objects: a thread may hold several slots, one for each shared object whose code enters.
/// All of them count as slots of this thread.
///
/// Invariants: an entry is below `firstAddress` exactly while no section uses it. Only the thread
/// of a slot writes its entries. Words of consecutive sections of one entry differ.
///
/// Edges:
/// - E1 leave: a section -> release store to its entry -> acquire load by hasPassed().
/// - E2 announce: entry stored, light() | heavy(), entry loaded. Either hasPassed() sees the
///      section, or the section no longer finds an object unlinked before heavy().
/// - E3 slot: last use of a slot -> release of isTaken -> acquire by its next owner.
/// - E4 list: construction of a slot or block -> release push -> acquire load by hasPassed().
/// - E5 alone: unlinked, light(), slots loaded | slot taken, heavy(), the section's first load.
///      Either the remover sees the new slot, or the section no longer finds the object.
///
/// Origin: hazard pointers (M. Michael, 2004) that name containers instead of nodes, with the
/// reader's fence moved to the remover by membarrier.
///
/// Tests: tests/unit/base/presence_test.cpp, tests/model/presence_model_test.cpp.
template <class Platform = StdPlatform>
class BasicPresence : public detail::SharedHome<BasicPresence<Platform>, Platform> {
    friend class detail::SharedHome<BasicPresence, Platform>;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using Slot = detail::PresenceSlot<Platform>;
    using Entry = typename Slot::Entry;
    using Word = typename Slot::Word;

    /// The time from beginGrace() until all sections have ended that an object had then.
    /// hasPassed() tells whether the time is over, so no thread has to wait.
    class GracePeriod {
        friend class BasicPresence;
        // The slot, the entry and the section that the period waits for; word 0: any section.
        Slot* slot_ = nullptr;
        std::size_t index_ = 0;
        Word word_ = 0;
    };

    struct Abandon {
        void operator()(BasicPresence* presence) const noexcept {
            presence->markAbandoned();
            presence->dropUser();
        }
    };
    using Owner = std::unique_ptr<BasicPresence, Abandon>;

    /// Threads that have been inside may outlive the owner. Sections may not.
    [[nodiscard]] static Owner make() { return Owner(&makeForGood()); }
    /// The same without an owner: it is never destroyed.
    [[nodiscard]] static BasicPresence& makeForGood() { return *new BasicPresence; }

    /// The time in which a thread is inside an object.
    class [[nodiscard]] Section {
    public:
        Section(const Section&) = delete;
        Section& operator=(const Section&) = delete;
        ~Section() {
            entry_.store(idle_ ^ Slot::phase, std::memory_order_release);  // E1
            if (__builtin_expect((idle_ & Slot::temporary) != 0, 0)) {
                releaseTemporary(entry_);
            }
        }

    private:
        friend class BasicPresence;
        Section(Entry& entry, Word idle) noexcept : entry_(entry), idle_(idle) {}

        Entry& entry_;
        const Word idle_;
    };

    /// Begins a section of the object at `where`, an address that is a multiple of 4.
    Section enter(const void* where) {
        return enter(*Table::findOr(this, hash_, [this] { return addSlot(); }), where);
    }

    /// The same in a slot that acquire() has returned.
    Section enter(Slot& slot, const void* where) {
        SLUICE_ASSERT(where != nullptr && (Slot::wordOf(where) & (Slot::firstAddress - 1)) == 0,
                      "enter() needs the address of an object that is aligned to 4 bytes");
        Entry* entry = &slot.entries[0];
        Word idle = entry->load(std::memory_order_relaxed);  // relaxed: written by this thread
        if (__builtin_expect(idle >= Slot::firstAddress, 0)) {
            entry = &slot.freeEntry();
            idle = entry->load(std::memory_order_relaxed);
        }
        // Release (E1): a hasPassed() that reads this section instead of the end of the last
        // section acquires the last section all the same.
        entry->store(Slot::wordOf(where) + idle, std::memory_order_release);
        Platform::Fence::light();  // E2
        return Section(*entry, idle);
    }

    /// Whether no other thread has a slot. Then no other thread can find an object that the
    /// caller has unlinked.
    [[nodiscard]] bool isAlone() const noexcept {
        Platform::Fence::light();  // E5
        const void* const self = Platform::thisThread();
        for (Slot* slot = firstSlot(); slot != nullptr; slot = slot->next) {
            // Acquire: the sections of the last owner come before (E3).
            if (slot->isTaken.load(std::memory_order_acquire) &&
                slot->thread.load(std::memory_order_relaxed) != self) {  // relaxed: compared only
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] bool isInside(const void* where) const noexcept {
        return anyOwnEntry([&](const Entry& entry) {
            return Slot::isIn(entry.load(std::memory_order_relaxed), where);
        });
    }

    /// Call it after unlinking an element. Costs a heavy fence, 0.4-10 us, if others have slots.
    [[nodiscard]] GracePeriod beginGrace() const noexcept {
        if (!isAlone()) {
            Platform::Fence::heavy();  // E2
        }
        GracePeriod period;
        period.slot_ = firstSlot();
        return period;
    }

    /// Whether the period is over: all sections of the object that had begun before the period have
    /// ended, also sections of this thread. A period is for one object and one thread at a time.
    [[nodiscard]] bool hasPassed(GracePeriod& period, const void* where) const noexcept {
        return advance(period, where, nullptr);
    }

    /// Waits until the sections of other threads that had begun before the call have ended. Costs
    /// as much as beginGrace(). The wait spins, then yields, then sleeps.
    void waitForOthers(const void* where) const noexcept {
        GracePeriod period = beginGrace();
        BasicBackoff<Platform> backoff;
        while (!advance(period, where, Platform::thisThread())) {
            publishWait(period.slot_->entryAt(period.index_), period.word_);
            backoff.wait();
            SLUICE_ASSERT(!backoff.isLong() || !isWaitingForThis(*period.slot_),
                          "two threads wait for each other's sections to end: do not wait for a "
                          "callback inside another one that its thread waits for");
        }
        publishWait(nullptr, 0);
    }

    /// A slot for this thread. The thread gives it back by release(). May throw std::bad_alloc.
    [[gnu::cold, gnu::noinline]] Slot& acquire() {
        Slot& slot = takeOrAdd();
        // Relaxed: compared with the address of the reading thread only.
        slot.thread.store(Platform::thisThread(), std::memory_order_relaxed);
        Platform::Fence::heavy();  // E5
        return slot;
    }

    /// Takes a slot back that has no sections. The call may destroy this object.
    [[gnu::cold, gnu::noinline]] void release(Slot& slot) noexcept {
        slot.thread.store(nullptr, std::memory_order_relaxed);  // relaxed: E3
        slot.isTaken.store(false, std::memory_order_release);   // E3
        this->dropUser();
    }

    // For ThreadTable.

    Slot& enroll(const void* /*thread*/) { return acquire(); }

    void dismiss(Slot& slot) noexcept {
        const bool isInside = slot.anyEntry([](const Entry& entry) {
            return entry.load(std::memory_order_relaxed) >=
                   Slot::firstAddress;  // relaxed: its thread
        });
        SLUICE_ASSERT(!isInside, "a thread ends inside a Presence::Section: end it first, and "
                                 "never allocate one on the heap");
        // Without assertions the slot stays taken: removers wait, but nothing in use is freed.
        if (!isInside) {
            release(slot);
        }
    }

private:
    using Table = ThreadTable<BasicPresence>;

    BasicPresence() noexcept : hash_(Table::hash(this)) {}

    ~BasicPresence() {
        Slot* slot = slots_.load(std::memory_order_relaxed);  // relaxed: the last user is alone
        while (slot != nullptr) {
            delete std::exchange(slot, slot->next);
        }
    }

    Slot* firstSlot() const noexcept { return slots_.load(std::memory_order_acquire); }  // E4

    /// Called by the first enter() of a thread. A thread that is ending has given its slot back,
    /// and gets a slot for this section only.
    [[gnu::cold, gnu::noinline]] Slot* addSlot() {
        Slot* slot = Table::add(*this);
        if (slot == nullptr) {
            slot = &acquire();
            slot->entries[0].store(Slot::temporary,
                                   std::memory_order_relaxed);  // relaxed: no section
        }
        return slot;
    }

    /// A Slot::temporary slot has one section, which uses the first entry.
    [[gnu::cold, gnu::noinline]] static void releaseTemporary(Entry& entry) noexcept {
        entry.store(0, std::memory_order_relaxed);  // relaxed: E3
        Slot& slot = reinterpret_cast<Slot&>(entry);
        slot.home.release(slot);
    }

    /// Whether the test is true of an entry of this thread. Relaxed, also in the test: only stores
    /// of this thread can make the answer true.
    template <class Test>
    bool anyOwnEntry(Test test) const noexcept {
        const void* const self = Platform::thisThread();
        for (Slot* slot = firstSlot(); slot != nullptr; slot = slot->next) {
            if (slot->thread.load(std::memory_order_relaxed) == self && slot->anyEntry(test)) {
                return true;
            }
        }
        return false;
    }

    /// Moves the period on to the first section that it still waits for. Returns true if there is
    /// none. Ignores the slots of the thread `ignored`.
    bool advance(GracePeriod& period, const void* where, const void* ignored) const noexcept {
        for (; period.slot_ != nullptr; period.slot_ = period.slot_->next, period.index_ = 0) {
            // Relaxed: a thread recognises its own slots only.
            if (ignored != nullptr &&
                period.slot_->thread.load(std::memory_order_relaxed) == ignored) {
                continue;
            }
            while (const Entry* const entry = period.slot_->entryAt(period.index_)) {
                const Word word = entry->load(std::memory_order_acquire);  // E1
                if (Slot::isIn(word, where) && (period.word_ == 0 || period.word_ == word)) {
                    period.word_ = word;
                    return false;
                }
                period.word_ = 0;
                ++period.index_;
            }
        }
        return true;
    }

    /// Tells isWaitingForThis() of other threads which section this thread waits for.
    void publishWait([[maybe_unused]] const Entry* entry,
                     [[maybe_unused]] Word word) const noexcept {
#ifndef NDEBUG
        const void* const self = Platform::thisThread();
        for (Slot* slot = firstSlot(); slot != nullptr; slot = slot->next) {
            if (slot->thread.load(std::memory_order_relaxed) == self) {  // relaxed: as in advance()
                // Relaxed: the store of `awaited` releases it.
                slot->awaitedWord.store(word, std::memory_order_relaxed);
                slot->awaited.store(entry, std::memory_order_release);
            }
        }
#endif
    }

    /// Whether the owner of the slot `other` waits for a section of this thread.
    bool isWaitingForThis(const Slot& other) const noexcept {
        const Entry* const entry = other.awaited.load(std::memory_order_acquire);
        if (entry == nullptr) {
            return false;
        }
        const Word word = other.awaitedWord.load(std::memory_order_relaxed);
        return anyOwnEntry([&](const Entry& own) {
            return &own == entry && own.load(std::memory_order_relaxed) == word;
        });
    }

    Slot& takeOrAdd() {
        for (Slot* slot = firstSlot(); slot != nullptr; slot = slot->next) {
            // Relaxed load: only decides whether the exchange is worth a try.
            if (!slot->isTaken.load(std::memory_order_relaxed) &&
                !slot->isTaken.exchange(true, std::memory_order_acquire)) {  // E3
                this->addUser();
                return *slot;
            }
        }
        Slot* const slot = new Slot(*this);
        this->addUser();
        slot->next = slots_.load(std::memory_order_relaxed);  // relaxed: checked by the exchange
        while (!slots_.compare_exchange_weak(slot->next, slot, std::memory_order_release,  // E4
                                             std::memory_order_relaxed)) {
        }
        return *slot;
    }

    const std::size_t hash_;
    Atomic<Slot*> slots_{nullptr};
};

using Presence = BasicPresence<>;

}  // namespace sluice
