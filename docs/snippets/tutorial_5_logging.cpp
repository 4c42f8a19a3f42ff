#include <sluice/actor.hpp>
#include <sluice/inspect.hpp>
#include <sluice/log.hpp>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

struct Reading {
    double celsius;
};
struct Stop {
    const char* reason;
};

class Heater : public sluice::ActiveObject<Heater, sluice::Messages<Reading, Stop>> {
public:
    explicit Heater(std::shared_ptr<spdlog::logger> log) : log_(std::move(log)) {}

    void handle(const Reading& reading) {
        if (isOn_ && reading.celsius > 60) {
            (void)post(Stop{"too hot"}, sluice::Priority::high);
        }
    }
    void handle(const Stop& stop) {
        log_->warn("stop: {}", stop.reason);
        isOn_ = false;
    }
    bool isOn() const { return isOn_; }  // after join()

private:
    std::shared_ptr<spdlog::logger> log_;
    bool isOn_ = true;  // no lock: only the object's thread touches it while it runs
};

int main() {
    const auto log = spdlog::basic_logger_mt<sluice::log::async_factory>("app", "heater.log");
    sluice::Running<Heater> heater({"heater"}, log);
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
    log->info("metrics:\n{}", page);

    const auto total = heater.statistics().total();
    const bool isWritten = sluice::log::flush_wait();  // everything logged before is in the file
    return isDone && isWritten && !heater.isOn() && total.published == total.delivered ? 0 : 1;
}
