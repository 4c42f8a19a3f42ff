#pragma once

#include <sluice/base/reader_registry.hpp>
#include <sluice/event/detail/policy_traits.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <limits>
#include <mutex>
#include <type_traits>
#include <utility>

// Calls read a list without a lock while other threads change it. Removed elements are retired:
// they are freed when no call can use them. docs/algorithms/reader-registry.md explains the
// protocol.

namespace sluice {
namespace [[gnu::visibility("default")]] detail {

/// Never destroyed, because static objects may use it. Shared objects that hide their symbols have
/// one each; a list keeps the one it began with.
template <class Platform>
BasicReaderRegistry<Platform>& sharedReaderRegistry() noexcept {
    static BasicReaderRegistry<Platform>& shared = *new BasicReaderRegistry<Platform>;
    return shared;
}

/// The calls of one list that several threads use.
template <class Threading>
class Readers {
public:
    using Platform = PlatformOf<Threading>;
    using Registry = BasicReaderRegistry<Platform>;
    using GracePeriod = typename Registry::GracePeriod;

    /// The time in which the calling thread reads the list.
    class ReadGuard {
    public:
        explicit ReadGuard(const Readers& readers) : section_(readers.registry_.enter(&readers)) {}

    private:
        typename Registry::ReadGuard section_;
    };

    Readers() noexcept : Readers(sharedReaderRegistry<Platform>()) {}
    explicit Readers(Registry& registry) noexcept : registry_(registry) {}

    /// Returns true inside a call on this thread.
    bool isInside() const noexcept { return registry_.isInside(this); }
    /// Returns true if no other running thread has called a list of this registry.
    bool isAlone() const noexcept { return registry_.isAlone(); }
    bool looksUnread() const noexcept { return registry_.looksUnread(this); }
    GracePeriod beginGrace() const noexcept { return registry_.beginGrace(); }
    bool hasPassed(GracePeriod& period) const noexcept { return registry_.hasPassed(period, this); }
    void waitForOthers() const noexcept { registry_.waitForOthers(this); }

    /// Orders the end of a ReadGuard before the check for retired elements.
    static void fence() noexcept { Platform::Fence::light(); }

private:
    Registry& registry_;
};

/// The calls of a list that one thread at a time uses.
class SingleThreadReaders {
public:
    struct GracePeriod {};

    class ReadGuard {
    public:
        explicit ReadGuard(const SingleThreadReaders& readers) noexcept
            : readers_(readers), outer_(readers.calls_) {
            readers.calls_ = outer_ + 1;
        }
        ~ReadGuard() { readers_.calls_ = outer_; }

    private:
        const SingleThreadReaders& readers_;
        // A copy in a register: rereading calls_ would make each call wait for the previous store.
        const unsigned outer_;
    };

    bool isInside() const noexcept { return calls_ != 0; }
    bool isAlone() const noexcept { return true; }
    bool looksUnread() const noexcept { return true; }
    GracePeriod beginGrace() const noexcept { return {}; }
    bool hasPassed(GracePeriod& /*period*/) const noexcept { return !isInside(); }
    void waitForOthers() const noexcept {}
    static void fence() noexcept {}

private:
    mutable unsigned calls_ = 0;
};

template <class Threading>
using ReadersOf =
    std::conditional_t<isSingleThreading<Threading>, SingleThreadReaders, Readers<Threading>>;

/// An element that was removed from a list and may still be in use.
struct Retired {
    Retired* nextRetired = nullptr;
    void (*free)(Retired&) = nullptr;
};

/// Frees retired elements, and records which ones this thread is freeing.
class Freeing {
public:
    static void free(Retired& element) noexcept {
        const Freeing current(element);
        element.free(element);
    }
    /// Frees all elements from `first` on.
    static void freeAll(Retired* first) noexcept {
        while (first != nullptr) {
            free(*std::exchange(first, first->nextRetired));
        }
    }

    /// Returns true inside the destructor of the element, on this thread.
    static bool isRunning(const Retired& element) noexcept {
        const Freeing* current = innermost_;
        while (current != nullptr && current->element_ != &element) {
            current = current->outer_;
        }
        return current != nullptr;
    }

private:
    explicit Freeing(const Retired& element) noexcept : element_(&element), outer_(innermost_) {
        innermost_ = this;
    }
    ~Freeing() { innermost_ = outer_; }

    inline static SLUICE_THREAD_LOCAL const Freeing* innermost_ = nullptr;

    const Retired* const element_;
    const Freeing* const outer_;
};

/// A base of its own, because a call is shorter if it announces the address of the whole list.
template <class Threading>
struct ListReaders {
    const ReadersOf<Threading> readers;
};

/// The retired elements of one list, and the list's lock and readers.
///
/// Elements are freed in batches, oldest first. A batch waits for the calls that had begun when it
/// was started. Then the last of these calls, threads that retire elements, and threads that wait
/// for one of them free its elements one by one. An element stays in the list until a thread frees
/// it, so a destructor may wait for another element.
///
/// The owner may be the last element: `free` destroys it when its last user drops it.
template <class Threading>
class RetireList : public ListReaders<Threading>, public Retired {
    using GracePeriod = typename ReadersOf<Threading>::GracePeriod;
    template <class T>
    using Atomic = typename PlatformOf<Threading>::template Atomic<T>;
    using Clock = typename PlatformOf<Threading>::Clock;
    using Tick = typename Clock::duration::rep;

public:
    using Lock = LockOf<Threading>;
    using Guard = std::lock_guard<Lock>;

    RetireList() noexcept = default;
    template <class Registry>
    explicit RetireList(Registry& registry) noexcept
        : ListReaders<Threading>{ReadersOf<Threading>(registry)} {}

    // Users keep the owner from being destroyed, because a destructor of an element may end its
    // list. The first user is the list that made the owner. Relaxed, both: other threads' calls of
    // a list end before its destructor begins.
    void addUser() noexcept { users_.fetch_add(1U, std::memory_order_relaxed); }
    void drop() noexcept {
        if (users_.fetch_sub(1U, std::memory_order_relaxed) == 1) {
            this->free(*this);
        }
    }

    // A call that finds both at its end must collect(). Relaxed, all: E1, by the fence before them.
    [[nodiscard]] bool hasAny() const noexcept { return hasAny_.load(std::memory_order_relaxed); }
    [[nodiscard, gnu::cold]] bool isDue() const noexcept {
        return hasPeriod_.load(std::memory_order_relaxed) ||
               nextPeriod_.load(std::memory_order_relaxed) <= now();
    }

    [[nodiscard]] std::size_t sizeApprox() const noexcept {
        return size_.load(std::memory_order_relaxed);  // relaxed: a count
    }

    /// Adds an unlinked element. The caller later calls collect(), unless it is inside a call of
    /// the list.
    void add(const Guard& /*guard*/, Retired& element) noexcept {
        element.nextRetired = nullptr;
        (first_ != nullptr ? last_->nextRetired : first_) = &element;
        last_ = &element;
        // Relaxed, both: written under the lock; E1.
        size_.store(sizeApprox() + 1, std::memory_order_relaxed);
        hasAny_.store(true, std::memory_order_relaxed);
    }

    /// The next collect() need not wait for the time of a period.
    void makeDue(const Guard& /*guard*/) noexcept {
        nextPeriod_.store(std::numeric_limits<Tick>::min(), std::memory_order_relaxed);
    }

    /// Frees the elements that no call uses, without waiting. The caller holds no lock.
    ///
    /// While the list is being called, it begins one period in 200 us, or one for each 256
    /// elements. The other elements wait for the first call or removal after that time, or for
    /// makeDue().
    [[gnu::cold, gnu::noinline]] void collect() noexcept {
        addUser();
        Begun begun;
        while (moveOn(begun)) {
            if (begun.passed == nullptr) {
                begun.period = this->readers.beginGrace();  // E1
            } else if (begun.passed == this) {
                drop();
            } else {
                Freeing::free(*begun.passed);
            }
        }
        drop();
    }

    /// Takes all elements, in the order of removal. No other thread uses this object.
    Retired* takeAll() noexcept {
        taken_ += sizeApprox();
        passed_ = batch_ = taken_;
        size_.store(0, std::memory_order_relaxed);  // relaxed, all: no other thread
        hasPeriod_.store(false, std::memory_order_relaxed);
        hasAny_.store(false, std::memory_order_relaxed);
        return std::exchange(first_, nullptr);
    }

    mutable Lock lock;

private:
    // Elements have numbers, in the order of removal. Invariants, under the lock: first_ to last_
    // link the elements taken_ + 1 to taken_ + size_, oldest first. Those up to passed_ may be
    // freed. While hasPeriod_, one thread makes the fence, or the elements up to batch_ wait, which
    // were retired before period_ began; otherwise batch_ is passed_. hasAny_ is true while there
    // are elements. Numbers may wrap around.
    //
    // Happens-before edges:
    //   E1 begin  element unlinked, hasAny_ and hasPeriod_ stored, heavy() | guard ended, light(),
    //             both loaded. Either hasPassed() sees the guard's end, or the call collects.
    //   E2 free   a read guard -> E1 of the registry -> hasPassed() -> destructor
    //
    // Both stay true until the batch has passed, so E1 holds for each of its hasPassed(), on
    // whichever thread.

    /// What one collect() does next.
    struct Begun {
        Retired* passed = nullptr;  // an element to be freed, or null: begin a period
        bool isBegun = false;
        std::size_t number = 0;  // the period is for the elements up to this one
        GracePeriod period{};
    };

    /// Returns false if there is nothing to do now.
    bool moveOn(Begun& begun) noexcept {
        const Guard guard(lock);
        if (std::exchange(begun.isBegun, false)) {
            batch_ = begun.number;
            period_ = begun.period;
        }
        if (hasPeriod_.load(std::memory_order_relaxed)) {  // relaxed: written under the lock
            if (batch_ == passed_ || !this->readers.hasPassed(period_)) {  // E2
                return false;
            }
            passed_ = batch_;
            hasPeriod_.store(false, std::memory_order_relaxed);
        }
        if (first_ == nullptr) {
            hasAny_.store(false,
                          std::memory_order_relaxed);  // relaxed: a call may collect once more
            return false;
        }
        begun.passed = nullptr;
        if (taken_ != passed_) {
            ++taken_;
            size_.store(sizeApprox() - 1, std::memory_order_relaxed);
            begun.passed = std::exchange(first_, first_->nextRetired);
        } else if (mayBegin()) {
            hasPeriod_.store(true, std::memory_order_relaxed);  // E1
            begun.isBegun = true;
            begun.number = taken_ + sizeApprox();
        } else {
            return false;
        }
        return true;
    }

    /// A limit, because a fence beside running threads takes up to 20 us.
    bool mayBegin() noexcept {
        if (this->readers.looksUnread()) {
            return true;
        }
        const Tick time = now();
        if (time < nextPeriod_.load(std::memory_order_relaxed) && sizeApprox() < many) {
            return false;
        }
        nextPeriod_.store(time + interval, std::memory_order_relaxed);
        return true;
    }

    static Tick now() noexcept { return Clock::now().time_since_epoch().count(); }

    static constexpr Tick interval =
        std::chrono::duration_cast<typename Clock::duration>(std::chrono::microseconds(200))
            .count();
    static constexpr std::size_t many = 256;

    Atomic<bool> hasAny_{false};
    Atomic<bool> hasPeriod_{false};  // a thread makes the fence of a period, or a batch waits
    Atomic<Tick> nextPeriod_{std::numeric_limits<Tick>::min()};  // none begins before
    Atomic<unsigned> users_{1};
    Atomic<std::size_t> size_{0};
    Retired* first_ = nullptr;
    Retired* last_ = nullptr;
    std::size_t taken_ = 0;
    std::size_t passed_ = 0;
    std::size_t batch_ = 0;
    GracePeriod period_{};
};

/// One call of a list.
template <class Threading>
class Call {
    using Readers = ReadersOf<Threading>;

public:
    explicit Call(RetireList<Threading>& retired) : leaving_{retired}, guard_(retired.readers) {}

private:
    struct Leaving {
        RetireList<Threading>& retired;
        ~Leaving() {
            Readers::fence();  // E1
            if (__builtin_expect(retired.hasAny(), 0) && retired.isDue()) {
                retired.collect();
            }
        }
    };

    Leaving leaving_;  // destroyed after the guard
    typename Readers::ReadGuard guard_;
};

}  // namespace detail
}  // namespace sluice
