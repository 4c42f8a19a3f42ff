// Whole runs of the program, and its options.

#include "hostwatch/event_log.hpp"
#include "hostwatch/monitor.hpp"
#include "hostwatch/options.hpp"
#include "hostwatch/readers.hpp"
#include "proc_tree.hpp"

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

class MonitorTest : public ::testing::Test {
protected:
    /// Runs until `condition` holds; a run that never gets there ends in the test's time limit.
    void runUntil(bool flood, EndWhen::Condition condition) {
        Options options;
        options.seconds = Options::mostSeconds;
        options.flood = flood;
        options.procDirectory = tree_.root();
        EndWhen display(std::move(condition));
        monitor_ = std::make_unique<Monitor>(options, display.reached, events_);
        monitor_->run(display);
    }

    template <class Message>
    sluice::MessageCounts counts() const {
        return monitor_->outcome().statistics.ofType(MessageTypes::indexOf<Message>);
    }
    sluice::MessageCounts counts(Priority priority) const {
        return monitor_->outcome().statistics.ofPriority(priority);
    }
    ReadingAccount::Readings readings(Source source) const {
        return monitor_->outcome().accounts[indexOf(source)].reading.readings();
    }

    static bool allRead(const View& view, std::uint64_t times) {
        return std::all_of(view.accounts.begin(), view.accounts.end(), [&](const Account& account) {
            return account.reading.readings().total >= times;
        });
    }

    test::ProcTree tree_;
    EventLog events_;
    std::unique_ptr<Monitor> monitor_;
};

TEST_F(MonitorTest, RaisesAnAlarmOnceAndTakesItBack) {
    test::writeGoodFiles(tree_);
    tree_.write("meminfo", test::meminfoOf(95));
    std::uint64_t enoughReadings = 0;
    bool hasRecovered = false;
    runUntil(false, [&](const View& view) {
        const bool isOn = view.figures.alarm(Source::memory).has_value();
        const auto seen = view.accounts[indexOf(Source::memory)].reading.readings().total;
        if (isOn && enoughReadings == 0) {
            enoughReadings = seen + 2;
        } else if (isOn && !hasRecovered && seen >= enoughReadings) {
            hasRecovered = true;
            tree_.write("meminfo", test::meminfoOf(50));
        }
        return hasRecovered && !isOn;
    });
    EXPECT_EQ(counts<Alarm>().delivered, 2U);
    EXPECT_TRUE(accountsAddUp(monitor_->outcome())) << report(monitor_->outcome());
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
