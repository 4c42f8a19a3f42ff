#include <sluice/actor.hpp>
#include <sluice/inspect.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

struct Reading {
    double celsius;
};
struct Stop {
    const char* reason;
};

class Heater : public sluice::ActiveObject<Heater, sluice::Messages<Reading, Stop>> {
public:
    void handle(const Reading& reading) {
        if (isOn_ && reading.celsius > 60) {
            (void)post(Stop{"too hot"}, sluice::Priority::high);
        }
    }
    void handle(const Stop& stop) {
        std::printf("stop: %s\n", stop.reason);
        isOn_ = false;
    }
    bool isOn() const { return isOn_; }  // after join()

private:
    bool isOn_ = true;  // no lock: only the object's thread touches it while it runs
};

int main() {
    sluice::Running<Heater> heater({"heater"});
    std::thread sensor([&heater] {
        for (int i = 0; i < 1000; ++i) {
            const Reading reading{20 + 0.1 * i};
            while (heater.post(reading, sluice::Priority::low) != sluice::SendResult::ok) {
                std::this_thread::yield();  // no room: the sender still has its reading
            }
        }
    });
    sensor.join();

    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    const bool isDone = heater.stopAfterDrain(deadline) && heater.join();

    sluice::Inspector inspector;
    const auto watched = inspector.watch("heater", heater);
    std::string page;
    sluice::writeMetrics(inspector.snapshot(), [&](std::string_view text) { page += text; });
    std::fputs(page.c_str(), stdout);

    const auto total = heater.statistics().total();
    return isDone && !heater.isOn() && total.published == total.delivered ? 0 : 1;
}
