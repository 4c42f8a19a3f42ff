#pragma once

#include "harness/machine/affinity.hpp"
#include "harness/machine/clock.hpp"
#include "harness/run/counts.hpp"
#include "harness/run/message.hpp"
#include "harness/run/round.hpp"

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace sluice::bench {

using TestMessage = Message<64>;

struct Unpaced {
    void polled(std::size_t) noexcept {}
    void full() noexcept {}
};

enum class Fault { none, loses, doubles, reorders, corrupts, refuses, drops, stalls };

/// A time that passes only when somebody looks at it, or when a test says so.
struct FakeClock {
    static inline std::atomic<Nanoseconds> time{0};
    static Nanoseconds now() noexcept { return time += 10; }
};

constexpr Nanoseconds stallTime = 10000000;

/// A plain queue under a lock that does one thing wrong, once, to message number 100: or, where it
/// refuses, from then on.
template <Fault TheFault>
class LockedQueue {
public:
    LockedQueue(std::size_t capacity, std::size_t) : capacity_(capacity) {}

    struct Producer {
        LockedQueue& queue;
        Push tryPush(const TestMessage& message) { return queue.push(message); }
    };

    struct Consumer {
        LockedQueue& queue;
        template <class Handler>
        std::size_t poll(Handler&& handler) {
            const std::optional<TestMessage> message = queue.pop();
            if (message) {
                handler(*message);
            }
            return message ? 1 : 0;
        }
    };

    Producer producer() { return {*this}; }
    Consumer consumer() { return {*this}; }

private:
    Push push(TestMessage message) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (messages_.size() >= capacity_) {
            return Push::rejected;
        }
        if (TheFault == Fault::refuses && pushes_ >= 100) {
            return Push::rejected;
        }
        const bool now = ++pushes_ == 100;
        if (TheFault == Fault::drops && now) {
            return Push::dropped;
        }
        if (TheFault == Fault::stalls && now) {
            FakeClock::time += stallTime;
        }
        if (TheFault == Fault::corrupts && now) {
            message.words.back() ^= 1;
        }
        if (TheFault != Fault::loses || !now) {
            messages_.push_back(message);
        }
        if (TheFault == Fault::doubles && now) {
            messages_.push_back(message);
        }
        if (TheFault == Fault::reorders && pushes_ == 101 && messages_.size() >= 2) {
            std::swap(messages_[messages_.size() - 1], messages_[messages_.size() - 2]);
            swapped_ = true;
        }
        return Push::accepted;
    }

    std::optional<TestMessage> pop() {
        const std::lock_guard<std::mutex> lock(mutex_);
        // Two messages must be there to be swapped, so number 100 waits for the next one.
        const bool held = TheFault == Fault::reorders && pushes_ == 100 && !swapped_;
        if (messages_.empty() || held) {
            return std::nullopt;
        }
        const TestMessage message = messages_.front();
        messages_.pop_front();
        return message;
    }

    const std::size_t capacity_;
    std::mutex mutex_;
    std::deque<TestMessage> messages_;
    std::uint64_t pushes_ = 0;
    bool swapped_ = false;
};

/// Every thread on one CPU: then the tests also run where there is only one.
inline RoundPlan smallPlan(std::size_t producers) {
    const int cpu = allowedCpus().front();
    RoundPlan plan;
    plan.placement.consumerCpu = cpu;
    plan.placement.producerCpus.assign(producers, cpu);
    plan.placement.oversubscribed = true;
    plan.capacity = 16;
    plan.runIn = 50;
    plan.messages = 1000;
    plan.stallNs = 100e6;
    return plan;
}

/// Open loop: a message each microsecond for 20 ms, into a queue that has room for all of them.
inline RoundPlan openLoopPlan() {
    RoundPlan plan = smallPlan(1);
    plan.messages = 20000;
    plan.runIn = 0;
    plan.capacity = 1 << 15;
    plan.intervalNs = 1000;
    return plan;
}

/// Rounds leave their thread pinned; tests that come later should not inherit that.
template <class Run>
Round onAThread(Run run) {
    Round round;
    std::thread([&] { round = run(); }).join();
    return round;
}

}  // namespace sluice::bench
