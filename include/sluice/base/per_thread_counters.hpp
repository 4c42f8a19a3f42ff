#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/base/counter.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/base/shared_registry.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/base/thread_slots.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {

/// The counters of all threads of one PerThreadCounters. Its users are the PerThreadCounters and
/// each thread that has counters here.
template <class Platform, std::size_t Size>
class CounterRegistry : public SharedRegistry<CounterRegistry<Platform, Size>, Platform> {
    friend class SharedRegistry<CounterRegistry, Platform>;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;
    using Lock = BasicSpinLock<Platform>;
    using Guard = std::lock_guard<Lock>;

public:
    using Counts = std::array<SingleWriterCounter<Platform>, Size>;

    /// One thread's counters.
    struct alignas(cacheLineSize) Slot {
        explicit Slot(CounterRegistry& r) noexcept : registry(r) {}

        [[gnu::always_inline]] void add(std::size_t which, std::uint64_t n) noexcept {
            const typename RoleCheck<Platform>::Scope once(
                adding, "a signal handler counts while its thread counts: let the thread do it");
            counts[which].add(n);
        }

        Counts counts;
        Atomic<bool> isInside{false};   // written by the thread
        Atomic<bool> isStaying{false};  // written by the thread
        RoleCheck<Platform> adding;
        CounterRegistry& registry;
        bool isTaken = true;
        Slot* next = nullptr;
    };
    using Threads = ThreadSlots<CounterRegistry>;

    /// Adds to a counter of the calling thread. Returns the counters of the thread, or null if it
    /// has none. `hash` is Threads::hash(this). Always inline, because each publication calls it.
    [[gnu::always_inline]] Slot* add(std::size_t hash, std::size_t which,
                                     std::uint64_t n) noexcept {
        Slot* slot = Threads::findFirst(this, hash);
        if (__builtin_expect(slot != nullptr, 1)) {
            slot->add(which, n);
            return slot;
        }
        return addSlowly(hash, which, n);
    }

    [[nodiscard]] bool isInside(std::size_t hash) const noexcept {
        const Slot* const own = Threads::find(this, hash);
        // Relaxed, both: only this thread writes them.
        return own != nullptr && (own->isInside.load(std::memory_order_relaxed) ||
                                  own->isStaying.load(std::memory_order_relaxed));
    }

    /// Whether another thread is inside. The work of each thread before it left happens before the
    /// answer "no".
    [[nodiscard]] bool isAnotherInside(std::size_t hash) const noexcept {
        const Slot* const own = Threads::find(this, hash);
        const Guard guard(lock_);
        const Slot* slot = first_;
        // E1 left. Reads isInside first, because a thread sets isStaying before it clears isInside.
        while (slot != nullptr &&
               (slot == own || (!slot->isInside.load(std::memory_order_acquire) &&
                                !slot->isStaying.load(std::memory_order_acquire)))) {
            slot = slot->next;
        }
        return slot != nullptr;
    }

    /// The counters of the calling thread, made if it has none. Null if the thread is ending and
    /// has given its counters back, or if there is no memory. Such a thread counts in `rest_`.
    Slot* slotOfThread(std::size_t hash) noexcept {
        return Threads::findOr(
            this, hash, [this] { return resultOrDefault([this] { return Threads::add(*this); }); });
    }

    /// Calls f(counts) for the counters of each thread.
    template <class F>
    void forEach(F&& f) const {
        const Guard guard(lock_);
        f(rest_);
        for (const Slot* slot = first_; slot != nullptr; slot = slot->next) {
            f(slot->counts);
        }
    }

    /// The number of slots: the most threads that had counters at the same time.
    [[nodiscard]] std::size_t slotCount() const noexcept {
        const Guard guard(lock_);
        std::size_t count = 0;
        for (const Slot* slot = first_; slot != nullptr; slot = slot->next) {
            ++count;
        }
        return count;
    }

    /// Called when the PerThreadCounters ends.
    void abandon() noexcept {
        this->markAbandoned();
        this->dropUser();
    }

    // ---- For ThreadSlots

    Slot& enroll(const void* /*thread*/) {
        Slot* slot = reuse();
        if (slot == nullptr) {
            slot = new Slot(*this);
            const Guard guard(lock_);
            slot->next = std::exchange(first_, slot);
        }
        this->addUser();
        return *slot;
    }

    static void dismiss(Slot& slot) noexcept {
        CounterRegistry& registry = slot.registry;
        {
            const Guard guard(registry.lock_);
            slot.isTaken = false;
        }
        registry.dropUser();
    }

private:
    ~CounterRegistry() {
        while (first_ != nullptr) {
            delete std::exchange(first_, first_->next);
        }
    }

    [[gnu::noinline]] Slot* addSlowly(std::size_t hash, std::size_t which,
                                      std::uint64_t n) noexcept {
        Slot* const slot = slotOfThread(hash);
        if (slot != nullptr) {
            slot->add(which, n);
        } else {
            const Guard guard(lock_);
            rest_[which].add(n);
        }
        return slot;
    }

    Slot* reuse() noexcept {
        const Guard guard(lock_);
        for (Slot* slot = first_; slot != nullptr; slot = slot->next) {
            if (!slot->isTaken) {
                slot->isTaken = true;
                return slot;
            }
        }
        return nullptr;
    }

    mutable Lock lock_;
    Slot* first_ = nullptr;
    Counts rest_;
};

}  // namespace detail

/// Has `Size` counters that any thread adds to, and any thread reads as a sum.
///
///     PerThreadCounters<StdPlatform, 2> counters;
///     counters.add(0, 1);                       // any thread
///     const std::uint64_t all = counters.sum(0);
///
/// Each thread has counters of its own, so add() costs a search in a small table and a store, and
/// threads do not share a cache line. A thread gets its counters with its first add(), or by
/// attach(). Both may allocate. The thread keeps its counters until it ends. Then a later thread
/// uses them.
///
/// Threads: any thread calls any member. A signal handler must not call add(), because it could
/// lose a count of the thread that it has interrupted. Debug builds notice this. add() is wait-free
/// after the thread's first one. sum() takes a lock and reads the counters of all threads. The
/// constructor allocates. If there is no memory for a thread's counters, each add() of the thread
/// takes the lock.
///
/// Tests: tests/unit/base/per_thread_counters_test.cpp, tests/model/counters_model_test.cpp.
template <class Platform, std::size_t Size>
class PerThreadCounters {
    using Registry = detail::CounterRegistry<Platform, Size>;

public:
    /// While an Inside exists, the thread that passed it to add() is inside. The end of another
    /// Inside of this thread ends this state, too. An Inside may outlive the counters.
    class Inside {
    public:
        Inside() noexcept = default;
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;
        [[gnu::always_inline]] ~Inside() {
            if (slot_ != nullptr) {
                slot_->isInside.store(false, std::memory_order_release);  // E1 left
            }
        }

    private:
        friend PerThreadCounters;
        typename Registry::Slot* slot_ = nullptr;
    };

    /// While a Staying exists, its thread is inside, even if an Inside ends meanwhile. Stayings may
    /// nest. A Staying may outlive the counters.
    class Staying {
    public:
        explicit Staying(PerThreadCounters& counters) noexcept
            : slot_(counters.registry_->slotOfThread(counters.hash_)) {
            if (slot_ != nullptr) {
                // Relaxed, both: only this thread writes, and its next release publishes the mark.
                wasStaying_ = slot_->isStaying.load(std::memory_order_relaxed);
                slot_->isStaying.store(true, std::memory_order_relaxed);
            }
        }
        Staying(const Staying&) = delete;
        Staying& operator=(const Staying&) = delete;
        ~Staying() {
            if (slot_ != nullptr) {
                slot_->isStaying.store(wasStaying_, std::memory_order_release);  // E1 left
            }
        }

    private:
        typename Registry::Slot* slot_;
        bool wasStaying_ = false;
    };

    PerThreadCounters() : registry_(new Registry), hash_(Registry::Threads::hash(registry_)) {}
    PerThreadCounters(const PerThreadCounters&) = delete;
    PerThreadCounters& operator=(const PerThreadCounters&) = delete;
    ~PerThreadCounters() { registry_->abandon(); }

    void add(std::size_t which, std::uint64_t n) noexcept { registry_->add(hash_, which, n); }

    /// As add(). The thread is then inside until `inside` ends. Meanwhile isAnotherInside() returns
    /// true in a thread that has synchronised with this thread after the call. A thread without
    /// counters of its own is never inside.
    [[gnu::always_inline]] void add(std::size_t which, std::uint64_t n, Inside& inside) noexcept {
        inside.slot_ = registry_->add(hash_, which, n);
        if (inside.slot_ != nullptr) {
            // Relaxed: the next release of the thread publishes it.
            inside.slot_->isInside.store(true, std::memory_order_relaxed);
        }
    }

    [[nodiscard]] bool isInside() const noexcept { return registry_->isInside(hash_); }

    /// Whether another thread is inside. Everything that a thread did before it left happens before
    /// the answer "no".
    [[nodiscard]] bool isAnotherInside() const noexcept {
        return registry_->isAnotherInside(hash_);
    }

    /// Gives the calling thread its counters now. Returns false if there is no memory for them.
    bool attach() noexcept { return registry_->slotOfThread(hash_) != nullptr; }

    [[nodiscard]] std::uint64_t sum(std::size_t which) const noexcept {
        std::uint64_t sum = 0;
        forEach([&](const auto& counts) { sum += counts[which].get(); });
        return sum;
    }

    /// Calls f(counts) for the counters of each thread: counts[which].get() is one of them. Use it
    /// for many sums. It holds a lock that each thread takes for its first add().
    template <class F>
    void forEach(F&& f) const {
        registry_->forEach(f);
    }

    /// The most threads that had counters at the same time.
    [[nodiscard]] std::size_t mostThreads() const noexcept { return registry_->slotCount(); }

private:
    Registry* registry_;
    std::size_t hash_;
};

/// PerThreadCounters for one processor with interrupts: it has one set of counters, in the object
/// itself.
template <class Platform, std::size_t Size>
class SingleCoreCounters {
public:
    /// Empty, because an interrupt has ended when the interrupted code goes on.
    struct Inside {};
    struct Staying {
        explicit Staying(SingleCoreCounters&) noexcept {}
    };
    void add(std::size_t which, std::uint64_t n, Inside&) noexcept { add(which, n); }
    [[nodiscard]] static bool isInside() noexcept { return false; }
    [[nodiscard]] static bool isAnotherInside() noexcept { return false; }

    static bool attach() noexcept { return true; }
    void add(std::size_t which, std::uint64_t n) noexcept { counts_[which].add(n); }
    [[nodiscard]] std::uint64_t sum(std::size_t which) const noexcept {
        return counts_[which].get();
    }
    template <class F>
    void forEach(F&& f) const {
        f(counts_);
    }

private:
    /// An interrupt may come in the middle of an add().
    class Counter {
    public:
        void add(std::uint64_t n) noexcept {
            // Relaxed: a count publishes no other data.
            count_.fetch_add(static_cast<CounterWord>(n), std::memory_order_relaxed);
        }
        [[nodiscard]] std::uint64_t get() const noexcept {
            return count_.load(std::memory_order_relaxed);
        }

    private:
        typename Platform::template Atomic<CounterWord> count_{0};
    };

    std::array<Counter, Size> counts_{};
};

/// The counters that fit the platform.
template <class Platform, std::size_t Size>
using CountersOf = std::conditional_t<Platform::hasThreads, PerThreadCounters<Platform, Size>,
                                      SingleCoreCounters<Platform, Size>>;

}  // namespace sluice
