#include "support/sanitizers.hpp"
#include "support/watchdog.hpp"
#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/thread_options.hpp>
#include <sluice/actor/thread_pool.hpp>

#include <gtest/gtest.h>

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <new>
#include <string>
#if defined(__cpp_exceptions)
#include <stdexcept>
#endif

#if defined(__linux__)
namespace sluice {
namespace {

using namespace test;

/// Asks the system about its thread.
class Witness : public ActiveObject<Witness, Messages<int>> {
public:
    void handle(const int&) {
        char text[16] = "";
        (void)pthread_getname_np(pthread_self(), text, sizeof text);
        name = text;
        CPU_ZERO(&processors);
        (void)pthread_getaffinity_np(pthread_self(), sizeof processors, &processors);
        sched_param parameters{};
        (void)pthread_getschedparam(pthread_self(), &policy, &parameters);
        priority = parameters.sched_priority;
    }
    void run(const ThreadOptions& options) {
        ASSERT_EQ(post(1), SendResult::ok);
        ASSERT_TRUE(start(options));
        EXPECT_TRUE(stopAfterDrain(late()));
        EXPECT_TRUE(join());
    }

    std::string name;
    cpu_set_t processors{};
    int policy = -1;
    int priority = -1;
};

unsigned usableProcessor() {
    cpu_set_t processors;
    CPU_ZERO(&processors);
    (void)pthread_getaffinity_np(pthread_self(), sizeof processors, &processors);
    unsigned last = 0;
    for (unsigned i = 0; i < CPU_SETSIZE; ++i) {
        last = CPU_ISSET(i, &processors) ? i : last;
    }
    return last;
}

TEST(ThreadOptionsTest, NameProcessorAndPolicyReachTheThread) {
    const Watchdog watchdog([](std::FILE*) {});
    Witness witness;
    ThreadOptions options;
    options.name = "fifteen letters";
    options.processor = usableProcessor();
    options.policy = SchedulingPolicy::other;
    witness.run(options);
    EXPECT_EQ(witness.name, "fifteen letters");
    EXPECT_EQ(CPU_COUNT(&witness.processors), 1);
    EXPECT_TRUE(CPU_ISSET(*options.processor, &witness.processors));
    EXPECT_EQ(witness.policy, SCHED_OTHER);
}

#if defined(__cpp_exceptions)
std::string refusalOf(Witness& witness, const ThreadOptions& options) {
    try {
        (void)witness.start(options);
    } catch (const std::invalid_argument& refusal) {
        return refusal.what();
    }
    return "";
}

void expectRefused(const ThreadOptions& options, const std::string& text) {
    Witness witness;
    EXPECT_EQ(refusalOf(witness, options).substr(0, text.size()), text);
    EXPECT_TRUE(witness.join());  // there is no thread
    witness.run({});              // and it may be started with other options
    EXPECT_EQ(witness.statistics().total().delivered, 1U);
}

TEST(ThreadOptionsTest, RefusalNamesTheValueAndTheLimitAndLeavesNothing) {
    const Watchdog watchdog([](std::FILE*) {});
    expectRefused({"sixteen letters!"}, "length of the name of an object's thread: 16, limit 15");
    expectRefused({"", CPU_SETSIZE}, "processor of an object's thread: 1024, limit ");
    expectRefused({"", CPU_SETSIZE - 1},
                  "processor of an object's thread, not usable by this program: 1023, limit ");
    expectRefused({"", {}, SchedulingPolicy::fifo, 100},
                  "priority of an object's thread: 100, limit 99");
    expectRefused({"", {}, SchedulingPolicy::roundRobin, 0},
                  "priority of an object's thread, below the limit: 0, limit 1");
}

#if defined(GTEST_HAS_DEATH_TEST) && !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN &&                     \
    !defined(SLUICE_TEST_EMULATED)  // an emulator cannot start the program again
/// In a process that has no memory for the stack of a thread.
[[noreturn]] void exitRefused() {
    Witness witness;
    rlimit limit{};
    limit.rlim_cur = limit.rlim_max = 1;
    (void)setrlimit(RLIMIT_AS, &limit);
    const std::string refusal = refusalOf(witness, {});
    bool isNamed = refusal.find("one more thread, refused by the system") == 0;
    try {
        const ThreadPool pool(1);
        isNamed = false;
    } catch (const std::bad_alloc&) {  // no memory for the messages, either
    } catch (const std::invalid_argument& error) {
        isNamed = isNamed && std::string(error.what()).find("one more thread") == 0;
    }
    std::_Exit(isNamed && witness.join() ? 0 : 1);
}

TEST(ThreadOptionsDeathTest, ARefusalByTheSystemNamesItsError) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(exitRefused(), testing::ExitedWithCode(0), "");
}

/// A figure of this process: see proc_pid_status(5).
unsigned long statusFigure(const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.compare(0, name.size(), name) == 0) {
            return std::stoul(line.substr(name.size()));
        }
    }
    return 0;
}

/// In a process that has memory for the stacks of a few threads.
[[noreturn]] void exitWithoutThreads() {
    rlimit limit{};
    limit.rlim_cur = statusFigure("VmSize:") * 1024 + (rlim_t{128} << 20U);
    limit.rlim_max = RLIM_INFINITY;
    (void)setrlimit(RLIMIT_AS, &limit);
    ExecutorOptions options;
    options.maxMessages = 16;
    bool isRefused = false;
    try {
        const ThreadPool pool(1000, options);
    } catch (const std::invalid_argument& error) {
        isRefused = std::string(error.what()).find("one more thread") == 0;
    }
    const bool hasOneThread = statusFigure("Threads:") == 1;
    const ThreadPool pool(1, options);
    std::_Exit(isRefused && hasOneThread ? 0 : 1);
}

TEST(ThreadOptionsDeathTest, APoolWhoseLastThreadIsRefusedLeavesNone) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(exitWithoutThreads(), testing::ExitedWithCode(0), "");
}
#endif

TEST(ThreadOptionsTest, RealTimePolicyIsObtainedOrRefusedByName) {
    const Watchdog watchdog([](std::FILE*) {});
    const ThreadOptions options{"", {}, SchedulingPolicy::fifo, 1};
    Witness witness;
    const std::string refusal = refusalOf(witness, options);
    if (refusal.empty()) {
        ASSERT_EQ(witness.post(1), SendResult::ok);
        EXPECT_TRUE(witness.stopAfterDrain(late()));
        EXPECT_TRUE(witness.join());
        EXPECT_EQ(witness.policy, SCHED_FIFO);
        EXPECT_EQ(witness.priority, 1);
    } else {
        EXPECT_NE(refusal.find("refused by the system: see RLIMIT_RTPRIO: 1, limit "),
                  std::string::npos);
        EXPECT_TRUE(witness.join());
    }
}
#endif

}  // namespace
}  // namespace sluice
#endif
