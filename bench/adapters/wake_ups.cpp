/// \file
/// The machine's time to wake a sleeping thread that wakes the first one again: the floor under a
/// request between two sleeping threads.

#include "adapters/actor_subjects.hpp"

#include <atomic>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace sluice::bench {

namespace {

/// A number that one thread writes and another one sleeps for.
class Bell {
public:
    void ring(std::uint32_t number) {
        number_.store(number, std::memory_order_release);
        (void)syscall(SYS_futex, &number_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
    /// Sleeps while the number is `before`.
    std::uint32_t await(std::uint32_t before) const {
        std::uint32_t number = before;
        while ((number = number_.load(std::memory_order_acquire)) == before) {
            (void)syscall(SYS_futex, &number_, FUTEX_WAIT_PRIVATE, before, nullptr, nullptr, 0);
        }
        return number;
    }

private:
    std::atomic<std::uint32_t> number_{0};
};

class Replier {
public:
    Replier() : thread_([this] { work(); }) {}
    Replier(const Replier&) = delete;
    Replier& operator=(const Replier&) = delete;
    ~Replier() {
        question_.ring(end);
        thread_.join();
    }

    std::uint64_t ask(std::uint64_t number) {
        asked_ = asked_ % (end - 1) + 1;
        const std::uint32_t before = replied_;
        question_.ring(asked_);
        replied_ = reply_.await(before);
        return replied_ == asked_ ? number + 1 : 0;
    }

private:
    static constexpr std::uint32_t end = UINT32_MAX;

    void work() {
        for (std::uint32_t number = question_.await(0); number != end;
             number = question_.await(number)) {
            reply_.ring(number);
        }
    }

    Bell question_;
    Bell reply_;
    std::uint32_t asked_ = 0;
    std::uint32_t replied_ = 0;
    std::thread thread_;
};

}  // namespace

void addWakeUps(ActorSubjects& subjects) {
    Subject info;
    info.id = twoWakeUps;
    info.library = "Linux";
    info.features.topology = "one thread";  // at each end
    info.use = "two threads, a futex for each direction";
    subjects.push_back({info});
    addReplier<Replier>(subjects.back());
}

}  // namespace sluice::bench
