#include "support/log_sinks.hpp"
#include "support/scale.hpp"
#include "support/temporary_folder.hpp"

#include <sluice/log/functions.hpp>

#include "support/testing.hpp"
#include <spdlog/details/registry.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <thread>

#if SLUICE_HAS_POSIX
#include "support/forks.hpp"

#include <pthread.h>
#endif

namespace sluice::log {
namespace {

TEST(LogDefaultBackend, BeginsWithTheFirstUse) {
    set_default_backend(nullptr);
    const auto first = default_backend();
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(default_backend(), first);
    set_default_backend(nullptr);
    EXPECT_NE(default_backend(), first);
    set_default_backend(first);
    EXPECT_EQ(default_backend(), first);
}

TEST(LogDefaultBackend, LoggersKeepTheOneTheyWereMadeWith) {
    const auto first = default_backend();
    const auto logger = async_factory::create<test::CollectingSink>("kept");
    set_default_backend(nullptr);
    logger->info("text");
    EXPECT_TRUE(first->flush_wait());
    const auto sink = std::static_pointer_cast<test::CollectingSink>(logger->sinks().front());
    EXPECT_EQ(sink->texts().size(), 1u);
    spdlog::drop("kept");
}

// ---- the end of the program

/// Logs when it is destroyed, whenever that is.
class LateLogger {
public:
    LateLogger() = default;
    LateLogger(const LateLogger&) = delete;
    LateLogger& operator=(const LateLogger&) = delete;
    ~LateLogger() {
        if (logger_) {
            logger_->info(text_);
        }
    }
    void setTo(std::shared_ptr<spdlog::logger> logger, std::string text) {
        logger_ = std::move(logger);
        text_ = std::move(text);
    }

private:
    std::shared_ptr<spdlog::logger> logger_;
    std::string text_;
};

/// Ends the process the way main() does, having logged to `file` at every stage.
[[noreturn]] void logUntilTheEnd(const std::string& file) {
    static LateLogger early;  // destroyed after the default back end, which begins later
    set_default_backend(nullptr);
    auto logger = spdlog::basic_logger_mt<async_factory>("late", file);
    static LateLogger late;
    logger->set_pattern("%v");
    early.setTo(logger, "static, destroyed late");
    late.setTo(logger, "static, destroyed early");
    std::thread([&logger] {
        thread_local LateLogger last;
        last.setTo(logger, "thread_local");
        logger->info("thread");
    }).join();
    thread_local LateLogger mains;
    mains.setTo(logger, "thread_local of the main thread");
    for (int i = 0; i < 3; ++i) {
        logger->info("main");
    }
    logger.reset();
    std::exit(7);  // NOLINT(concurrency-mt-unsafe): nobody else is there
}

TEST(LogDefaultBackendDeathTest, WhatIsLoggedToTheVeryEndIsWritten) {
#if defined(SLUICE_TEST_EMULATED)
    GTEST_SKIP() << "the emulator cannot start the program again";
#endif
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const std::string file = testing::TempDir() + "sluice_late_log.txt";
    std::remove(file.c_str());
    EXPECT_EXIT(logUntilTheEnd(file), testing::ExitedWithCode(7), "");
    EXPECT_EQ(test::contentOf(file),
              "thread\nthread_local\nmain\nmain\nmain\nthread_local of the main thread\n"
              "static, destroyed early\nstatic, destroyed late\n");
    std::remove(file.c_str());
}

#if defined(__linux__)
/// Stops a thread at any instruction.
class Stopper {
public:
    Stopper() { std::signal(SIGUSR1, &stop); }
    Stopper(const Stopper&) = delete;
    Stopper& operator=(const Stopper&) = delete;
    ~Stopper() { std::signal(SIGUSR1, SIG_DFL); }

    void hold(std::thread& thread) {
        mayGo_ = false;
        ::pthread_kill(thread.native_handle(), SIGUSR1);
        while (!isHeld_) {
            std::this_thread::yield();
        }
    }
    void release() {
        mayGo_ = true;
        while (isHeld_) {
            std::this_thread::yield();
        }
    }

private:
    static void stop(int /*signal*/) {
        isHeld_ = true;
        while (!mayGo_) {
        }
        isHeld_ = false;
    }

    inline static std::atomic<bool> isHeld_{false};
    inline static std::atomic<bool> mayGo_{false};
};

/// Forks while another thread is stopped in its first use and has spdlog's lock.
[[noreturn]] void forkWhileSpdlogIsLocked() {
    spdlog::details::registry& registry = spdlog::details::registry::instance();
    const auto kept = default_backend();
    std::atomic<bool> isInUse{false};
    std::atomic<bool> isOver{false};
    std::thread user([&] {
        while (!isOver) {
            isInUse = false;
            registry.set_tp({});  // the next use is the first one again
            isInUse = true;
            set_default_backend(kept);
        }
    });
    Stopper stopper;
    for (bool isHit = false; !isHit;) {
        stopper.hold(user);
        const bool isFree = registry.tp_mutex().try_lock();
        if (isFree) {
            registry.tp_mutex().unlock();
        }
        isHit = isInUse && !isFree;
        if (!isHit) {
            stopper.release();
        }
    }
    isOver = true;
    // The sleep lets fork() come first. If it comes late, the test proves less.
    std::thread releasing([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        stopper.release();
    });
    const bool isRight = test::isTrueInChild([] { return default_backend() != nullptr; });
    releasing.join();
    user.join();
    std::_Exit(isRight ? 7 : 1);
}

void expectTheChildToBeRight(void (*forkAndExit)()) {
#if defined(SLUICE_TEST_EMULATED)
    GTEST_SKIP() << "the emulator cannot start the program again";
#endif
    if (test::underThreadSanitizer) {
        GTEST_SKIP() << "ThreadSanitizer lets no thread begin in the child of a fork";
    }
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(forkAndExit(), testing::ExitedWithCode(7), "");
}

TEST(LogDefaultBackendDeathTest, AThreadMayForkWhileAnotherOneHasTheLockOfSpdlog) {
    expectTheChildToBeRight(forkWhileSpdlogIsLocked);
}
#endif

}  // namespace
}  // namespace sluice::log
