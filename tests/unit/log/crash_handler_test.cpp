#include "support/log_sinks.hpp"
#include "support/temporary_folder.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/crash_handler.hpp>
#include <sluice/log/logger.hpp>

#include "support/testing.hpp"
#include <spdlog/sinks/basic_file_sink.h>

#include <csignal>

namespace sluice::log {
namespace {

using namespace std::chrono_literals;

constexpr int lines = 2000;

/// As in a program without a sanitizer, which has handlers of its own.
void forgetHandlers() {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
        std::signal(signal, SIG_DFL);
    }
}

/// Logs, then runs `crash` while nearly everything waits in the lane.
template <class Crash>
void crashAfterLogging(const std::string& file, Crash crash) {
    install_crash_handler(std::chrono::minutes(1));
    const auto writer = std::make_shared<backend>();
    const auto sink = std::make_shared<spdlog::sinks::basic_file_sink_st>(file);
    async_logger logger("core", sink, writer);
    for (int i = 0; i < lines; ++i) {
        logger.info("text");
    }
    crash();
}

class LogCrashHandlerDeathTest : public testing::Test {
protected:
    LogCrashHandlerDeathTest() {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        std::remove(file.c_str());
    }
    ~LogCrashHandlerDeathTest() override { std::remove(file.c_str()); }

    /// Ends a child process by `crash`, and expects all lines in the file.
    template <class Crash, class Exit>
    void expectAllLines(Crash crash, Exit exit) {
        EXPECT_EXIT(crash(), exit, "");
        const std::string content = test::contentOf(file);
        EXPECT_EQ(std::count(content.begin(), content.end(), '\n'), lines);
    }

    // The death test's child is another process, which finds the name by the test's.
    const std::string file = testing::TempDir() + "sluice_crash_" +
                             testing::UnitTest::GetInstance()->current_test_info()->name() + ".txt";
};

TEST_F(LogCrashHandlerDeathTest, WritesWhatWasLoggedBeforeAFault) {
    const auto crash = [this] {
        forgetHandlers();
        crashAfterLogging(file, [] { raise(SIGSEGV); });
    };
    expectAllLines(crash, testing::KilledBySignal(SIGSEGV));
}

TEST_F(LogCrashHandlerDeathTest, AnEarlierHandlerHasTheLastWordAndLearnsTheAddressOfAFault) {
    const auto crash = [this] {
        struct sigaction handler {};
        handler.sa_flags = SA_SIGINFO;
        handler.sa_sigaction = [](int, siginfo_t* info, void*) {
            const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
            std::_Exit(info->si_code == SEGV_MAPERR && address == 0x1234 ? 7 : 8);
        };
        sigaction(SIGSEGV, &handler, nullptr);
        crashAfterLogging(file, [] {
            // NOLINTNEXTLINE(performance-no-int-to-ptr): an address where nothing is
            *reinterpret_cast<volatile int*>(std::uintptr_t{0x1234}) = 1;
        });
    };
    expectAllLines(crash, testing::ExitedWithCode(7));
}

TEST_F(LogCrashHandlerDeathTest, ASecondCrashIsOneToo) {
    const auto crash = [this] {
        std::signal(SIGFPE, [](int) {});  // the program survives it
        std::signal(SIGABRT, SIG_DFL);
        install_crash_handler(std::chrono::minutes(1));
        raise(SIGFPE);
        crashAfterLogging(file, [] { std::abort(); });
    };
    expectAllLines(crash, testing::KilledBySignal(SIGABRT));
}

TEST_F(LogCrashHandlerDeathTest, ACrashEndsIfTheEarlierHandlerLeadsBack) {
    const auto crash = [this] {
        static struct sigaction ours;
        forgetHandlers();
        install_crash_handler(1ms);
        sigaction(SIGSEGV, nullptr, &ours);
        std::signal(SIGSEGV, [](int) {
            static int calls = 0;
            sigaction(SIGSEGV, &ours, nullptr);
            raise(++calls == 3 ? SIGKILL : SIGSEGV);
        });
        crashAfterLogging(file, [] { raise(SIGSEGV); });
    };
    expectAllLines(crash, testing::KilledBySignal(SIGSEGV));
}

TEST_F(LogCrashHandlerDeathTest, GivesUpInTimeWhenASinkWaitsForTheCrashedThread) {
    const auto crash = [] {
        forgetHandlers();
        install_crash_handler(50ms);
        const auto writer = std::make_shared<backend>();
        const auto gated = std::make_shared<test::GatedSink>();
        async_logger logger("core", gated, writer);
        logger.info("held");
        gated->gate.awaitArrival();
        raise(SIGILL);
    };
    EXPECT_EXIT(crash(), testing::KilledBySignal(SIGILL), "");
}

TEST_F(LogCrashHandlerDeathTest, AWorkerThatCrashesItselfDoesNotWaitForItself) {
    const auto crash = [] {
        forgetHandlers();
        install_crash_handler(std::chrono::hours(1));
        const auto writer = std::make_shared<backend>();
        const auto sink = std::make_shared<test::CollectingSink>();
        sink->onLine = [](const spdlog::details::log_msg&) { raise(SIGBUS); };
        async_logger logger("core", sink, writer);
        logger.info("text");
        writer->flush_wait();
    };
    EXPECT_EXIT(crash(), testing::KilledBySignal(SIGBUS), "");
}

TEST(LogCrashHandler, RefusesASignalThatCannotBeHandled) {
    EXPECT_THROW(install_crash_handler(1s, {SIGKILL}), spdlog::spdlog_ex);
    EXPECT_THROW(install_crash_handler(1s, {1000}), spdlog::spdlog_ex);
}

}  // namespace
}  // namespace sluice::log
