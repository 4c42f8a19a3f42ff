#pragma once

#include <sluice/base/fibonacci_hash.hpp>

#include <atomic>
#include <cstddef>
#include <new>
#include <utility>

namespace [[gnu::visibility("default")]] sluice {

namespace detail {

/// The base of a home of ThreadTable. It counts the users: the owner of the home, and each thread
/// with a slot there. The last user destroys the home.
template <class Home, class Platform>
class SharedHome {
public:
    SharedHome(const SharedHome&) = delete;
    SharedHome& operator=(const SharedHome&) = delete;

    /// Whether the owner has gone. Relaxed: a thread that reads the old value uses the home a
    /// little longer, and dropUser() orders its work.
    [[nodiscard]] bool isAbandoned() const noexcept {
        return isAbandoned_.load(std::memory_order_relaxed);
    }

protected:
    SharedHome() noexcept = default;
    ~SharedHome() = default;

    /// Called by the owner when it ends, before its dropUser(). Relaxed: see isAbandoned().
    void markAbandoned() noexcept { isAbandoned_.store(true, std::memory_order_relaxed); }

    void addUser() noexcept {
        users_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller is a user already
    }
    void dropUser() noexcept {
        // Release: this user's work comes before the destruction. Acquire: so does all users' work.
        if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete static_cast<Home*>(this);
        }
    }

private:
    typename Platform::template Atomic<std::size_t> users_{1};
    typename Platform::template Atomic<bool> isAbandoned_{false};
};

}  // namespace detail

/// Finds the slots of the calling thread in many shared objects ("homes"), without a lock or an
/// atomic access. Each thread has a hash table of its own.
///
///     using Table = sluice::ThreadTable<Home>;
///     const std::size_t hash = Table::hash(&home);  // once for each home
///     Home::Slot* const slot = Table::findOr(&home, hash, [&] { return Table::add(home); });
///
/// The key is the address of the home. The thread is a user of each home in its table, so no other
/// home can have the same address. The table drops the entries of abandoned homes when it is
/// rebuilt: when it has twice as many entries as it had live homes at the last rebuild. So a thread
/// keeps about as many abandoned homes as live ones.
///
/// A search that does not end at its first entry costs several times as much. The addresses of the
/// homes decide this once for all searches. So the table grows until each search ends at the first
/// entry, up to 64 entries for each home.
///
/// A home has these members:
/// - Slot: the type of a slot;
/// - enroll(thread): returns a slot for a thread that becomes a user, and may throw;
/// - dismiss(slot): takes the slot back from a thread that ends or forgets the home;
/// - isAbandoned(): tells whether the owner of the home has ended.
///
/// There are two thread-local variables. One is constant-initialised, has no destructor, and is
/// reached by one instruction. The other one has a destructor, so each access tests a guard. Only
/// rare paths use it.
///
/// Tests: tests/unit/base/thread_table_test.cpp, and those of Presence and BlockPool, which use it.
template <class Home>
class ThreadTable {
public:
    using Slot = typename Home::Slot;

    /// The first entry to search for a home, before the mask. Compute it once for each home.
    static std::size_t hash(const Home* home) noexcept {
        return static_cast<std::size_t>(fibonacciHash(home) >> 32);
    }

    /// This thread's slot if the first entry of the search has it, which is nearly always true.
    /// Otherwise null, although there may be a slot. For paths where each instruction counts.
    [[gnu::always_inline]] static Slot* findFirst(const Home* home, std::size_t hash) noexcept {
        const Entry& entry = view_.entries[hash & view_.mask];
        if (__builtin_expect(entry.home != home, 0)) {
            return nullptr;
        }
        Slot* const slot = entry.slot;
        if (slot == nullptr) {
            __builtin_unreachable();  // an entry with a home has a slot; spares the caller's test
        }
        return slot;
    }

    /// This thread's slot, or null if it has none.
    static Slot* find(const Home* home, std::size_t hash) noexcept {
        return findOr(home, hash, [] { return static_cast<Slot*>(nullptr); });
    }

    /// This thread's slot, or the result of `makeSlot`.
    template <class MakeSlot>
    static Slot* findOr(const Home* home, std::size_t hash, MakeSlot makeSlot) {
        const View& view = view_;
        for (std::size_t i = hash;; ++i) {
            const Entry& entry = view.entries[i & view.mask];
            if (__builtin_expect(entry.home == home, 1)) {
                return entry.slot;
            }
            if (__builtin_expect(entry.home == nullptr, 0)) {
                return makeSlot();
            }
        }
    }

    /// Gives this thread a slot that it keeps until it ends. Returns null if the thread is ending
    /// and has given its slots back. If it throws std::bad_alloc, nothing has changed.
    [[gnu::cold, gnu::noinline]] static Slot* add(Home& home) {
        if (view_.hasEnded) {
            return nullptr;
        }
        thread_local Keeper keeper;
        return &keeper.add(home);
    }

    /// An address that no other living thread has.
    static const void* mark() noexcept { return &view_; }

private:
    struct Entry {
        Home* home = nullptr;
        Slot* slot = nullptr;
    };

    /// The data of the fast path. Never more than a quarter of the entries is in use, so each
    /// search ends.
    struct View {
        const Entry* entries = &noEntry;
        std::size_t mask = 0;
        bool hasEnded = false;
    };

    /// Owns the entries; its destructor runs when the thread ends.
    class Keeper {
    public:
        Keeper() = default;
        Keeper(const Keeper&) = delete;
        Keeper& operator=(const Keeper&) = delete;

        ~Keeper() {
            view_.entries = &noEntry;
            view_.mask = 0;
            view_.hasEnded = true;
            for (std::size_t i = 0; i < capacity_; ++i) {
                giveBack(entries_[i]);
            }
            delete[] entries_;
        }

        Slot& add(Home& home) {
            if (count_ == most_) {
                rebuild();
            }
            Slot& slot = home.enroll(mark());
            insert(Entry{&home, &slot});
            spread();
            return slot;
        }

    private:
        static constexpr std::size_t minCapacity = 8;
        static constexpr std::size_t mostForEach = 64;

        /// Enlarges the table until each search for a home ends at its first entry. Stops at
        /// `mostForEach` entries for each, or if there is no memory.
        void spread() noexcept {
            while (!isSpread() && 2 * capacity_ <= mostForEach * count_) {
                auto* const larger = new (std::nothrow) Entry[2 * capacity_];
                if (larger == nullptr) {
                    return;
                }
                replace(larger, 2 * capacity_);
            }
        }
        bool isSpread() const noexcept {
            for (std::size_t i = 0; i < capacity_; ++i) {
                if (entries_[i].home != nullptr && (hash(entries_[i].home) & view_.mask) != i) {
                    return false;
                }
            }
            return true;
        }

        void rebuild() {
            std::size_t live = 0;
            for (std::size_t i = 0; i < capacity_; ++i) {
                live += isLive(entries_[i]) ? 1U : 0U;
            }
            std::size_t capacity = minCapacity;
            while (capacity < 8 * (live + 1)) {
                capacity *= 2;
            }
            replace(new Entry[capacity], capacity);
            most_ = 2 * (live + 1);  // at most a quarter of the table, which spread() only enlarges
        }

        /// Takes the ownership of `entries`, and moves the live entries there.
        [[gnu::cold, gnu::noinline]] void replace(Entry* entries, std::size_t capacity) noexcept {
            const Entry* const old = std::exchange(entries_, entries);
            const std::size_t oldCapacity = std::exchange(capacity_, capacity);
            count_ = 0;
            view_.entries = entries_;
            view_.mask = capacity - 1;
            for (std::size_t i = 0; i < oldCapacity; ++i) {
                // Asked again: the owner of a home may have ended since rebuild() counted it.
                if (isLive(old[i])) {
                    insert(old[i]);
                } else {
                    giveBack(old[i]);
                }
            }
            delete[] old;
        }

        void insert(const Entry& entry) noexcept {
            std::size_t i = hash(entry.home) & view_.mask;
            while (entries_[i].home != nullptr) {
                i = (i + 1) & view_.mask;
            }
            entries_[i] = entry;
            ++count_;
        }

        static bool isLive(const Entry& entry) noexcept {
            return entry.home != nullptr && !entry.home->isAbandoned();
        }

        static void giveBack(const Entry& entry) noexcept {
            if (entry.home != nullptr) {
                entry.home->dismiss(*entry.slot);
            }
        }

        Entry* entries_ = nullptr;
        std::size_t capacity_ = 0;
        std::size_t count_ = 0;
        std::size_t most_ = 0;  // the number of entries that starts a rebuild
    };

    inline static constexpr Entry noEntry{};
    inline static thread_local View view_{};
};

}  // namespace sluice
