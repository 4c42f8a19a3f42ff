#include <sluice/bus.hpp>
#include <sluice/record/recorder.hpp>
#include <sluice/record/replay.hpp>

#if CASE == 0
struct Described {
    int number;
};
void use(sluice::Bus<sluice::Messages<Described>>& bus, sluice::Recorder& recorder,
         sluice::Replay& replay) {
    recorder.record(bus);
    replay.into(bus);
}
#elif CASE == 1
// EXPECT: no known type and no aggregate of 1 to 16 members: write describe\(wire::Type<T>\)
class Private {
    int number = 0;
};
void use(sluice::Bus<sluice::Messages<Private>>& bus, sluice::Recorder& recorder) {
    recorder.record(bus);
}
#elif CASE == 2
// EXPECT: replay: a message is default-constructed, then its fields are read
struct NoDefault {
    explicit NoDefault(int first) : number(first) {}
    int number;
};
constexpr auto describe(sluice::wire::Type<NoDefault>) {
    return sluice::wire::fields(sluice::wire::field("number", &NoDefault::number));
}
void use(sluice::Bus<sluice::Messages<NoDefault>>& bus, sluice::Replay& replay) {
    replay.into(bus);
}
#endif
