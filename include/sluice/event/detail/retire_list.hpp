#pragma once

#include <sluice/base/reader_registry.hpp>
#include <sluice/event/detail/policy_traits.hpp>

#include <atomic>
#include <cstddef>
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
    Readers(const Readers&) = delete;
    Readers& operator=(const Readers&) = delete;

    /// Returns true inside a call on this thread.
    bool isInside() const noexcept { return registry_.isInside(this); }
    /// Returns true if no other running thread has called a list of this registry.
    bool isAlone() const noexcept { return registry_.isAlone(); }
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

    SingleThreadReaders() noexcept = default;
    SingleThreadReaders(const SingleThreadReaders&) = delete;
    SingleThreadReaders& operator=(const SingleThreadReaders&) = delete;

    bool isInside() const noexcept { return calls_ != 0; }
    bool isAlone() const noexcept { return true; }
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
/// The owner may be the last element: `free` destroys it when the last User ends.
template <class Threading>
class RetireList : public ListReaders<Threading>, public Retired {
    using GracePeriod = typename ReadersOf<Threading>::GracePeriod;
    template <class T>
    using Atomic = typename PlatformOf<Threading>::template Atomic<T>;

public:
    using Lock = LockOf<Threading>;
    using Guard = std::lock_guard<Lock>;

    RetireList() noexcept = default;
    template <class Registry>
    explicit RetireList(Registry& registry) noexcept
        : ListReaders<Threading>{ReadersOf<Threading>(registry)} {}

    /// Keeps the owner from being destroyed, because a destructor of an element may end its list.
    class User {
    public:
        explicit User(RetireList& list) noexcept : list_(list) { list.addUser(); }
        User(const User&) = delete;
        User& operator=(const User&) = delete;
        ~User() { list_.drop(); }

    private:
        RetireList& list_;
    };

    // The first user is the list that made the owner. Relaxed, both: other threads' calls of a list
    // end before its destructor begins.
    void addUser() noexcept { users_.fetch_add(1U, std::memory_order_relaxed); }
    void drop() noexcept {
        if (users_.fetch_sub(1U, std::memory_order_relaxed) == 1) {
            this->free(*this);
        }
    }

    /// Returns true if a call must collect() at its end.
    [[nodiscard]] bool hasAny() const noexcept {
        return hasAny_.load(std::memory_order_relaxed);  // relaxed: E1, by the fence before it
    }

    /// The number of elements, including those that are waiting for a batch.
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

    /// Frees the elements that no call uses, without waiting. The caller holds no lock.
    [[gnu::cold, gnu::noinline]] void collect() noexcept {
        const User user(*this);
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
    }

    /// Takes all elements, in the order of removal. No other thread uses this object.
    Retired* takeAll() noexcept {
        taken_ += sizeApprox();
        passed_ = batch_ = taken_;
        size_.store(0, std::memory_order_relaxed);  // relaxed, both: no other thread
        hasAny_.store(false, std::memory_order_relaxed);
        return std::exchange(first_, nullptr);
    }

    mutable Lock lock;

private:
    // Elements have numbers, in the order of removal. Invariants, under the lock: first_ to last_
    // link the elements taken_ + 1 to taken_ + size_, oldest first. Those up to passed_ may be
    // freed. If batch_ is not passed_, the elements up to batch_ were retired before period_ began.
    // hasAny_ is true while there are elements. Numbers may wrap around.
    //
    // Happens-before edges:
    //   E1 begin  element unlinked, hasAny_ stored, heavy() | guard ended, light(), hasAny_ loaded.
    //             Either hasPassed() sees the guard's end, or the call sees hasAny_ and collects.
    //   E2 free   a read guard -> E1 of the registry -> hasPassed() -> destructor
    //
    // hasAny_ stays true from an element's add() until it is taken out, so E1 holds for each
    // hasPassed() of its batch, on whichever thread.

    /// What one collect() does next.
    struct Begun {
        Retired* passed = nullptr;  // an element to be freed, or null: begin a period
        bool isBegun = false;
        std::size_t number = 0;  // the period is for the elements up to this one
        GracePeriod period{};
    };

    /// Returns false if calls use the oldest element, or if there is none.
    bool moveOn(Begun& begun) noexcept {
        const Guard guard(lock);
        if (taken_ == passed_ && batch_ == passed_ && begun.isBegun &&
            begun.number - taken_ - 1 < sizeApprox()) {  // no other thread has taken them since
            batch_ = begun.number;
            period_ = begun.period;
        }
        if (taken_ == passed_ && batch_ != passed_) {
            if (!this->readers.hasPassed(period_)) {  // E2
                return false;
            }
            passed_ = batch_;
        }
        if (first_ == nullptr) {
            hasAny_.store(false,
                          std::memory_order_relaxed);  // relaxed: a call may collect once more
            return false;
        }
        begun.passed = nullptr;
        if (taken_ == passed_) {
            begun.isBegun = true;
            begun.number = taken_ + sizeApprox();
        } else {
            ++taken_;
            size_.store(sizeApprox() - 1, std::memory_order_relaxed);
            begun.passed = std::exchange(first_, first_->nextRetired);
        }
        return true;
    }

    Atomic<bool> hasAny_{false};  // a call must collect() at its end
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
            if (__builtin_expect(retired.hasAny(), 0)) {
                retired.collect();
            }
        }
    };

    Leaving leaving_;  // destroyed after the guard
    typename Readers::ReadGuard guard_;
};

}  // namespace detail
}  // namespace sluice
