#include <sluice/log/backend.hpp>
#include <sluice/log/logger.hpp>

#include <spdlog/sinks/sink.h>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

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

}  // namespace
}  // namespace sluice::log
