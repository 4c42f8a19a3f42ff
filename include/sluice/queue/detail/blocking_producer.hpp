#pragma once

#include <sluice/queue/blocking_queue.hpp>

#include <chrono>
#include <utility>

namespace sluice {

/// A producer's handle of the queue inside, with the push functions of BlockingQueue.
template <class Queue, class Wait, class Pacing>
template <class Q>
class BlockingQueue<Queue, Wait, Pacing>::BasicProducer {
public:
    SendResult tryPush(const value_type& value) { return queue_->tryPushInto(handle_, value); }
    SendResult tryPush(value_type&& value) {
        return queue_->tryPushInto(handle_, std::move(value));
    }

    template <class... Args>
    SendResult tryEmplace(Args&&... args) {
        return queue_->tryPushInto(handle_, std::forward<Args>(args)...);
    }

    template <class... Args>
    SendResult emplace(Args&&... args) {
        return queue_->pushInto(handle_, std::forward<Args>(args)...);
    }

    SendResult push(const value_type& value) { return queue_->pushInto(handle_, value); }
    SendResult push(value_type&& value) { return queue_->pushInto(handle_, std::move(value)); }

    template <class Rep, class Period>
    SendResult pushFor(const value_type& value, std::chrono::duration<Rep, Period> atMost) {
        return queue_->pushUntil(deadlineAfter<Clock>(atMost), handle_, value);
    }
    template <class Rep, class Period>
    SendResult pushFor(value_type&& value, std::chrono::duration<Rep, Period> atMost) {
        return queue_->pushUntil(deadlineAfter<Clock>(atMost), handle_, std::move(value));
    }

    BasicProducer(BasicProducer&&) noexcept = default;
    BasicProducer& operator=(BasicProducer&& other) noexcept {
        if (this != &other) {
            close();
            queue_ = other.queue_;
            handle_ = std::move(other.handle_);
        }
        return *this;
    }
    ~BasicProducer() { close(); }

    /// Lets go of the handle; pushed messages are still delivered. May be called repeatedly.
    void close() noexcept {
        if (handle_.isOpen()) {
            handle_.close();
            // Wakes a sleeping consumer: only the consumer takes out this producer's lane.
            queue_->arrived_.notifyAll();
        }
    }

    [[nodiscard]] bool isOpen() const noexcept { return handle_.isOpen(); }

private:
    friend class BlockingQueue;
    explicit BasicProducer(BlockingQueue& queue)
        : queue_(&queue), handle_(queue.queue_.producer()) {}

    BlockingQueue* queue_;
    typename Q::Producer handle_;
};

}  // namespace sluice
