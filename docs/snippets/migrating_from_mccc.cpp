// The code of docs/migrating-from-mccc.md.
#include <sluice/bus.hpp>

#include <cstdint>
#include <cstdio>

namespace {

struct MotorData {
    int id;
    float speed;
};
struct Alarm {
    int code;
};

// Was: using Payload = std::variant<MotorData, Alarm>; using MotorBus = mccc::AsyncBus<Payload>;
using MotorBus = sluice::Bus<sluice::Messages<MotorData, Alarm>>;
MotorBus bus;  // was MotorBus::Instance()

bool wholeProgram() {
    int speeds = 0;
    std::uint32_t sender = 0;
    // Was: bus.Subscribe<MotorData>([](const auto& envelope) {
    //          const auto* data = std::get_if<MotorData>(&envelope.payload); ... });
    const sluice::Subscription motors =
        bus.subscribe<MotorData>([&](const MotorData& data, const MotorBus::Header& header) {
            speeds += static_cast<int>(data.speed);
            sender = header.sender;
        });

    // Was: bus.PublishWithPriority(Payload(Alarm{3}), 7, MessagePriority::HIGH), true or false.
    if (bus.publish(Alarm{3}, {sluice::Priority::high, 7}) != sluice::SendResult::ok) {
        std::printf("the alarm is still here\n");
    }
    (void)bus.publish(MotorData{1, 50}, {sluice::Priority::medium, 7});  // was bus.Publish(..., 7)

    bus.process();  // was bus.ProcessBatch()
    return speeds == 50 && sender == 7;
}

}  // namespace

int main() {
    return wholeProgram() ? 0 : 1;
}
