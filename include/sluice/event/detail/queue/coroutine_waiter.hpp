#pragma once

#include <utility>

namespace sluice::detail {

/// A coroutine that waits until there is an event. It blocks no thread.
struct CoroutineWaiter {
    explicit CoroutineWaiter(void (*ownWake)(CoroutineWaiter&)) noexcept : wake(ownWake) {}
    CoroutineWaiter(const CoroutineWaiter&) = delete;
    CoroutineWaiter& operator=(const CoroutineWaiter&) = delete;

    /// Checks again whether the coroutine can go on. Each time the waiter was added to a list, the
    /// store calls it once.
    void (*const wake)(CoroutineWaiter&);
    CoroutineWaiter* next = nullptr;  ///< the next waiter of its list
    bool isWaiting = false;           ///< whether it is in a store's list

protected:
    ~CoroutineWaiter() = default;
};

/// The result of an attempt to wait.
enum class SuspendResult {
    waits,
    hasEvent,  ///< an event is there, so there is no wait
    ended      ///< there will be none
};

/// Waiting coroutines, in the order of their arrival. It has no lock.
class CoroutineWaiters {
public:
    bool isEmpty() const noexcept { return first_ == nullptr; }

    void append(CoroutineWaiter& waiter) noexcept {
        waiter.isWaiting = true;
        *end_ = &waiter;
        end_ = &waiter.next;
    }

    /// Takes out the first waiter. Returns nullptr if there is none.
    CoroutineWaiter* takeFirst() noexcept {
        if (first_ == nullptr) {
            return nullptr;
        }
        CoroutineWaiter* const waiter = first_;
        remove(first_);
        return waiter;
    }

    /// Takes out all waiters, linked by `next`.
    CoroutineWaiter* takeAll() noexcept {
        for (CoroutineWaiter* waiter = first_; waiter != nullptr; waiter = waiter->next) {
            waiter->isWaiting = false;
        }
        end_ = &first_;
        return std::exchange(first_, nullptr);
    }

    void remove(const CoroutineWaiter& waiter) noexcept {
        for (CoroutineWaiter** link = &first_; *link != nullptr; link = &(*link)->next) {
            if (*link == &waiter) {
                remove(*link);
                return;
            }
        }
    }

private:
    void remove(CoroutineWaiter*& link) noexcept {
        CoroutineWaiter& waiter = *link;
        if (end_ == &waiter.next) {
            end_ = &link;
        }
        link = std::exchange(waiter.next, nullptr);
        waiter.isWaiting = false;
    }

    CoroutineWaiter* first_ = nullptr;
    CoroutineWaiter** end_ = &first_;
};

[[gnu::cold, gnu::noinline]] inline void wakeEach(CoroutineWaiter* waiter) noexcept {
    while (waiter != nullptr) {
        CoroutineWaiter& next = *waiter;
        waiter = std::exchange(next.next, nullptr);
        next.wake(next);
    }
}

/// The caller holds no lock: each waiter may destroy itself and the queue.
inline void wakeAll(CoroutineWaiter* waiter) noexcept {
    if (waiter != nullptr) {
        wakeEach(waiter);
    }
}

}  // namespace sluice::detail
