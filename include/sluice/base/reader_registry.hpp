#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/cache_line.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/base/thread_slots.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace [[gnu::visibility("default")]] sluice {

namespace detail {

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

    static constexpr std::size_t entriesInLine = 8;

    /// More entries, for guards that are nested deeply.
    struct Block {
        Entry entries[entriesInLine]{};
        Atomic<Block*> next{nullptr};
    };

    ReaderSlot() noexcept = default;
    ReaderSlot(const ReaderSlot&) = delete;
    ReaderSlot& operator=(const ReaderSlot&) = delete;

    ~ReaderSlot() {
        Block* block = more.load(std::memory_order_relaxed);  // relaxed, both: unused
        while (block != nullptr) {
            delete std::exchange(block, block->next.load(std::memory_order_relaxed));
        }
    }

    static Word wordOf(const void* where) noexcept { return reinterpret_cast<Word>(where); }
    static bool isIn(Word word, const void* where) noexcept {
        return (word & ~(firstAddress - 1)) == wordOf(where);
    }

    /// Returns null if there are fewer entries.
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

    /// An entry for a nested guard. The owner calls it. May throw std::bad_alloc.
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

    Entry entries[entriesInLine]{};  // written by the owner, read by grace periods

    alignas(cacheLineSize) Atomic<Block*> more{nullptr};
    Atomic<bool> isTaken{true};
    Atomic<const void*> thread{nullptr};  // the owner, or null
    // The entry that the owner waits for in waitForOthers(), otherwise null; and its word.
    Atomic<const Entry*> awaited{nullptr};
    Atomic<Word> awaitedWord{0};
    ReaderSlot* next = nullptr;
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
/// Use it if readers of one object must not delay removals from another one. Use std::shared_ptr if
/// a reader keeps an object for long or passes it on.
///
/// Thread safety: any thread may call any member. A read guard stays in the scope and on the thread
/// that created it, so it must not span a co_await. Guards may be nested. Two threads must not call
/// waitForOthers() if each reads the object of the other's call. Threads that have called
/// enter(where) must end before the registry is destroyed. A reader preempted inside one object
/// delays removals of this object only.
///
/// After hasPassed() has returned true, or waitForOthers() has returned, the caller sees all writes
/// of the earlier guards of the object.
///
/// Performance: enter() is a store and a light fence. A thread's first enter(), and a guard that is
/// nested deeper than all earlier ones, allocate: std::bad_alloc changes nothing.
template <class Platform = StdPlatform>
class BasicReaderRegistry {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using Slot = detail::ReaderSlot<Platform>;
    using Entry = typename Slot::Entry;
    using Word = typename Slot::Word;

    /// The time until all guards that an object had at beginGrace() have ended.
    class GracePeriod {
        friend class BasicReaderRegistry;
        // The slot, the entry and the guard that it waits for; word 0: any guard.
        Slot* slot_ = nullptr;
        std::size_t index_ = 0;
        Word word_ = 0;
    };

    BasicReaderRegistry() noexcept : hash_(Table::hash(this)) {}
    BasicReaderRegistry(const BasicReaderRegistry&) = delete;
    BasicReaderRegistry& operator=(const BasicReaderRegistry&) = delete;
    ~BasicReaderRegistry() {
        Slot* slot = slots_.load(std::memory_order_relaxed);  // relaxed: no other thread uses it
        while (slot != nullptr) {
            delete std::exchange(slot, slot->next);
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
        ReadGuard(Entry& entry, Word idle) noexcept : entry_(entry), idle_(idle) {}

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
        Entry* entry = &slot.entries[0];
        Word idle = entry->load(std::memory_order_relaxed);  // relaxed: written by this thread
        if (__builtin_expect(idle >= Slot::firstAddress, 0)) {
            entry = &slot.freeEntry();
            idle = entry->load(std::memory_order_relaxed);
        }
        // Release (E1): a hasPassed() that reads this guard instead of the end of the last guard
        // acquires the last guard all the same.
        entry->store(Slot::wordOf(where) + idle, std::memory_order_release);
        Platform::Fence::light();  // E2
        return ReadGuard(*entry, idle);
    }

    /// Returns true if no other thread has a slot. Then no other thread can find an element that
    /// the caller has unlinked.
    [[nodiscard]] bool isAlone() const noexcept {
        Platform::Fence::light();  // E5
        const void* const self = Platform::thisThread();
        for (Slot* slot = firstSlot(); slot != nullptr; slot = slot->next) {
            // Acquire: the guards of the last owner come before (E3).
            if (slot->isTaken.load(std::memory_order_acquire) &&
                slot->thread.load(std::memory_order_relaxed) != self) {  // relaxed: compared only
                return false;
            }
        }
        return true;
    }

    /// Returns true if this thread reads the object.
    [[nodiscard]] bool isInside(const void* where) const noexcept {
        return anyOwnEntry([&](const Entry& entry) {
            return Slot::isIn(entry.load(std::memory_order_relaxed), where);
        });
    }

    /// To be called after unlinking an element. A heavy fence if other threads have slots.
    [[nodiscard]] GracePeriod beginGrace() const noexcept {
        if (!isAlone()) {
            Platform::Fence::heavy();  // E2
        }
        GracePeriod period;
        period.slot_ = firstSlot();
        return period;
    }

    /// Returns true if all guards of the object that had begun before the period have ended. A
    /// period is for one object and one thread at a time.
    [[nodiscard]] bool hasPassed(GracePeriod& period, const void* where) const noexcept {
        return advance(period, where, nullptr);
    }

    /// Waits for the guards of other threads that had begun before the call. It spins, then yields,
    /// then sleeps.
    void waitForOthers(const void* where) const noexcept {
        GracePeriod period = beginGrace();
        BasicBackoff<Platform> backoff;
        bool hasWaited = false;
        for (; !advance(period, where, Platform::thisThread()); hasWaited = true) {
            publishWait(period.slot_->entryAt(period.index_), period.word_);
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
        Slot& slot = takeOrAdd();
        // Relaxed: compared with the address of the reading thread only.
        slot.thread.store(Platform::thisThread(), std::memory_order_relaxed);
        Platform::Fence::heavy();  // E5
        return slot;
    }

    /// Takes a slot back that has no guards.
    [[gnu::cold, gnu::noinline]] static void release(Slot& slot) noexcept {
        slot.thread.store(nullptr, std::memory_order_relaxed);  // relaxed: E3
        slot.isTaken.store(false, std::memory_order_release);   // E3
    }

    // ---- For ThreadSlots

    Slot& enroll(const void* /*thread*/) { return acquire(); }

    void dismiss(Slot& slot) noexcept {
        const bool isInside = slot.anyEntry([](const Entry& entry) {
            return entry.load(std::memory_order_relaxed) >=
                   Slot::firstAddress;  // relaxed: its thread
        });
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
    // of a slot writes its entries. Words of consecutive guards of one entry differ. A thread may
    // hold several slots, one for each shared object of the program whose code calls enter().
    //
    // Edges:
    //   E1 leave     a guard -> release store to its entry .. acquire load by hasPassed()
    //   E2 announce  entry stored, light() | heavy(), entry loaded: either hasPassed() sees the
    //                guard, or the guard no longer finds an element unlinked before heavy()
    //   E3 slot      last use of a slot -> release of isTaken .. acquire by its next owner
    //   E4 list      construction of a slot or block -> release push .. acquire load by hasPassed()
    //   E5 alone     unlinked, light(), slots loaded | slot taken, heavy(), the guard's first load:
    //                either the remover sees the new slot, or the guard does not find the element

    using Table = ThreadSlots<BasicReaderRegistry>;

    Slot* firstSlot() const noexcept { return slots_.load(std::memory_order_acquire); }  // E4

    /// For a thread without a slot. A thread that is ending receives one for this guard only.
    [[gnu::cold, gnu::noinline]] Slot* addSlot() {
        Slot* slot = Table::add(*this);
        if (slot == nullptr) {
            slot = &acquire();
            slot->entries[0].store(Slot::temporary,
                                   std::memory_order_relaxed);  // relaxed: no guard
        }
        return slot;
    }

    /// A Slot::temporary slot has one guard, which uses the first entry.
    [[gnu::cold, gnu::noinline]] static void releaseTemporary(Entry& entry) noexcept {
        entry.store(0, std::memory_order_relaxed);  // relaxed: E3
        release(reinterpret_cast<Slot&>(entry));
    }

    /// Returns true if an entry of this thread passes the test. Relaxed, also in the test: only
    /// stores of this thread can make the answer true.
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

    /// Moves the period to the first guard that it still waits for. Returns true if there is none.
    /// Ignores the slots of `ignored`.
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

    /// Publishes which guard this thread waits for, for isWaitingForThis() of other threads. Also
    /// with NDEBUG, because units with and without it may be linked together.
    void publishWait(const Entry* entry, Word word) const noexcept {
        const void* const self = Platform::thisThread();
        for (Slot* slot = firstSlot(); slot != nullptr; slot = slot->next) {
            if (slot->thread.load(std::memory_order_relaxed) == self) {  // relaxed: as in advance()
                // Relaxed: the store of `awaited` releases it.
                slot->awaitedWord.store(word, std::memory_order_relaxed);
                slot->awaited.store(entry, std::memory_order_release);
            }
        }
    }

    /// Returns true if the owner of `other` waits for a guard of this thread.
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
                return *slot;
            }
        }
        Slot* const slot = new Slot;
        slot->next = slots_.load(std::memory_order_relaxed);  // relaxed: checked by the exchange
        while (!slots_.compare_exchange_weak(slot->next, slot, std::memory_order_release,  // E4
                                             std::memory_order_relaxed)) {
        }
        return *slot;
    }

    const std::size_t hash_;
    Atomic<Slot*> slots_{nullptr};  // never removed before the destructor
};

using ReaderRegistry = BasicReaderRegistry<>;

}  // namespace sluice
