// The blocks of docs/guide/recording.md. A test of the recorder calls the function with a folder.
#include <sluice/actor.hpp>
#include <sluice/bus.hpp>
#include <sluice/record/recorder.hpp>
#include <sluice/record/replay.hpp>

#include <chrono>
#include <cstdio>
#include <string>

namespace {

struct Scan {
    double metres = 0;
};
constexpr auto describe(sluice::wire::Type<Scan>) {
    return sluice::wire::fields(sluice::wire::field("metres", &Scan::metres));
}
struct Stop {};
using ControlBus = sluice::Bus<sluice::Messages<Scan, Stop>>;

void record(const std::string& path) {
    ControlBus bus;
    sluice::Recorder recorder(path);
    recorder.record(bus, "control");
    (void)bus.publish(Scan{0.2});
    (void)bus.publish(Stop{}, sluice::Priority::high);
    bus.process();
    recorder.close();
    const sluice::RecorderStatistics counts = recorder.statistics();
    std::printf("%llu written, %llu lost\n", static_cast<unsigned long long>(counts.written),
                static_cast<unsigned long long>(counts.lost));
}

sluice::ReplayStatistics replayAgain(const std::string& path) {
    ControlBus bus;
    sluice::ReplayOptions options;
    options.speed = 0;  // as fast as possible; 2 is twice as fast as the recording
    sluice::Replay replay(path, options);
    replay.into(bus, "control");
    replay.run();
    if (replay.end() != sluice::RecordingEnd::complete) {
        std::puts(toString(replay.end()));
    }
    return replay.statistics();
}

class Brake : public sluice::PooledObject<Brake, sluice::Messages<Scan>> {
public:
    explicit Brake(sluice::RecordChannel<Scan> record) : record_(record) {}
    void handle(const Scan& scan) {
        record_(scan);
        isOn = scan.metres < 0.5;
    }
    bool isOn = false;

private:
    sluice::RecordChannel<Scan> record_;
};

bool stepByStep(const std::string& path) {
    sluice::Recorder recorder(path + ".again");
    sluice::ManualExecutor executor;
    sluice::Running<Brake> brake(executor, recorder.channel<Scan>("brake/Scan"));
    sluice::Replay replay(path);
    replay.handle<Scan>([&](Scan&& scan) { return brake.tryPost(scan); });
    do {
        executor.runFor(replay.delay());
    } while (replay.step() == sluice::ReplayStep::delivered);
    executor.runAll();
    return brake.isOn;
}

}  // namespace

bool runRecordingGuide(const std::string& folder) {
    const std::string path = folder + "/guide.mcap";
    record(path);
    return replayAgain(path).delivered == 2 && stepByStep(path);
}
