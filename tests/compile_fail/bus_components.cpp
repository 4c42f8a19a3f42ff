#include <sluice/bus/component.hpp>

struct Sample {
    int value;
};
struct Alarm {
    int code;
};

using Types = sluice::Messages<Sample, Alarm, int>;
using TheBus = sluice::Bus<Types>;

#if CASE == 0
struct Owner final {
    explicit Owner(TheBus& bus) { component.subscribe<Sample>(bus, &Owner::onSample); }
    void onSample(const Sample&) {}
    sluice::Component<Owner, 1> component{*this};
};
std::size_t allThatTheOtherCasesNearlyAre(TheBus& bus) {
    const Owner owner(bus);
    return owner.component.count();
}
#elif CASE == 1
// EXPECT ONLY: the owner of a Component must be final
struct Owner {
    sluice::Component<Owner, 1> component{*this};
};
Owner notFinal;
#elif CASE == 2
// EXPECT ONLY: a handler takes \(const T&\) or \(const T&, const Header&\)
struct Owner final {
    explicit Owner(TheBus& bus) { component.subscribe<Sample>(bus, &Owner::onAlarm); }
    void onAlarm(const Alarm&) {}
    sluice::Component<Owner, 1> component{*this};
};
#endif
