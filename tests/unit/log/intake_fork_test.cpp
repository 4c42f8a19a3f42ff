#include "support/crew.hpp"
#include "support/intake_tools.hpp"
#include "support/stopping_clock.hpp"

#include <sluice/log/detail/lanes/intake.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::test {
namespace {

using log::detail::endOfTime;
using log::detail::PostResult;

using Intake = LabelIntake<StoppingTraits>;

/// Forks, and returns what `child` returned there.
template <class Child>
int exitCodeOf(Intake& intake, Child child) {
    intake.beforeFork();
    const pid_t pid = ::fork();
    if (pid == 0) {
        intake.afterForkInChild();
        ::_exit(child());
    }
    intake.afterForkInParent();
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

TEST(IntakeFork, TheChildBeginsAnewAndTheParentLosesNothing) {
    Intake intake;
    ASSERT_EQ(postText(intake, {0, 1}, "before the fork"), PostResult::ok);
    // Another thread is in the middle of a post, and one more has records.
    std::thread stopped([&intake] {
        StoppingClock::stops = true;
        ASSERT_EQ(postText(intake, {0, 2}, "half made at the fork"), PostResult::ok);
    });
    awaitThat([] { return StoppingClock::isStopped.load(); });
    std::atomic<bool> hasForked{false};
    std::thread other([&] {
        EXPECT_EQ(postText(intake, {0, 3}, "before the fork"), PostResult::ok);
        awaitThat([&] { return hasForked.load(); });
    });
    awaitThat([&] { return intake.statistics().messages == 2; });
    intake.look();

    const int code = exitCodeOf(intake, [&intake] {
        Checks checks;
        checks.expect(harvest(intake).empty());
        checks.expect(intake.statistics().lost == 1);
        for (std::uint32_t i = 0; i < 1000; ++i) {
            checks.expect(postText(intake, {1, i}, "in the child") == PostResult::ok);
            const auto all = harvest(intake);
            checks.expect(all.size() == 1 && all[0].label == Label{1, i});
        }
        checks.expect(intake.statistics().logged == 1000);
        checks.expect(intake.statistics().emitted == 1000);
        checks.expect(intake.statistics().lanes == 1);
        intake.close();
        intake.look();
        checks.expect(intake.isDrained());
        return checks.failed() == 0 ? 0 : 1 + checks.failed() % 100;
    });
    EXPECT_EQ(code, 0);
    hasForked = true;
    StoppingClock::mayGoOn = true;
    stopped.join();
    other.join();
    EXPECT_EQ(harvest(intake).size(), 3U);
    EXPECT_EQ(intake.statistics().lost, 0U);
}

// At whatever moment of the back end and of other threads. None of them allocates then, so that
// this test runs under AddressSanitizer, too: see SLUICE_TEST_FORKS.
TEST(IntakeFork, WhileEverybodyIsAtWork) {
    Intake intake;
    std::atomic<bool> isOver{false};
    std::atomic<std::uint64_t> accepted{0};
    std::atomic<std::uint64_t> emitted{0};
    Crew crew;
    for (std::uint32_t t = 0; t < 3; ++t) {
        crew.add([&, t] {
            for (std::uint32_t i = 0; !isOver.load(); ++i) {
                accepted += postBytes(intake, {t, i}, 20, overrunning) == PostResult::ok ? 1 : 0;
            }
        });
    }
    crew.start();
    std::thread backEnd([&] {
        while (!intake.isDrained()) {
            intake.look();
            emitted += intake.emitBefore(endOfTime, 256, [](const Intake::Record&) {});
        }
    });
    awaitThat([&] { return intake.statistics().lanes == 3 && emitted.load() >= 10'000; });
    for (int i = 0; i < 50; ++i) {
        const int code = exitCodeOf(intake, [&intake] {
            Checks checks;
            checks.expect(harvest(intake).empty());
            checks.expect(postText(intake, {9, 9}, "in the child") == PostResult::ok);
            checks.expect(harvest(intake).size() == 1);
            intake.look();
            checks.expect(intake.statistics().lanes == 1);
            return checks.failed();
        });
        ASSERT_EQ(code, 0);
    }
    isOver = true;
    crew.join();
    intake.close();
    backEnd.join();
    EXPECT_EQ(emitted.load() + intake.statistics().overrun, accepted.load());
}

}  // namespace
}  // namespace sluice::test

#endif
