#include "support/crew.hpp"
#include "support/record_queue_tools.hpp"
#include "support/stopping_clock.hpp"

#include <sluice/log/detail/lanes/record_queue.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::test {
namespace {

using log::detail::endOfTime;

using RecordQueue = LabelQueue<StoppingTraits>;

/// Forks, and returns what `child` returned there.
template <class Child>
int exitCodeOf(RecordQueue& queue, Child child) {
    queue.lock();
    const pid_t pid = ::fork();
    if (pid == 0) {
        queue.resetInChild();
        queue.unlock();
        ::_exit(child());
    }
    queue.unlock();
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// The number of the first check that failed in the child, which cannot tell otherwise.
class Checks {
public:
    void expect(bool isTrue) {
        ++count_;
        failed_ = failed_ == 0 && !isTrue ? count_ : failed_;
    }
    [[nodiscard]] int failed() const { return failed_; }

private:
    int count_ = 0;
    int failed_ = 0;
};

TEST(RecordQueueFork, TheChildBeginsAnewAndTheParentLosesNothing) {
    RecordQueue queue;
    ASSERT_EQ(postText(queue, {0, 1}, "before the fork"), SendResult::ok);
    // Another thread is in the middle of a post, and one more has records.
    std::thread stopped([&queue] {
        StoppingClock::stops = true;
        ASSERT_EQ(postText(queue, {0, 2}, "half made at the fork"), SendResult::ok);
    });
    awaitThat([] { return StoppingClock::isStopped.load(); });
    std::atomic<bool> hasForked{false};
    std::thread other([&] {
        EXPECT_EQ(postText(queue, {0, 3}, "before the fork"), SendResult::ok);
        awaitThat([&] { return hasForked.load(); });
    });
    awaitThat([&] { return queue.statistics().messages == 2; });
    queue.poll();

    const int code = exitCodeOf(queue, [&queue] {
        Checks checks;
        checks.expect(emitAll(queue).empty());
        for (std::uint32_t i = 0; i < 1000; ++i) {
            checks.expect(postText(queue, {1, i}, "in the child") == SendResult::ok);
            const auto all = emitAll(queue);
            checks.expect(all.size() == 1 && all[0].label == Label{1, i});
        }
        checks.expect(queue.statistics().logged == 1000);
        checks.expect(queue.statistics().emitted == 1000);
        checks.expect(queue.statistics().lanes == 1);
        queue.close();
        queue.poll();
        checks.expect(queue.isDrained());
        return checks.failed() == 0 ? 0 : 1 + checks.failed() % 100;
    });
    EXPECT_EQ(code, 0);
    hasForked = true;
    StoppingClock::mayGoOn = true;
    stopped.join();
    other.join();
    EXPECT_EQ(emitAll(queue).size(), 3U);
}

// At whatever moment of threads that post, between two batches of the back end. None of them
// allocates then, so that this test runs under AddressSanitizer, too: see SLUICE_TEST_FORKS.
TEST(RecordQueueFork, WhileThreadsPost) {
    RecordQueue queue;
    std::mutex batches;
    std::atomic<bool> isOver{false};
    std::atomic<std::uint64_t> accepted{0};
    std::atomic<std::uint64_t> emitted{0};
    Crew crew;
    for (std::uint32_t t = 0; t < 3; ++t) {
        crew.add([&, t] {
            for (std::uint32_t i = 0; !isOver.load(); ++i) {
                accepted += postBytes(queue, {t, i}, 20, dropping) == SendResult::ok ? 1 : 0;
            }
        });
    }
    crew.start();
    std::thread backEnd([&] {
        while (!queue.isDrained()) {
            const std::lock_guard<std::mutex> lock(batches);
            queue.poll();
            emitted += queue.emitBefore(endOfTime, 256, [](const RecordQueue::Record&) {});
        }
    });
    awaitThat([&] { return queue.statistics().lanes == 3 && emitted.load() >= 10'000; });
    for (int i = 0; i < 50; ++i) {
        const std::lock_guard<std::mutex> lock(batches);
        const int code = exitCodeOf(queue, [&queue] {
            Checks checks;
            checks.expect(emitAll(queue).empty());
            checks.expect(postText(queue, {9, 9}, "in the child") == SendResult::ok);
            checks.expect(emitAll(queue).size() == 1);
            queue.poll();
            checks.expect(queue.statistics().lanes == 1);
            return checks.failed();
        });
        ASSERT_EQ(code, 0);
    }
    isOver = true;
    crew.join();
    queue.close();
    backEnd.join();
    EXPECT_EQ(emitted.load() + queue.statistics().dropped, accepted.load());
}

}  // namespace
}  // namespace sluice::test

#endif
