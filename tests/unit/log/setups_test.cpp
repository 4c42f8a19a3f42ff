// A program that was written for spdlog's asynchronous mode, as a test. A comment `was:` has
// the statement that stood in the place of the next one. So these comments count the lines that
// change besides the include. CMake writes two copies of this file with the old statements: one
// includes <spdlog/async.h>, the other <sluice/log/spdlog_async.hpp>. All three run.

#include "support/crew.hpp"
#include "support/temporary_folder.hpp"

#include <sluice/log.hpp>

#include "support/testing.hpp"
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

namespace sluice::test {
namespace {

class LogSetups : public testing::Test {
protected:
    ~LogSetups() override {
        spdlog::shutdown();
        spdlog::set_level(spdlog::level::info);
        spdlog::set_pattern("%+");
    }

    std::size_t linesOf(const std::string& file, const std::string& with = "") const {
        const std::string content = contentOf(folder_ / file);
        std::istringstream lines(content);
        std::size_t count = 0;
        for (std::string line; std::getline(lines, line);) {
            count += line.find(with) != std::string::npos ? 1 : 0;
        }
        return count;
    }

    TemporaryFolder folder_;
};

/// One manager, a logger for the engine and one for the game, both on two sinks.
class GameLog {
public:
    GameLog(const std::string& file, std::ostream& console) {
        // was: spdlog::init_thread_pool(32768, 1);
        sluice::log::init(32768, 1);
        auto screen = std::make_shared<spdlog::sinks::ostream_sink_mt>(console);
        screen->set_level(spdlog::level::warn);
        auto disk = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file, true);
        disk->set_pattern("[%T.%e] [%t] [%n] [%l] %v");
        sinks_ = {screen, disk};
        engine = make("engine");
        game = make("game");
        spdlog::set_default_logger(game);
    }
    ~GameLog() {
        engine.reset();
        game.reset();
        spdlog::shutdown();
    }
    GameLog(const GameLog&) = delete;
    GameLog& operator=(const GameLog&) = delete;

    std::shared_ptr<spdlog::logger> engine;
    std::shared_ptr<spdlog::logger> game;

private:
    std::shared_ptr<spdlog::logger> make(const std::string& name) {
        // clang-format off
        // was: auto made = std::make_shared<spdlog::async_logger>(name, begin(sinks_), end(sinks_), spdlog::thread_pool());
        auto made = std::make_shared<sluice::log::async_logger>(name, begin(sinks_), end(sinks_), sluice::log::default_backend());
        // clang-format on
        made->set_level(spdlog::level::trace);
        made->flush_on(spdlog::level::err);
        spdlog::register_logger(made);
        return made;
    }

    std::vector<spdlog::sink_ptr> sinks_;
};

TEST_F(LogSetups, AGamesLogManager) {
    std::ostringstream console;
    {
        const GameLog log(folder_ / "game.log", console);
        Crew crew;
        for (int worker = 0; worker < 4; ++worker) {
            crew.add([&log, worker] {
                for (int frame = 0; frame < 100; ++frame) {
                    log.engine->trace("worker {} draws frame {}", worker, frame);
                }
            });
        }
        crew.join();
        spdlog::info("level {} is loaded", 3);
        spdlog::error("no sound device");
    }
    EXPECT_EQ(linesOf("game.log"), 402u);
    EXPECT_EQ(linesOf("game.log", "[engine] [trace] worker 3 draws frame"), 100u);
    EXPECT_EQ(linesOf("game.log", "[game] [info] level 3 is loaded"), 1u);
    EXPECT_NE(console.str().find("no sound device"), std::string::npos);
    EXPECT_EQ(console.str().find("level 3"), std::string::npos);
}

}  // namespace
}  // namespace sluice::test
