// A small robot: a sensor, a fusion of its readings, a motor with a state machine, and an emergency
// stop. The same objects run step by step, twice alike, and then on a pool of threads, where a
// watchdog sees a handler that does not return.

#include <sluice/actor.hpp>
#include <sluice/inspect/inspector.hpp>
#include <sluice/inspect/threads.hpp>

#if defined(ROBOT_HAS_LIVE)
#include <sluice/live/live_page.hpp>
#endif
#if defined(ROBOT_HAS_RECORD)
#include <sluice/record/recorder.hpp>
#include <sluice/record/replay.hpp>
#endif

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sluice::On;

// ---- Messages

struct Look {};
struct Distance {
    double metres = 0;
};
struct Start {};
struct TooNear {};
struct Clear {};
struct Emergency {};

// ---- The motor, and the states it can be in

class Motor;

struct Standing;
struct Running {
    using Initial = Standing;
};
struct Standing {
    using Parent = Running;
    static void enter(Motor& motor);
};
struct Driving {
    using Parent = Running;
    static void enter(Motor& motor);
};
struct Halted {
    static void enter(Motor& motor);
};

class Motor
    : public sluice::PooledObject<Motor, sluice::Messages<Start, TooNear, Clear, Emergency>> {
public:
    Motor() { machine_.start(); }

    void handle(const Start& start) { (void)machine_.handle(start); }
    void handle(const TooNear& tooNear) { (void)machine_.handle(tooNear); }
    void handle(const Clear& clear) { (void)machine_.handle(clear); }
    void handle(const Emergency& emergency) { (void)machine_.handle(emergency); }

    void becomes(const char* state) { trace_.emplace_back(state); }
    /// The states that the motor has entered. Read them after join().
    [[nodiscard]] const std::vector<std::string>& trace() const { return trace_; }

    // Nothing leads out of Halted: somebody has to come.
    using Table = sluice::Transitions<On<Standing, Start, Driving>,    //
                                      On<Driving, TooNear, Standing>,  //
                                      On<Standing, Clear, Driving>,    //
                                      On<Running, Emergency, Halted>>;
    using Machine = sluice::StateMachine<Motor, Running, Table>;

private:
    std::vector<std::string> trace_;
    Machine machine_{*this};
};

void Standing::enter(Motor& motor) {
    motor.becomes("stands");
}
void Driving::enter(Motor& motor) {
    motor.becomes("drives");
}
void Halted::enter(Motor& motor) {
    motor.becomes("halts");
}

// ---- The objects that command the motor

struct FusionTraits : sluice::PooledTraits {
    static constexpr bool handlerTimes = true;
};

/// Makes one distance of three readings.
class Fusion : public sluice::PooledObject<Fusion, sluice::Messages<Distance>, FusionTraits> {
public:
    explicit Fusion(Motor& motor) : motor_(motor) {}

    void handle(const Distance& distance) {
        if (record) {
            record(distance);
        }
        sum_ += distance.metres;
        if (++readings_ % 3 != 0) {
            return;
        }
        const double metres = std::exchange(sum_, 0) / 3;
        if (metres < 0.1) {
            (void)motor_.post(Emergency{}, sluice::Priority::high);
        } else if (metres < 0.5) {
            (void)motor_.post(TooNear{});
        } else {
            (void)motor_.post(Clear{});
        }
        if (onFused != nullptr) {
            onFused();
        }
    }
    void (*onFused)() = nullptr;
    std::function<void(const Distance&)> record;

private:
    Motor& motor_;
    double sum_ = 0;
    std::uint64_t readings_ = 0;
};

struct SensorTraits : sluice::PooledTraits {
    static constexpr std::size_t maxTimers = 1;
};

/// Looks every 10 ms. A wall comes nearer, goes away, and comes for good.
class Sensor : public sluice::PooledObject<Sensor, sluice::Messages<Look>, SensorTraits> {
public:
    explicit Sensor(Fusion& fusion) : fusion_(fusion) {}

    void begin() { (void)postEvery(10ms, Look{}); }
    void handle(const Look& /*look*/) {
        static constexpr double wall[] = {2, 2, 2, 0.4, 0.4, 0.4, 1.5, 1.5, 1.5, 0.05, 0.05, 0.05};
        (void)fusion_.post(Distance{wall[looks_ % std::size(wall)]});
        ++looks_;
    }

private:
    Fusion& fusion_;
    std::size_t looks_ = 0;
};

struct Robot {
    explicit Robot(sluice::Executor& executor)
        : motor(executor), fusion(executor, motor), sensor(executor, fusion) {}

    sluice::Running<Motor> motor;
    sluice::Running<Fusion> fusion;
    sluice::Running<Sensor> sensor;
};

/// Ten seconds of the motor on the executor's clock, where they pass at once.
std::vector<std::string> rehearse(std::uint64_t seed) {
    sluice::ManualExecutor executor(seed);
    Robot robot(executor);
    (void)robot.motor.post(Start{});
    robot.sensor.begin();
    executor.runFor(10s);
    return robot.motor.trace();
}

// ---- With a watchdog, on threads

std::atomic<bool> isReported{false};

/// A handler that does not go on until the watchdog has told of it.
void hang() {
    while (!isReported) {
        std::this_thread::yield();
    }
}

/// Calls prepare(robot) before the robot begins.
template <class Prepare>
std::vector<std::string> runOnThreads(const Prepare& prepare) {
    sluice::ThreadPool pool(2);
    sluice::Watchdog watchdog(20ms, [](const char* name, std::chrono::nanoseconds time) {
        std::printf("watchdog: the %s has handled one message for %lld ms\n", name,
                    static_cast<long long>(time / 1ms));
        isReported = true;
    });
    Robot robot(pool);
    robot.fusion.onFused = &hang;
    prepare(robot);
    const auto watchFusion = watchdog.watch(robot.fusion, "fusion");
    const auto watchMotor = watchdog.watch(robot.motor, "motor");
    watchdog.start(5ms);
    (void)robot.motor.post(Start{});
    robot.sensor.begin();
    while (robot.motor.handlerTimes().handled < 5) {
        std::this_thread::sleep_for(1ms);
    }
    const auto minute = std::chrono::steady_clock::now() + 1min;
    for (const bool isDrained :
         {robot.sensor.stopAfterDrain(minute), robot.fusion.stopAfterDrain(minute),
          robot.motor.stopAfterDrain(minute)}) {
        if (!isDrained) {
            std::puts("an object did not end within a minute");
        }
    }
    return robot.motor.trace();
}

void print(const char* title, const std::vector<std::string>& trace) {
    std::printf("%s:", title);
    for (const std::string& each : trace) {
        std::printf(" %s", each.c_str());
    }
    std::puts("");
}

// ---- Recorded on threads, and replayed step by step

int recordAndReplay([[maybe_unused]] const std::string& path,
                    const std::vector<std::string>& expected) {
#if defined(ROBOT_HAS_RECORD)
    std::vector<std::string> real;
    {
        sluice::Recorder recorder(path);
        real = runOnThreads([&](Robot& robot) {
            robot.fusion.record = recorder.channel<Distance>("fusion/Distance");
        });
    }
    print("recorded", real);
    sluice::ManualExecutor executor;
    Robot robot(executor);  // its sensor does not begin
    (void)robot.motor.post(Start{});
    sluice::Replay replay(path);
    replay.handle<Distance>([&](Distance&& each) { return robot.fusion.tryPost(each); });
    do {
        executor.runFor(replay.delay());
    } while (replay.step() == sluice::ReplayStep::delivered);
    executor.runAll();
    print("replayed", robot.motor.trace());
    return real == expected && robot.motor.trace() == expected ? 0 : 1;
#else
    (void)expected;
    std::fputs("robot: this build records nothing; build with SLUICE_RECORD=ON\n", stderr);
    return 2;
#endif
}

// ---- For a person who watches it

/// Runs the robot until Ctrl-C, on a page that shows it. Fusion hangs for 300 ms every 5 s.
int runWatched() {
#if defined(ROBOT_HAS_LIVE)
    static std::atomic<bool> isInterrupted{false};
    (void)std::signal(SIGINT, [](int) { isInterrupted = true; });
    sluice::ThreadPool pool(2);
    sluice::Watchdog watchdog(100ms, [](const char*, std::chrono::nanoseconds) {});
    Robot robot(pool);
    robot.fusion.onFused = [] {
        static int fused = 0;
        std::this_thread::sleep_for(++fused % 160 == 0 ? 300ms : 0ms);
    };
    const auto lateFusion = watchdog.watch(robot.fusion, "fusion");
    watchdog.start(20ms);

    sluice::Inspector inspector;
    const auto watchSensor = inspector.watch("sensor", robot.sensor);
    const auto watchFusion = inspector.watch("fusion", robot.fusion);
    const auto watchMotor = inspector.watch("motor", robot.motor);
    const auto watchPool = inspector.watch("pool", pool);
    const auto watchThreads = inspector.watch("threads", sluice::readThreads);
    const auto watchWatchdog = inspector.watch("watchdog", watchdog);
    inspector.addFlow("timer", "sensor");
    inspector.addFlow("sensor", "fusion");
    inspector.addFlow("fusion", "motor");
    sluice::LiveOptions options;
    options.title = "Robot";
    const sluice::LivePage page(inspector, options);
    std::printf("watch it at %s\n", page.address().c_str());
    std::fflush(stdout);

    (void)robot.motor.post(Start{});
    robot.sensor.begin();
    while (!isInterrupted) {
        std::this_thread::sleep_for(100ms);
    }
    return 0;
#else
    std::fputs("robot: this build has no page; build with SLUICE_LIVE=ON\n", stderr);
    return 2;
#endif
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::string_view(argv[1]) == "--watch") {
        return runWatched();
    }
    const std::vector<std::string> expected = {"stands", "drives", "stands", "drives", "halts"};
    if (argc == 3 && std::string_view(argv[1]) == "--record") {
        return recordAndReplay(argv[2], expected);
    }
    const std::vector<std::string> rehearsal = rehearse(1);
    print("step by step", rehearsal);
    const std::vector<std::string> again = rehearse(1);
    print("once more   ", again);
    const std::vector<std::string> real = runOnThreads([](Robot&) {});
    print("on threads  ", real);
    return rehearsal == expected && again == expected && real == expected ? 0 : 1;
}
