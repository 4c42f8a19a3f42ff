#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/base/thread_table.hpp>
#include <sluice/bus/detail/count_word.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <type_traits>

namespace sluice::detail {

/// Counters that one thread writes and any thread reads: a load and a store instead of an atomic
/// read-modify-write.
template <class Platform>
class OwnCount {
public:
    void add(std::uint64_t n) noexcept {
        // Relaxed: nobody else writes, and no data follows a count.
        const CountWord count = count_.load(std::memory_order_relaxed);
        count_.store(static_cast<CountWord>(count + n), std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t get() const noexcept {
        return count_.load(std::memory_order_relaxed);
    }

private:
    typename Platform::template Atomic<CountWord> count_{0};
};

/// `Size` counters for publishers that interrupt each other on one processor, in the bus itself.
template <class Platform, std::size_t Size>
class SingleCoreTally {
public:
    void add(std::size_t which, std::uint64_t n) noexcept {
        // Relaxed: no data follows a count.
        counts_[which].fetch_add(static_cast<CountWord>(n), std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t sum(std::size_t which) const noexcept {
        return counts_[which].load(std::memory_order_relaxed);
    }

private:
    std::array<typename Platform::template Atomic<CountWord>, Size> counts_{};
};

/// `Size` counters for each thread that counts, summed by whoever asks.
///
/// A thread gets a set of counters when it first counts, which allocates, and keeps it until it
/// ends; the next new thread goes on with it.
///
/// Lifetime: counted, as ThreadTable needs it. The bus is one user, each thread with counters
/// another.
///
/// Tests: tests/unit/bus/tally_board_test.cpp.
template <class Platform, std::size_t Size>
class TallyBoard {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;
    using Lock = BasicSpinLock<Platform>;

public:
    /// One thread's counters.
    struct alignas(cacheLineSize) Slot {
        explicit Slot(TallyBoard& b) noexcept : board(b) {}

        std::array<OwnCount<Platform>, Size> counts;
        TallyBoard& board;
        bool isTaken = true;
        Slot* next = nullptr;
    };
    using Threads = ThreadTable<TallyBoard>;

    TallyBoard() noexcept = default;
    TallyBoard(const TallyBoard&) = delete;
    TallyBoard& operator=(const TallyBoard&) = delete;

    /// Adds to a counter of the calling thread. `hash` is Threads::hash(this).
    void add(std::size_t hash, std::size_t which, std::uint64_t n) noexcept {
        Slot* slot = Threads::findFirst(this, hash);
        if (__builtin_expect(slot == nullptr, 0)) {
            slot = Threads::findOr(this, hash, [this] { return addSlot(); });
            if (slot == nullptr) {
                const std::lock_guard<Lock> turn(lock_);
                rest_[which].add(n);
                return;
            }
        }
        slot->counts[which].add(n);
    }

    [[nodiscard]] std::uint64_t sum(std::size_t which) const noexcept {
        const std::lock_guard<Lock> turn(lock_);
        std::uint64_t sum = rest_[which].get();
        for (const Slot* slot = first_; slot != nullptr; slot = slot->next) {
            sum += slot->counts[which].get();
        }
        return sum;
    }

    /// Sets of counters: as many as threads have counted at the same time.
    [[nodiscard]] std::size_t slotCount() const noexcept {
        const std::lock_guard<Lock> turn(lock_);
        std::size_t count = 0;
        for (const Slot* slot = first_; slot != nullptr; slot = slot->next) {
            ++count;
        }
        return count;
    }

    /// The bus lets go.
    void abandon() noexcept {
        isAbandoned_.store(true, std::memory_order_release);
        letGo();
    }

    // ---- For ThreadTable

    [[nodiscard]] bool isAbandoned() const noexcept {
        return isAbandoned_.load(std::memory_order_acquire);
    }

    Slot& enroll(const void* /*thread*/) {
        Slot* slot = reuse();
        if (slot == nullptr) {
            slot = new Slot(*this);
            const std::lock_guard<Lock> turn(lock_);
            slot->next = first_;
            first_ = slot;
        }
        users_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller holds the bus
        return *slot;
    }

    static void dismiss(Slot& slot) noexcept {
        TallyBoard& board = slot.board;
        {
            const std::lock_guard<Lock> turn(board.lock_);
            slot.isTaken = false;
        }
        board.letGo();
    }

private:
    ~TallyBoard() {
        while (Slot* const slot = first_) {
            first_ = slot->next;
            delete slot;
        }
    }

    /// Null when this thread is ending and has given its counters back, or when there is no memory
    /// for any: then it counts with others of its kind, under the lock.
    Slot* addSlot() noexcept {
#if defined(__cpp_exceptions)
        try {
            return Threads::add(*this);
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
#else
        return Threads::add(*this);
#endif
    }

    Slot* reuse() noexcept {
        const std::lock_guard<Lock> turn(lock_);
        for (Slot* slot = first_; slot != nullptr; slot = slot->next) {
            if (!slot->isTaken) {
                slot->isTaken = true;
                return slot;
            }
        }
        return nullptr;
    }

    void letGo() noexcept {
        // Acquire and release: the last one must see what the others did to their counters.
        if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }

    mutable Lock lock_;
    Slot* first_ = nullptr;
    std::array<OwnCount<Platform>, Size> rest_;
    Atomic<std::size_t> users_{1};
    Atomic<bool> isAbandoned_{false};
};

/// A bus's share in its board.
template <class Platform, std::size_t Size>
class BoardHandle {
    using Board = TallyBoard<Platform, Size>;

public:
    BoardHandle() : board_(new Board), hash_(Board::Threads::hash(board_)) {}
    BoardHandle(const BoardHandle&) = delete;
    BoardHandle& operator=(const BoardHandle&) = delete;
    ~BoardHandle() { board_->abandon(); }

    void add(std::size_t which, std::uint64_t n) noexcept { board_->add(hash_, which, n); }
    [[nodiscard]] std::uint64_t sum(std::size_t which) const noexcept { return board_->sum(which); }

private:
    Board* board_;
    std::size_t hash_;
};

/// The counters of the publishers of a bus.
template <class Platform, std::size_t Size>
using PublisherTally = std::conditional_t<Platform::hasThreads, BoardHandle<Platform, Size>,
                                          SingleCoreTally<Platform, Size>>;

}  // namespace sluice::detail
