/// \file
/// The active object that programs write by hand: a mutex, a condition variable, a deque, and
/// messages as functions.

#include "adapters/actor_subjects.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

namespace sluice::bench {

namespace {

class LockedDeque {
public:
    explicit LockedDeque(std::size_t capacity) : capacity_(capacity), thread_([this] { work(); }) {}
    LockedDeque(const LockedDeque&) = delete;
    LockedDeque& operator=(const LockedDeque&) = delete;
    ~LockedDeque() {
        {
            const std::lock_guard lock(mutex_);
            isEnding_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }

    bool post(std::function<void()> message) {
        {
            const std::lock_guard lock(mutex_);
            if (messages_.size() == capacity_) {
                return false;
            }
            messages_.push_back(std::move(message));
        }
        changed_.notify_one();
        return true;
    }

private:
    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return isEnding_ || !messages_.empty(); });
            if (messages_.empty()) {
                return;
            }
            const std::function<void()> message = std::move(messages_.front());
            messages_.pop_front();
            lock.unlock();
            message();
            lock.lock();
        }
    }

    const std::size_t capacity_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> messages_;
    bool isEnding_ = false;
    std::thread thread_;
};

template <class Message>
class Receiver {
public:
    Receiver(std::size_t capacity, Handled& handled) : handled_(handled), deque_(capacity) {}
    bool tryPush(const Message& message) {
        return deque_.post([this, message] { handled_.take(message); });
    }

private:
    Handled& handled_;
    LockedDeque deque_;
};

class Replier {
public:
    std::uint64_t ask(std::uint64_t number) {
        std::promise<std::uint64_t> reply;
        (void)deque_.post([&reply, number] { reply.set_value(number + 1); });
        return reply.get_future().get();
    }

private:
    LockedDeque deque_{1024};
};

}  // namespace

void addLockedDeque(ActorSubjects& subjects) {
    Subject info;
    info.id = "std/locked deque";
    info.library = "C++ standard library";
    info.use = "mutex, condition_variable, deque of std::function";
    info.features.topology = "any thread";
    info.features.order = "all producers";
    info.features.bound = "exact";
    info.features.allocates = true;
    info.features.blocking = true;
    info.features.typeErasure = true;
    subjects.push_back({info});
    addReceiver<Receiver<SmallActorMessage>, Receiver<ActorMessage>, Receiver<LargeActorMessage>>(
        subjects.back());
    addReplier<Replier>(subjects.back());
}

}  // namespace sluice::bench
