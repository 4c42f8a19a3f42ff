#include <sluice/bus/component.hpp>
#include <sluice/bus/static_component.hpp>

struct Sample {
    int value;
};
struct Alarm {
    int code;
};
struct Unlisted {};

using Types = sluice::Messages<Sample, Alarm, int>;
using TheBus = sluice::Bus<Types>;

template <class Owner>
std::size_t serve(TheBus& bus, Owner& owner) {
    return bus.processWith(owner.visitor(bus));
}

#if CASE == 0
struct Owner final {
    explicit Owner(TheBus& bus) { component.subscribe<Sample>(bus, &Owner::onSample); }
    void onSample(const Sample&) {}
    sluice::Component<Owner, 1> component{*this};
};
struct Fine : sluice::StaticComponent<Fine> {
    using Handles = sluice::Messages<Sample, int>;
    void handle(const Sample&) {}
    void handle(const int&, const TheBus::Header&) {}
};
std::size_t allThatTheOtherCasesNearlyAre(TheBus& bus) {
    const Owner owner(bus);
    Fine fine;
    return owner.component.count() + serve(bus, fine);
}
#elif CASE == 1
// EXPECT ONLY: the owner of a Component must be final
struct Owner {
    sluice::Component<Owner, 1> component{*this};
};
Owner notFinal;
#elif CASE == 2
// EXPECT ONLY: a handler of the owner takes \(const T&\) or \(const T&, const Header&\)
struct Owner final {
    explicit Owner(TheBus& bus) { component.subscribe<Sample>(bus, &Owner::onAlarm); }
    void onAlarm(const Alarm&) {}
    sluice::Component<Owner, 1> component{*this};
};
#elif CASE == 3
// EXPECT: ignoring return value|nodiscard
struct Owner final {
    explicit Owner(TheBus& bus) {
        component.trySubscribe<Sample>(bus, [](const Sample&) {});
    }
    sluice::Component<Owner, 1> component{*this};
};
#elif CASE == 4
// EXPECT: use of deleted function|implicitly-deleted copy constructor
struct Owner final {
    sluice::Component<Owner, 1> component{*this};
};
Owner copy(const Owner& owner) {
    return owner;
}
#elif CASE == 5
// EXPECT ONLY: a type of Handles has no public
struct Missing : sluice::StaticComponent<Missing> {
    using Handles = sluice::Messages<Sample, Alarm>;
    void handle(const Sample&) {}
};
std::size_t use(TheBus& bus, Missing& component) {
    return serve(bus, component);
}
#elif CASE == 6
// EXPECT ONLY: a type of Handles has no public
struct Private : sluice::StaticComponent<Private> {
    using Handles = sluice::Messages<Sample>;

private:
    void handle(const Sample&) {}
};
std::size_t use(TheBus& bus, Private& component) {
    return serve(bus, component);
}
#elif CASE == 7
// EXPECT ONLY: a type of Handles has no public
struct Converting : sluice::StaticComponent<Converting> {
    using Handles = sluice::Messages<int>;
    void handle(const long&) {}
};
std::size_t use(TheBus& bus, Converting& component) {
    return serve(bus, component);
}
#elif CASE == 8
// EXPECT ONLY: a type of Handles has no public
struct NotConst : sluice::StaticComponent<NotConst> {
    using Handles = sluice::Messages<Sample>;
    void handle(Sample&) {}
};
std::size_t use(TheBus& bus, NotConst& component) {
    return serve(bus, component);
}
#elif CASE == 9
// EXPECT ONLY: a type of Handles has no public
struct Misnamed : sluice::StaticComponent<Misnamed> {
    using Handles = sluice::Messages<Sample>;
    void hanlde(const Sample&) {}
};
std::size_t use(TheBus& bus, Misnamed& component) {
    return serve(bus, component);
}
#elif CASE == 10
// EXPECT ONLY: a type of Handles is not among the Messages of the bus
struct Elsewhere : sluice::StaticComponent<Elsewhere> {
    using Handles = sluice::Messages<Unlisted>;
    void handle(const Unlisted&) {}
};
std::size_t use(TheBus& bus, Elsewhere& component) {
    return serve(bus, component);
}
#elif CASE == 11
// EXPECT ONLY: (no type named .Handles|Handles. is not a member)
struct Undeclared : sluice::StaticComponent<Undeclared> {
    void handle(const Sample&) {}
};
std::size_t use(TheBus& bus, Undeclared& component) {
    return serve(bus, component);
}
#elif CASE == 12
// EXPECT: Handles of a StaticComponent is a sluice::Messages<...>
struct NoList : sluice::StaticComponent<NoList> {
    using Handles = Sample;
    void handle(const Sample&) {}
};
std::size_t use(TheBus& bus, NoList& component) {
    return serve(bus, component);
}
#endif
