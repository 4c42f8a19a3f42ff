// The code of docs/guide/actors.md.
#include <sluice/actor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace {

struct Speed {
    double metresPerSecond;
};
struct Brake {
    std::string reason;
};

class Motor : public sluice::ActiveObject<Motor, sluice::Messages<Speed, Brake>> {
public:
    explicit Motor(double highest) : highest_(highest) {}

    void handle(const Speed& speed) {
        speed_ = speed.metresPerSecond < highest_ ? speed.metresPerSecond : highest_;
    }
    void handle(const Brake& brake, const Header& header) {
        std::printf("brake: %s, from %u\n", brake.reason.c_str(), header.sender);
        speed_ = 0;
    }
    [[nodiscard]] double speed() const { return speed_; }  // after join()

private:
    double highest_;
    double speed_ = 0;  // no lock: only the object's thread touches it
};

struct FewSpeeds : sluice::ActorTraits {
    template <class Message>
    static constexpr std::uint32_t maxInFlight = std::is_same_v<Message, Speed> ? 8 : 0;  // 0: none
};

static_assert(FewSpeeds::maxInFlight<Speed> == 8 && FewSpeeds::maxInFlight<Brake> == 0);

bool firstObject() {
    sluice::Running<Motor> motor({"motor"}, 2.5);

    (void)motor.post(Speed{1.5});
    (void)motor.post(Brake{"obstacle"}, {sluice::Priority::high, 7});

    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    return motor.stopAfterDrain(deadline) && motor.join() && motor.speed() >= 0;
}

bool posting() {
    Motor motor(2.5);  // without a thread: messages stay in the mailbox
    switch (motor.post(Speed{1}, sluice::Priority::low)) {
    case sluice::SendResult::ok:
        break;  // it will be handled, or counted as dropped or discarded
    case sluice::SendResult::full:
    case sluice::SendResult::closed:
        return false;  // the message is still the caller's
    }
    (void)motor.emplace<Brake>(Brake{"built in its slot"});
    (void)motor.tryPost(Speed{2});                                // never waits
    (void)motor.postFor(std::chrono::milliseconds(1), Speed{3});  // waits for room
    motor.stop();
    return motor.statistics().total().discarded == 4;
}

struct CurrentSpeed {};
using SpeedRequest = sluice::Request<CurrentSpeed, double>;

class Wheel : public sluice::ActiveObject<Wheel, sluice::Messages<Speed, SpeedRequest>> {
public:
    void handle(const Speed& speed) { speed_ = speed.metresPerSecond; }
    void handle(const SpeedRequest& request) { request.reply(speed_); }

private:
    double speed_ = 0;
};

bool requesting() {
    sluice::Running<Wheel> wheel;
    (void)wheel.post(Speed{1.5});
    const auto speed = wheel.request<double>(CurrentSpeed{}, std::chrono::minutes(1)).get();
    if (!speed) {
        std::printf("no reply: %d\n", static_cast<int>(speed.error()));
    }
    return speed && *speed == 1.5;
}

struct Restarts : sluice::ActorTraits {
    static constexpr sluice::OnFailure onFailure = sluice::OnFailure::restart;
    static constexpr unsigned restartLimit = 3;
    static constexpr std::chrono::nanoseconds restartPeriod = std::chrono::seconds(5);
};

class Parser : public sluice::ActiveObject<Parser, sluice::Messages<std::string>, Restarts> {
public:
    void handle(const std::string& text) { sum_ += std::stoi(text); }  // may throw
    void restart() { sum_ = 0; }
    void handlerFailed(const std::exception_ptr&) noexcept { std::puts("no number"); }

private:
    int sum_ = 0;
};

bool failing() {
    Parser parser;
    (void)parser.post(std::string("forty"));
    (void)parser.post(std::string("2"));
    (void)parser.start();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    const bool isDrained = parser.stopAfterDrain(deadline);
    (void)parser.join();
    return isDrained && parser.failures() == 1 && parser.restarts() == 1;
}

class Tested : public Motor {
public:
    using Motor::handleQueued;
    using Motor::Motor;
};

bool testing() {
    Tested motor(2.5);
    (void)motor.post(Speed{9});
    return motor.handleQueued() == 1 && motor.speed() == 2.5;
}

struct TwoTimers : sluice::ActorTraits {
    static constexpr std::size_t maxTimers = 2;
};

struct Poll {};
struct TimedOut {};

class Sensor : public sluice::ActiveObject<Sensor, sluice::Messages<Poll, TimedOut>, TwoTimers> {
public:
    void handle(const Poll&) {
        ++polls_;
        (void)cancel(timeout_);
        timeout_ = postAfter(std::chrono::milliseconds(50), TimedOut{});
    }
    void handle(const TimedOut&) { std::puts("no poll for 50 ms"); }

private:
    int polls_ = 0;
    sluice::Timer timeout_;
};

bool timing() {
    sluice::Running<Sensor> sensor({"sensor"});
    const sluice::Timer polling = sensor.postEvery(std::chrono::milliseconds(10), Poll{});
    return polling && sensor.cancel(polling);
}

struct ChildFailed {
    int child;
};
struct ChildEnded {
    int child;
};

class Parent : public sluice::ActiveObject<Parent, sluice::Messages<ChildFailed, ChildEnded>> {
public:
    void handle(const ChildFailed& failed) { std::printf("child %d has failed\n", failed.child); }
    void handle(const ChildEnded& ended) { std::printf("child %d has ended\n", ended.child); }
};

class Child : public sluice::ActiveObject<Child, sluice::Messages<std::string>, Restarts> {
public:
    explicit Child(Parent& parent) : parent_(parent) {}
    void handle(const std::string& text) { sum_ += std::stoi(text); }
    void restart() { sum_ = 0; }
    void handlerFailed(const std::exception_ptr&) noexcept {
        (void)parent_.tryPost(ChildFailed{7});
    }
    void ended() noexcept { (void)parent_.tryPost(ChildEnded{7}); }

private:
    Parent& parent_;
    int sum_ = 0;
};

bool telling() {
    sluice::Running<Parent> parent;
    sluice::Running<Child> child(sluice::ThreadOptions{}, parent);
    return child.post(std::string("1")) == sluice::SendResult::ok;
}

bool calling() {
    sluice::ActiveEventQueue<std::string, void(int)> events;
    int sum = 0;  // only the thread of `events` touches it until join()
    const auto handle = events.appendListener("add", [&sum](int number) { sum += number; });
    (void)events.start({"events"});
    (void)events.enqueue("add", 3);
    (void)events.enqueue("add", 4);
    return events.stopAfterDrain(std::chrono::minutes(1)) && events.join() && sum == 7;
}

struct Deposit {
    long amount;
};
struct Balance {};
using BalanceRequest = sluice::Request<Balance, long>;

class Account : public sluice::PooledObject<Account, sluice::Messages<Deposit, BalanceRequest>> {
public:
    void handle(const Deposit& deposit) { balance_ += deposit.amount; }
    void handle(const BalanceRequest& request) { request.reply(balance_); }

private:
    long balance_ = 0;
};

bool sharingThreads() {
    sluice::ThreadPool pool(2);
    std::vector<std::unique_ptr<sluice::Running<Account>>> accounts;
    for (int i = 0; i < 1000; ++i) {
        accounts.push_back(std::make_unique<sluice::Running<Account>>(pool));
        (void)accounts.back()->post(Deposit{i});
    }
    const auto balance = accounts[999]->request<long>(Balance{}, std::chrono::minutes(1)).get();
    return balance && *balance == 999;
}

bool awaitingThePool() {
    sluice::ThreadPool pool(2);
    sluice::Running<Account> account(pool);
    (void)account.post(Deposit{5});
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    return pool.waitUntilIdle(deadline) && account.statistics().handled == 1;
}

bool steppingThrough() {
    sluice::ManualExecutor executor(7);
    sluice::Running<Account> account(executor);
    (void)account.post(Deposit{5});
    executor.runAll();
    auto balance = account.request<long>(Balance{}, std::chrono::minutes(1));
    executor.runFor(std::chrono::hours(24));  // timers included; takes no longer than the handlers
    return balance.get().value() == 5;
}

bool subscribing() {
    sluice::Bus<sluice::Messages<Speed>> bus;
    sluice::Running<Motor> motor({"motor"}, 2.5);
    const auto subscription = bus.subscribe<Speed>([&motor](const Speed& speed) {
        (void)motor.post(speed);  // a full mailbox refuses it
    });
    (void)bus.publish(Speed{1.5});
    bus.process();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    return motor.stopAfterDrain(deadline) && motor.join() && motor.speed() == 1.5;
}

class Door;

struct Closed;
struct Usable {
    using Initial = Closed;  // the state inside that it begins with
};
struct Closed {
    using Parent = Usable;
};
struct Open {
    using Parent = Usable;
    static void enter(Door& door);  // exit() likewise
};
struct OutOfOrder {};

struct Press {};
struct Fault {};
struct Repaired {};

class Door : public sluice::ActiveObject<Door, sluice::Messages<Press, Fault, Repaired>> {
public:
    Door() { machine_.start(); }
    void handle(const Press& press) { (void)machine_.handle(press); }
    void handle(const Fault& fault) { (void)machine_.handle(fault); }
    void handle(const Repaired& repaired) { (void)machine_.handle(repaired); }

    [[nodiscard]] bool isUnlocked() const { return isUnlocked_; }
    void ring() { ++rings_; }

    using Table = sluice::Transitions<
        sluice::On<Closed, Press, Open, sluice::If<&Door::isUnlocked>>,
        sluice::Stay<Closed, Press, sluice::Do<&Door::ring>>,  // if the guard above returns false
        sluice::On<Open, Press, Closed>,                       //
        sluice::On<Usable, Fault, OutOfOrder>,                 // out of Closed and of Open
        sluice::Defer<OutOfOrder, Press>,                      // comes back in another state
        sluice::On<OutOfOrder, Repaired, Usable>>;

private:
    bool isUnlocked_ = true;
    int rings_ = 0;
    sluice::StateMachine<Door, Usable, Table> machine_{*this};
};
void Open::enter(Door& door) {
    door.ring();
}

bool opening() {
    sluice::Running<Door> door;
    return door.post(Press{}) == sluice::SendResult::ok;
}

bool watching() {
    sluice::Watchdog watchdog(std::chrono::milliseconds(100),
                              [](const char* name, std::chrono::nanoseconds time) {
                                  std::fprintf(stderr, "%s: a handler has run for %.3f s\n", name,
                                               double(time.count()) / 1e9);
                              });
    sluice::Running<Motor> motor({"motor"}, 2.5);
    const auto watch = watchdog.watch(motor, "motor");  // as long as `watch` lives
    watchdog.start(std::chrono::milliseconds(20));      // a thread that looks so often
    (void)motor.post(Speed{1});
    return true;
}

struct ByHand : sluice::ManualTraits<TwoTimers> {};

class Blinker : public sluice::ActiveObject<Blinker, sluice::Messages<Poll>, ByHand> {
public:
    void handle(const Poll&) { isOn = !isOn; }
    using ActiveObject::handleQueued;
    bool isOn = false;
};

bool movingTheClock() {
    Blinker blinker;
    const sluice::Timer blinking = blinker.postEvery(std::chrono::seconds(1), Poll{});
    Blinker::Clock::advance(std::chrono::seconds(1));
    return blinking && blinker.handleQueued() == 1 && blinker.isOn;
}

}  // namespace

int main() {
    const bool isRight = firstObject() && posting() && requesting() && failing() && testing() &&
                         timing() && movingTheClock() && sharingThreads() && awaitingThePool() &&
                         steppingThrough() && subscribing() && opening() && watching() &&
                         telling() && calling();
    return isRight ? 0 : 1;
}
