// The blocks of docs/guide/distributed.md. A test of the bridge calls the function with its server.
#include <sluice/bridge/nats/nats_bridge.hpp>

#include <chrono>
#include <cstdio>
#include <future>
#include <string>

namespace {

struct Position {
    int robot = 0;
    double x = 0;
    double y = 0;
};
struct Order {
    int robot = 0;
    int target = 0;
};

struct Alarm {
    int robot = 0;
};

struct Where {
    int robot = 0;
};

struct FleetTraits : sluice::FullBusTraits {
    static constexpr bool origins = true;
};
using FleetBus = sluice::Bus<sluice::Messages<Position, Order>, FleetTraits>;
using RobotBus = sluice::Bus<sluice::Messages<Where, Position>, FleetTraits>;
using AlarmBus = sluice::Bus<sluice::Messages<Alarm>, FleetTraits>;

sluice::nats::NatsOptions optionsOfWorker(const std::string& url) {
    sluice::nats::NatsOptions options;
    options.url = url;
    options.durable.stream = "fleet";
    options.durable.name = "planner";                           // the same in all workers
    options.durable.shareWork = true;                           // each message to one of them
    options.durable.pullBatch = 8;                              // messages that a worker holds
    options.durable.redeliverAfter = std::chrono::seconds(10);  // longer than any handler takes
    return options;
}

}  // namespace

bool runDistributedGuide(const std::string& url) {
    static FleetBus bus;

    sluice::nats::NatsOptions options;
    options.url = url;  // nats://host:port
    sluice::nats::NatsBridge bridge(bus, options);
    bridge.importType<Order>({"fleet.order"});
    bridge.exportType<Position>({"fleet.position"});

    (void)bus.publish(Position{7, 1.0, 2.0}, sluice::Priority::high);
    (void)bus.process();  // the consumer hands the message to the bridge

    const bool isComplete = bridge.close(std::chrono::seconds(5));
    const sluice::nats::NatsStatistics counts = bridge.statistics();
    std::printf("%llu sent, %llu unsent, %llu missing\n",
                static_cast<unsigned long long>(counts.sent),
                static_cast<unsigned long long>(counts.unsent),
                static_cast<unsigned long long>(counts.gaps));

    return isComplete && counts.sent == 1;
}

bool runRequestGuide(const std::string& url) {
    static RobotBus bus;
    sluice::nats::NatsOptions options;
    options.url = url;
    sluice::nats::NatsBridge bridge(bus, options);

    bridge.serve<Where, Position>({"fleet.where"}, [](const Where& question) {
        return Position{question.robot, 1.0, 2.0};
    });

    auto where = bridge.client<Where, Position>({"fleet.where"});
    auto reply = where.request(Where{7}, std::chrono::seconds(20));  // a std::future

    while (reply.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
        (void)bus.process();
    }

    const auto position = reply.get();
    if (position) {
        std::printf("robot %d is at %g\n", position->robot, position->x);
    } else {
        std::printf("no position: %s\n", toString(position.error()));
    }

    where.request(Where{8}, std::chrono::seconds(20), [](sluice::nats::Reply<Position>&& answer) {
        if (answer) {
            (void)bus.publish(*answer);
        }
    });

    int seen = 0;
    const auto positions = bus.subscribe<Position>([&seen](const Position& p) { seen = p.robot; });
    while (seen == 0 && bridge.statistics().failedRequests == 0) {
        (void)bus.waitFor(std::chrono::milliseconds(10));
        (void)bus.process();
    }
    return position && position->robot == 7 && seen == 8;
}

bool runDurableGuide(const std::string& url) {
    static AlarmBus bus;
    static AlarmBus busOfWorker;
    const sluice::nats::NatsBridge worker(busOfWorker, optionsOfWorker(url));

    sluice::nats::NatsOptions options;
    options.url = url;

    options.durable.stream = "fleet";  // the same in all programs
    options.durable.name = "robot-7";  // unique, and the same after a restart

    options.startWithoutServer = true;

    sluice::nats::NatsBridge bridge(bus, options);

    const sluice::nats::NatsRoute alarms{"alarm", 1, sluice::nats::Profile::durable};
    bridge.importType<Alarm>(alarms);
    auto outlet = bridge.outlet<Alarm>(alarms);
    const auto result = outlet.send(Alarm{7}, sluice::Priority::high);
    if (result == sluice::nats::OutletResult::congested) {
        std::puts("the server is slow or away: send it again later");
    }

    const auto later = outlet.sendFor(std::chrono::seconds(5), Alarm{8}, sluice::Priority::high);

    auto stored = outlet.confirm(Alarm{9}, sluice::Priority::high);
    if (stored.wait_for(std::chrono::seconds(5)) != std::future_status::ready ||
        stored.get() != sluice::nats::OutletResult::ok) {
        std::puts("the server has not stored the alarm");
    }

    return later == sluice::nats::OutletResult::ok && bridge.close(std::chrono::seconds(5)) &&
           bridge.statistics().acknowledged == 3;
}
