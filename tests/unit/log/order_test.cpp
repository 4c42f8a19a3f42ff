#include "support/crew.hpp"
#include "support/log_sinks.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/logger.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sluice::log {
namespace {

/// What a thread saw of one of its calls, on a clock that is the same for all.
struct Call {
    std::int64_t before;
    std::int64_t after;
};

std::int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

/// Threads that log "thread number", and what they saw of each call.
class Calls {
public:
    Calls(std::size_t threads, std::size_t each) : calls_(threads, std::vector<Call>(each)) {}

    template <class Logger>
    void run(Logger& logger, std::size_t thread) {
        for (std::size_t i = 0; i < calls_[thread].size(); ++i) {
            Call& call = calls_[thread][i];
            call.before = now();
            logger.info("{} {}", thread, i);
            call.after = now();
        }
    }

    /// How many lines stand behind one whose call began after their call had returned.
    std::size_t misplaced(const std::vector<std::string>& texts) const {
        std::size_t count = 0;
        std::int64_t latestBegin = 0;
        for (const std::string& text : texts) {
            const std::size_t space = text.find(' ');
            const Call& call = calls_[std::stoul(text)][std::stoul(text.substr(space))];
            count += call.after < latestBegin ? 1 : 0;
            latestBegin = std::max(latestBegin, call.before);
        }
        return count;
    }

private:
    std::vector<std::vector<Call>> calls_;
};

class LogOrder : public testing::Test {
protected:
    static constexpr std::size_t threads = 8;

    std::shared_ptr<backend> make(std::size_t room) {
        backend_options options;
        options.queue_size = room;
        return std::make_shared<backend>(options);
    }

    template <class Logger>
    void expectOrder(const std::shared_ptr<backend>& writer, Logger& logger) {
        const test::Watchdog watchdog([](std::FILE*) {});
        const std::size_t each = test::scaled(10000);
        Calls calls(threads, each);
        test::Crew crew;
        for (std::size_t i = 0; i < threads; ++i) {
            crew.add([&, i] { calls.run(logger, i); });
        }
        crew.join();
        ASSERT_TRUE(writer->flush_wait());
        const std::vector<std::string> texts = sink->texts();
        EXPECT_EQ(texts.size(), threads * each);
        EXPECT_EQ(calls.misplaced(texts), 0u);
    }

    std::shared_ptr<test::CollectingSink> sink = std::make_shared<test::CollectingSink>();
};

TEST_F(LogOrder, LinesStandInTheOrderOfTheCalls) {
    const auto writer = make(8192);
    async_logger logger("core", sink, writer);
    expectOrder(writer, logger);
}

TEST_F(LogOrder, AlsoWhenCallersWaitForRoom) {
    const auto writer = make(16);
    async_logger logger("core", sink, writer);
    expectOrder(writer, logger);
}

}  // namespace
}  // namespace sluice::log
