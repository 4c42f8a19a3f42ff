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

// Readers traverse a list without a lock while other threads change it. Removed elements are
// retired, and freed when no reader can use them: see docs/algorithms/reader-registry.md.

namespace sluice {
namespace [[gnu::visibility("default")]] detail {

/// The registry is never destroyed, because static objects may use it. Each shared library with
/// hidden symbols has its own registry. A list never changes its registry.
template <class Platform>
BasicReaderRegistry<Platform>& sharedReaderRegistry() noexcept {
    static BasicReaderRegistry<Platform>& shared = *new BasicReaderRegistry<Platform>;
    return shared;
}

/// Tracks the calls of one list that several threads use.
template <class Threading>
class Readers {
public:
    using Platform = PlatformOf<Threading>;
    using Registry = BasicReaderRegistry<Platform>;
    using GracePeriod = typename Registry::GracePeriod;

    class ReadGuard {
    public:
        explicit ReadGuard(const Readers& readers) : section_(readers.registry_.enter(&readers)) {}

    private:
        typename Registry::ReadGuard section_;
    };

    Readers() noexcept : Readers(sharedReaderRegistry<Platform>()) {}
    explicit Readers(Registry& registry) noexcept : registry_(registry) {}

    bool isInside() const noexcept { return registry_.isInside(this); }
    /// Returns true if no other thread has a slot in the registry, so no other thread is reading.
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

/// Tracks the calls of a list that one thread at a time uses.
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
        // A copy of calls_, because a load in the destructor would wait for an earlier store.
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

struct Retired {
    Retired* nextRetired = nullptr;
    void (*free)(Retired&) = nullptr;
};

/// Frees retired elements, and knows which elements this thread is freeing.
class Freeing {
public:
    static void free(Retired& element) noexcept {
        const Freeing current(element);
        element.free(element);
    }
    static void freeAll(Retired* first) noexcept {
        while (first != nullptr) {
            free(*std::exchange(first, first->nextRetired));
        }
    }

    /// Returns true if this thread is in the destructor of the element.
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

/// Must be the first base class: calls are faster if `readers` is at the list's address.
template <class Threading>
struct ListReaders {
    const ReadersOf<Threading> readers;
};

/// The retired elements of one list, with the list's lock and readers.
///
/// Elements are freed in batches, oldest first. A batch is freed when all calls that began before
/// its grace period have ended. The destructor of an element may wait for other elements, because
/// elements stay in the RetireList until they are freed.
///
/// The last element may be the RetireList itself, whose `free` destroys the derived CallbackCore.
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

    // Users keep the RetireList alive, because an element's destructor may destroy the
    // CallbackList, which is the first user. Relaxed: value only.
    void addUser() noexcept { users_.fetch_add(1U, std::memory_order_relaxed); }
    void drop() noexcept {
        if (users_.fetch_sub(1U, std::memory_order_relaxed) == 1) {
            this->free(*this);
        }
    }

    // A call that ends must run collect() if hasAny() and isDue() return true. Relaxed by E1.
    [[nodiscard]] bool hasAny() const noexcept { return hasAny_.load(std::memory_order_relaxed); }
    [[nodiscard, gnu::cold]] bool isDue() const noexcept {
        return hasPeriod_.load(std::memory_order_relaxed) ||
               nextPeriod_.load(std::memory_order_relaxed) <= now();
    }

    [[nodiscard]] std::size_t sizeApprox() const noexcept {
        return size_.load(std::memory_order_relaxed);  // value only
    }

    /// Adds an unlinked element. Outside of calls, the caller must run collect() afterwards.
    void add(const Guard& /*guard*/, Retired& element) noexcept {
        element.nextRetired = nullptr;
        (first_ != nullptr ? last_->nextRetired : first_) = &element;
        last_ = &element;
        // Relaxed by E1.
        size_.store(sizeApprox() + 1, std::memory_order_relaxed);
        hasAny_.store(true, std::memory_order_relaxed);
    }

    /// Lets the next collect() begin a grace period immediately.
    void makeDue(const Guard& /*guard*/) noexcept {
        nextPeriod_.store(std::numeric_limits<Tick>::min(), std::memory_order_relaxed);
    }

    /// Frees the elements that no call uses, without waiting. The caller must not hold a lock.
    ///
    /// While calls are running, a new grace period begins only 200 us after the previous one, or
    /// with 256 elements. Elements that wait for a new grace period are freed by the first call or
    /// removal after the 200 us, or after makeDue().
    [[gnu::cold, gnu::noinline]] void collect() noexcept {
        addUser();
        Begun begun;
        while (moveOn(begun)) {
            if (begun.passed == nullptr) {
                begun.period = this->readers.beginGrace();  // E1 begin
            } else if (begun.passed == this) {
                drop();
            } else {
                Freeing::free(*begun.passed);
            }
        }
        drop();
    }

    /// Takes all elements in the order of removal. No other thread may use this RetireList.
    Retired* takeAll() noexcept {
        taken_ += sizeApprox();
        passed_ = batch_ = taken_;
        size_.store(0, std::memory_order_relaxed);  // not shared
        hasPeriod_.store(false, std::memory_order_relaxed);
        hasAny_.store(false, std::memory_order_relaxed);
        return std::exchange(first_, nullptr);
    }

    mutable Lock lock;

private:
    // Elements are numbered in the order of removal. The chain from first_ to last_ has the
    // elements taken_ + 1 to taken_ + size_. Elements up to passed_ may be freed. While hasPeriod_
    // is set, elements up to batch_ wait for the end of period_.
    //
    // Happens-before edges (proof: docs/algorithms/reader-registry.md):
    //   E1 begin: collect <-> the end of a Call.
    //   E2 free: ReadGuard -> hasPassed.

    struct Begun {
        Retired* passed = nullptr;  // the element to free, or null to begin a grace period
        bool isBegun = false;
        std::size_t number = 0;  // the last element that the grace period covers
        GracePeriod period{};
    };

    bool moveOn(Begun& begun) noexcept {
        const Guard guard(lock);
        if (std::exchange(begun.isBegun, false)) {
            batch_ = begun.number;
            period_ = begun.period;
        }
        if (hasPeriod_.load(std::memory_order_relaxed)) {                  // under the lock
            if (batch_ == passed_ || !this->readers.hasPassed(period_)) {  // E2 free
                return false;
            }
            passed_ = batch_;
            hasPeriod_.store(false, std::memory_order_relaxed);
        }
        if (first_ == nullptr) {
            hasAny_.store(false, std::memory_order_relaxed);
            return false;
        }
        begun.passed = nullptr;
        if (taken_ != passed_) {
            ++taken_;
            size_.store(sizeApprox() - 1, std::memory_order_relaxed);
            begun.passed = std::exchange(first_, first_->nextRetired);
        } else if (mayBegin()) {
            hasPeriod_.store(true, std::memory_order_relaxed);  // E1 begin
            begun.isBegun = true;
            begun.number = taken_ + sizeApprox();
        } else {
            return false;
        }
        return true;
    }

    /// Limits the rate of grace periods, because each has a fence of up to 20 us.
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
    Atomic<bool> hasPeriod_{false};  // true while a grace period begins or lasts
    Atomic<Tick> nextPeriod_{std::numeric_limits<Tick>::min()};  // the earliest next grace period
    Atomic<unsigned> users_{1};
    Atomic<std::size_t> size_{0};
    Retired* first_ = nullptr;
    Retired* last_ = nullptr;
    std::size_t taken_ = 0;
    std::size_t passed_ = 0;
    std::size_t batch_ = 0;
    GracePeriod period_{};
};

template <class Threading>
class Call {
    using Readers = ReadersOf<Threading>;

public:
    explicit Call(RetireList<Threading>& retired) : leaving_{retired}, guard_(retired.readers) {}

private:
    struct Leaving {
        RetireList<Threading>& retired;
        ~Leaving() {
            Readers::fence();  // E1 begin
            if (SLUICE_UNLIKELY(retired.hasAny()) && retired.isDue()) {
                retired.collect();
            }
        }
    };

    Leaving leaving_;  // destroyed after the guard
    typename Readers::ReadGuard guard_;
};

}  // namespace detail
}  // namespace sluice
