#pragma once

#include <sluice/event/detail/queue/coroutine_waiter.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// Resumes a coroutine on the thread that woke it.
struct ResumeHere {
    template <class Handle>
    void operator()(Handle handle) const {
        handle.resume();
    }
};

/// The awaiter of `co_await queue.next()`. The type of the coroutine's handle is a template
/// parameter, so the class is the same before and after C++20.
template <class Store, class Queued, class Resume>
class [[nodiscard]] NextEvent : private CoroutineWaiter {
    static_assert(std::is_nothrow_move_constructible_v<Queued>,
                  "next() moves the event out, but moving one of its arguments may throw: use "
                  "wait() and takeEvent()");

public:
    NextEvent(Store& store, Resume resume)
        : CoroutineWaiter(&look), store_(store), resume_(std::move(resume)) {}
    NextEvent(const NextEvent&) = delete;
    NextEvent& operator=(const NextEvent&) = delete;
    /// A coroutine may be destroyed while it waits.
    ~NextEvent() {
        if (isWaiting) {
            store_.forget(*this);
        }
    }

    // The language prescribes these names.
    bool await_ready() { return hasTaken(); }  // NOLINT(readability-identifier-naming)

    /// Returns false if the coroutine need not wait.
    template <class Handle>
    bool await_suspend(Handle handle) {  // NOLINT(readability-identifier-naming)
        coroutine_ = handle.address();
        goOn_ = &goOn<Handle>;
        return !isDone();
    }

    /// Returns the event, or nullopt if the queue is closed and all events have been handled.
    std::optional<Queued> await_resume() {  // NOLINT(readability-identifier-naming)
        return std::move(taken_);
    }

private:
    /// Returns true if it has taken an event or the store has ended. Otherwise `*this` waits, and
    /// another thread may have destroyed it already.
    bool isDone() {
        while (!hasTaken()) {
            switch (store_.suspend(*this)) {
            case SuspendResult::waits:
                return false;
            case SuspendResult::ended:
                return true;
            case SuspendResult::hasEvent:
                break;
            }
        }
        return true;
    }

    bool hasTaken() {
        if (!store_.isReady()) {
            return false;
        }
        typename Store::Batch events(store_, Store::Batch::Amount::one);
        if (!events.hasNext()) {
            return false;
        }
        taken_.emplace(std::move(events.front()));
        events.drop();
        return true;
    }

    static void look(CoroutineWaiter& waiter) {
        auto& self = static_cast<NextEvent&>(waiter);
        if (self.isDone()) {
            self.goOn_(self);
        }
    }

    /// The coroutine destroys `self`, so this function moves `resume_` out first.
    template <class Handle>
    static void goOn(NextEvent& self) {
        const Handle handle = Handle::from_address(self.coroutine_);
        Resume resume = std::move(self.resume_);
        resume(handle);
    }

    Store& store_;
    Resume resume_;
    void* coroutine_ = nullptr;
    void (*goOn_)(NextEvent&) = nullptr;
    std::optional<Queued> taken_;
};

}  // namespace sluice::detail
