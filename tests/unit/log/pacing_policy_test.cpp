#include <sluice/log/backend.hpp>
#include <sluice/log/logger.hpp>

#include <spdlog/sinks/sink.h>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#if defined(__linux__)
#include <cstdio>
#include <fstream>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#endif

// What the worker of a back end does while little is logged, seen from outside.

namespace sluice::log {
namespace {

/// Counts lines without a lock, so that the worker sleeps in its park alone.
class CountingSink final : public spdlog::sinks::sink {
public:
    void log(const spdlog::details::log_msg&) override {
        count_.fetch_add(1, std::memory_order_release);
    }
    void flush() override {}
    void set_pattern(const std::string&) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

    void await(int count) const {
        while (count_.load(std::memory_order_acquire) < count) {
            std::this_thread::yield();
        }
    }

private:
    std::atomic<int> count_{0};
};

TEST(LogPacing, EveryPolicyWritesWhatIsLogged) {
    for (const pacing_policy policy :
         {pacing_policy::park, pacing_policy::nap, pacing_policy::spin}) {
        backend_options options;
        options.pacing = policy;
        const auto by = std::make_shared<backend>(options);
        const auto sink = std::make_shared<CountingSink>();
        async_logger logger("paced", sink, by);
        for (int i = 1; i <= 20; ++i) {
            logger.info("{}", i);
            sink->await(i);
        }
        EXPECT_TRUE(by->flush_wait());
    }
}

#if defined(__linux__)
/// The worker as the kernel sees it.
class WatchedWorker {
public:
    backend_options watched() {
        backend_options options;
        options.on_thread_start = [this] {
            id_.store(::syscall(SYS_gettid), std::memory_order_release);
        };
        return options;
    }

    /// Whether the system says what its threads wait for.
    bool canBeWatched() const { return !callUnderWay().empty(); }

    void awaitPark() const {
        while (callUnderWay() != std::to_string(SYS_futex)) {
            std::this_thread::yield();
        }
    }

    /// How often it has gone to sleep.
    long sleeps() const {
        std::ifstream status(path("status"));
        for (std::string line; std::getline(status, line);) {
            long count = 0;
            if (std::sscanf(line.c_str(), "voluntary_ctxt_switches: %ld", &count) == 1) {
                return count;
            }
        }
        return -1;
    }

private:
    std::string path(const char* file) const {
        return "/proc/self/task/" + std::to_string(id_.load(std::memory_order_acquire)) + "/" +
               file;
    }
    /// The number of the system call that it is in; another word when it runs.
    std::string callUnderWay() const {
        std::ifstream file(path("syscall"));
        std::string number;
        file >> number;
        return number;
    }

    std::atomic<long> id_{0};
};

TEST(LogPacing, TheWorkerSleepsOnceForEachLoneRecord) {
    WatchedWorker worker;
    const auto by = std::make_shared<backend>(worker.watched());
    const auto sink = std::make_shared<CountingSink>();
    async_logger logger("sparse", sink, by);
    logger.info("the first record makes the lane");
    sink->await(1);
    if (!worker.canBeWatched()) {
        GTEST_SKIP() << "this system does not tell what a thread waits for";
    }
    worker.awaitPark();
    const long before = worker.sleeps();
    constexpr int records = 50;
    for (int i = 0; i < records; ++i) {
        logger.info("{}", i);
        sink->await(i + 2);
        worker.awaitPark();
    }
    EXPECT_LE(worker.sleeps() - before, 2 * records);
}
#endif

}  // namespace
}  // namespace sluice::log
