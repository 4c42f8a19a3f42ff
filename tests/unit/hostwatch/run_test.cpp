// Whole runs of the program, and its options.

#include "hostwatch/event_log.hpp"
#include "hostwatch/monitor.hpp"
#include "hostwatch/options.hpp"
#include "hostwatch/readers.hpp"
#include "support/temporary_folder.hpp"
#include "support/testing.hpp"

namespace hostwatch {
namespace {

using namespace std::chrono_literals;

/// Ends the run as soon as the view shows what the test waits for.
class EndWhen final : public Display {
public:
    using Condition = std::function<bool(const View&)>;

    explicit EndWhen(Condition condition) : condition_(std::move(condition)) {}

    Clock::duration period() const override { return 1ms; }
    void show(const View& view) override {
        if (condition_(view)) {
            reached.store(true, std::memory_order_relaxed);
        }
    }

    std::atomic<bool> reached{false};

private:
    Condition condition_;
};

TEST(MonitorTest, RaisesAnAlarmOnceAndTakesItBack) {
    const sluice::test::TemporaryFolder folder;
    const auto use = [&folder](int percent) {
        std::ofstream(folder / "meminfo") << "MemTotal: 100 kB\nMemAvailable: " << 100 - percent
                                          << " kB\nCached: 0 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n";
    };
    use(95);
    std::uint64_t enoughReadings = 0;
    bool hasRecovered = false;
    // A run that never gets there ends in the test's time limit.
    EndWhen display([&](const View& view) {
        const bool isOn = view.figures.alarm(Source::memory).has_value();
        const auto seen = view.accounts[indexOf(Source::memory)].reading.readings().total;
        if (isOn && enoughReadings == 0) {
            enoughReadings = seen + 2;
        } else if (isOn && !hasRecovered && seen >= enoughReadings) {
            hasRecovered = true;
            use(50);
        }
        return hasRecovered && !isOn;
    });
    Options options;
    options.seconds = Options::mostSeconds;
    options.procDirectory = folder / "";
    EventLog events;
    Monitor monitor(options, display.reached, events);
    monitor.run(display);
    EXPECT_EQ(monitor.outcome().statistics.ofType(MessageTypes::indexOf<Alarm>).delivered, 2U);
    EXPECT_TRUE(accountsAddUp(monitor.outcome())) << report(monitor.outcome());
}

sluice::Expected<Options, std::string> parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "hostwatch");
    return parseOptions(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Options, AreTakenInAnyOrder) {
    const std::string directory = ::testing::TempDir();
    const auto options =
        parse({"--proc", directory.c_str(), "--flood", "--seconds", "86400", "--log", "events"});
    ASSERT_TRUE(options);
    EXPECT_EQ(options->seconds, 86400);
    EXPECT_TRUE(options->flood);
    EXPECT_EQ(options->procDirectory, directory);
    EXPECT_EQ(options->logFile, "events");
    EXPECT_TRUE(parse({"--help"})->help);
    EXPECT_EQ(parse({"--seconds", "1"})->seconds, 1);
}

}  // namespace
}  // namespace hostwatch
