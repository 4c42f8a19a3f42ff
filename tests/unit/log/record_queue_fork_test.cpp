#include "support/crew.hpp"
#include "support/record_queue_tools.hpp"
#include "support/stopping_clock.hpp"

#include <sluice/log/detail/lanes/record_queue.hpp>

#include "support/testing.hpp"
#include <thread>

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
        checks.expect(queue.laneCount() == 1);
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

}  // namespace
}  // namespace sluice::test

#endif
