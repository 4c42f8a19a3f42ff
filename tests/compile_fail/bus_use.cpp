#include <sluice/bus/bus.hpp>
#include <sluice/bus/last_value.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

struct Sample {
    int value;
};
struct Alarm {
    int code;
};

using Types = sluice::Messages<Sample, Alarm>;
using FullBus = sluice::Bus<Types>;
using BareBus = sluice::Bus<Types, sluice::BareBusTraits>;
using Header = FullBus::Header;
using sluice::Priority;
using sluice::SendResult;

#if CASE == 0
std::size_t allThatTheOtherCasesNearlyAre(FullBus& bus, BareBus& bare) {
    const auto samples = bus.subscribe<Sample>([](const Sample&) {});
    const auto alarms = bus.subscribe<Alarm>([](const Alarm&, const Header&) {});
    const bool isFine = bus.publish(Sample{1}, Priority::high) == SendResult::ok &&
                        bare.publish(Alarm{1}) == SendResult::ok &&
                        bus.emplace<Alarm>(1) == SendResult::ok;
    const std::array<char, 48> enough{};
    const auto captured = bus.subscribe<Sample>([enough](const Sample&) { return enough.size(); });
    return (isFine ? bus.statistics().total().published : 0) +
           bus.processWith(sluice::overload([](const Sample&) {}, [](Alarm&, const Header&) {})) +
           bus.processWith(sluice::partial([](const Sample&) {}));
}
#elif CASE == 1
// EXPECT ONLY: this type is not among the Messages of the bus
struct Unlisted {};
SendResult publishWhatIsNotListed(FullBus& bus) {
    return bus.publish(Unlisted{});
}
#elif CASE == 5
// EXPECT ONLY: the visitor does not take every message of the bus
std::size_t leaveOneOut(FullBus& bus) {
    return bus.processWith([](const Sample&, const Header&) {});
}
#elif CASE == 6
// EXPECT ONLY: this bus has no priorities: see its traits
SendResult hurryOnARing(BareBus& bus) {
    return bus.publish(Sample{1}, Priority::high);
}
#elif CASE == 22
// EXPECT ONLY: the options of a publication are PublishOptions or a Priority
SendResult hurryByNumber(FullBus& bus) {
    return bus.publish(Sample{1}, 2);
}
#elif CASE == 7
// EXPECT ONLY: this bus keeps no statistics: see its traits
auto askForWhatIsNotCounted(const BareBus& bus) {
    return bus.statistics();
}
#elif CASE == 8
// EXPECT ONLY: a handler takes \(const T&\) or \(const T&, const Header&\)
sluice::Subscription listenForAnotherType(FullBus& bus) {
    return bus.subscribe<Sample>([](const Alarm&) {});
}
#elif CASE == 14
// EXPECT: the types of a bus stand in a list
sluice::Bus<Sample, Alarm> listless;
#elif CASE == 17
// EXPECT: a handler's captures take more than handlerSize of the traits
sluice::Subscription captureMuch(FullBus& bus) {
    const std::array<char, 100> much{};
    return bus.subscribe<Sample>([much](const Sample&) { return much.size(); });
}
#elif CASE == 19
// EXPECT ONLY: the visitor takes a message only by converting it
std::size_t loseTheFraction(sluice::Bus<sluice::Messages<int, double>>& bus) {
    return bus.processWith([](int) {});
}
#elif CASE == 21
// EXPECT ONLY: the handler takes the message only by converting it
sluice::Subscription loseTheFractionToo(sluice::Bus<sluice::Messages<double>>& bus) {
    return bus.subscribe<double>([](int) {});
}
#elif CASE == 23
// EXPECT ONLY: a bus with Producers::one needs #include <sluice/bus/single_publisher.hpp>
struct OnePublisher : sluice::FullBusTraits {
    static constexpr sluice::Producers producers = sluice::Producers::one;
};
sluice::SendResult publish(sluice::Bus<Types, OnePublisher>& bus) {
    return bus.publish(Sample{1});
}
#elif CASE == 24
// EXPECT: a bus with Overflow::dropOldest needs #include <sluice/bus/drop_oldest.hpp>
struct Dropping : sluice::FullBusTraits {
    static constexpr std::array<sluice::Overflow, sluice::priorityCount> overflow{
        sluice::Overflow::dropOldest, sluice::Overflow::reject, sluice::Overflow::reject};
};
sluice::Bus<Types, Dropping> bus;
#elif CASE == 25
// EXPECT ONLY: messages of this bus do not expire: set expiry of its traits
sluice::SendResult publish(FullBus& bus) {
    return bus.publish(Sample{1}, sluice::ExpiringOptions<>{{}, {}});
}
#elif CASE == 26
// EXPECT ONLY: `expires` is a time of another clock than Platform::Clock of the traits
struct Mortal : sluice::FullBusTraits {
    static constexpr bool expiry = true;
};
sluice::SendResult publish(sluice::Bus<Types, Mortal>& bus) {
    return bus.publish(Sample{1}, sluice::ExpiringOptions<std::chrono::system_clock>{{}, {}});
}
#elif CASE == 27
// EXPECT ONLY: LastValue<T>: moving and destroying a T must not throw
struct Copied {
    Copied() = default;
    Copied(const Copied&) {}
};
SendResult publish(sluice::LastValue<Copied, FullBus>& value) {
    return value.publish(Copied());
}
#endif
