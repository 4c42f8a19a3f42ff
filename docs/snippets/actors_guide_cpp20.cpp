// The coroutine of docs/guide/actors.md.
#include <sluice/actor.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

namespace {

using namespace std::chrono_literals;

struct Speed {
    double metresPerSecond;
};
struct CurrentSpeed {};
using SpeedRequest = sluice::Request<CurrentSpeed, double>;

struct TellsRoom : sluice::ActorTraits {
    static constexpr bool awaitedPosts = true;
};

class Wheel : public sluice::ActiveObject<Wheel, sluice::Messages<Speed, SpeedRequest>, TellsRoom> {
public:
    void handle(const Speed& speed) { speed_ = speed.metresPerSecond; }
    void handle(const SpeedRequest& request) { request.reply(speed_); }

private:
    double speed_ = 8;
};

struct Slow {
    double share;
};
struct Awaits : sluice::ActorTraits {
    static constexpr std::size_t maxCoroutines = 8;
};

class Driver : public sluice::ActiveObject<Driver, sluice::Messages<Slow>, Awaits> {
public:
    explicit Driver(Wheel& wheel) : wheel_(wheel) {}
    void handle(const Slow& slow) {
        if (!run(slowDown(slow.share))) {
            ++refused;  // eight of them are waiting
        }
    }
    std::atomic<int> done{0};
    int refused = 0;

private:
    sluice::Coroutine slowDown(double share) {
        const auto speed = co_await wheel_.request<double>(CurrentSpeed{}, 10s);
        if (speed) {
            const auto posted = co_await wheel_.awaitPost(Speed{*speed * share}, 10s);
            done += posted == sluice::SendResult::ok ? 1 : 0;
        }
    }

    Wheel& wheel_;
};

}  // namespace

int main() {
    sluice::Running<Wheel> wheel;
    sluice::Running<Driver> driver({"driver"}, wheel);
    (void)driver.post(Slow{0.5});
    while (driver.done == 0) {
        std::this_thread::yield();
    }
    const auto speed = wheel.request<double>(CurrentSpeed{}, 1min).get();
    return speed && *speed == 4 ? 0 : 1;
}
