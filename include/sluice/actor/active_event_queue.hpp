#pragma once

#include <sluice/actor/detail/handler_wait.hpp>
#include <sluice/actor/detail/own_thread.hpp>
#include <sluice/actor/thread_options.hpp>
#include <sluice/base/assert.hpp>
#include <sluice/base/counter.hpp>
#include <sluice/event/event_queue.hpp>
#include <sluice/wait/park.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace sluice {

/// An EventQueue with its own thread, which calls the listeners.
///
///     sluice::ActiveEventQueue<std::string, void(int)> events;
///     const auto handle = events.appendListener("speed", [](int speed) { ... });
///     events.start({"events"});
///     events.enqueue("speed", 3);  // any thread; the listener runs on the thread of `events`
///
/// If the handlers are known at compile time, use ActiveObject, which is several times faster and
/// has priorities and a bounded mailbox.
///
/// Thread safety: as for EventQueue. Any thread may call start(), stop(), stopAfterDrain() and
/// join(). A listener must not destroy the queue, nor call std::exit() if the queue is static.
///
/// Errors: if a listener throws, the queue counts the failure and continues with the next event.
/// The destructor stops the queue and waits for the running listener.
template <class Event, class Prototype, class Policies = DefaultPolicies>
class ActiveEventQueue : public EventQueue<Event, Prototype, Policies> {
    using Queue = EventQueue<Event, Prototype, Policies>;

public:
    using Queue::Queue;
    ActiveEventQueue(const ActiveEventQueue&) = delete;
    ActiveEventQueue& operator=(const ActiveEventQueue&) = delete;
    ~ActiveEventQueue() {
        stop();
        if (!join()) {
            failAssertion({"outside of its listeners",
                           "an active event queue is destroyed by its own listener, perhaps in "
                           "std::exit(): call stop() there, and let another thread destroy it",
                           __FILE__, __LINE__});
        }
    }

    /// Starts the queue's thread. Returns false if the queue was started or stopped before. If the
    /// system refuses a thread, start() calls setupError() and leaves the queue unchanged.
    bool start(const ThreadOptions& options = {}) {
        return !this->isClosed() &&
               lifecycle_.start(
                   options,
                   [](void* self) noexcept { static_cast<ActiveEventQueue*>(self)->work(); }, this,
                   [](bool /*isStarting*/) {});
    }

    /// Makes later enqueue() calls return false, and destroys the queued events. Events that the
    /// queue's thread has already taken are still dispatched.
    void stop() {
        isDiscarding_.store(true, std::memory_order_relaxed);  // value only
        this->close();
        this->clearEvents();
    }

    /// Makes enqueue() return false, and waits until the queued events are dispatched. After
    /// `timeout`, or if the queue was never started, calls stop() and returns false. In a listener,
    /// returns false without waiting; the queue's thread ends after the last queued event.
    template <class Rep, class Period>
    bool stopAfterDrain(std::chrono::duration<Rep, Period> timeout) {
        this->close();
        if (isHere()) {
            return false;
        }
        detail::HandlerWait::beforeWaitInHandler();
        const bool isUnstarted = lifecycle_.takeUnstarted();
        if (isUnstarted || !this->drainFor(timeout)) {
            stop();
        }
        if (isUnstarted) {
            lifecycle_.endedWithoutThread();
        }
        return !isDiscarding_.load(std::memory_order_relaxed);  // acquired before, by drainFor()
    }

    /// Waits until stop() or stopAfterDrain() has ended the queue's thread. In a listener, returns
    /// false without waiting.
    bool join() {
        if (isHere()) {
            return false;
        }
        detail::HandlerWait::beforeWaitInHandler();
        lifecycle_.join();
        return true;
    }

    /// Returns true if the caller is a listener on the queue's thread.
    [[nodiscard]] bool isHere() const noexcept {
        return servedBy_.load(std::memory_order_relaxed) ==
               StdPlatform::thisThread();  // value only
    }
    /// The number of exceptions thrown by listeners.
    [[nodiscard]] std::uint64_t failures() const noexcept { return failures_.get(); }

private:
    void work() noexcept {
        servedBy_.store(StdPlatform::thisThread(), std::memory_order_relaxed);  // value only
#if defined(__cpp_exceptions)
        for (bool isOver = false; !isOver;) {
            try {
                this->run();
                isOver = true;
            } catch (...) {
                failures_.add(1);
            }
        }
#else
        this->run();
#endif
        servedBy_.store(nullptr, std::memory_order_relaxed);  // value only
    }

    detail::ThreadLifecycle<StdPlatform, Park> lifecycle_;
    std::atomic<const void*> servedBy_{nullptr};  ///< the queue's thread, or null if none runs
    std::atomic<bool> isDiscarding_{false};       ///< set by stop()
    SingleWriterCounter<> failures_;
};

}  // namespace sluice
