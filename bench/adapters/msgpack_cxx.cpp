/// \file
/// msgpack-cxx in its map mode.

#include "adapters/nats_subjects.hpp"

#if defined(SLUICE_BENCH_MSGPACK)
#include <msgpack.hpp>
#endif

namespace sluice::bench {

#if defined(SLUICE_BENCH_MSGPACK)
namespace {

struct PackedReading {
    std::uint64_t number = 0;
    std::int32_t sensor = 0;
    double celsius = 0;
    bool isValid = false;
    std::string place;
    MSGPACK_DEFINE_MAP(number, sensor, celsius, isValid, place)
};

PackedReading packedReadingOf(std::uint64_t number) {
    const Reading reading = readingOf(number);
    return {reading.number, reading.sensor, reading.celsius, reading.isValid, reading.place};
}

Round encodeRound(const RoundPlan& plan) {
    msgpack::sbuffer buffer;
    return timedCalls(plan, [&](std::uint64_t number) {
        buffer.clear();
        msgpack::pack(buffer, packedReadingOf(number));
        return buffer.size() != 0;
    });
}

Round decodeRound(const RoundPlan& plan) {
    msgpack::sbuffer buffer;
    msgpack::pack(buffer, packedReadingOf(7));
    PackedReading reading;
    return timedCalls(plan, [&](std::uint64_t) {
        reading.number = 0;
        msgpack::unpack(buffer.data(), buffer.size()).get().convert(reading);
        return reading.number == 7;
    });
}

}  // namespace
#endif

void addMsgpackCxx(NatsSubjects& subjects) {
    NatsSubject subject;
    subject.info.id = "msgpack-cxx/map";
    subject.info.library = "msgpack-cxx";
    subject.info.features.topology = "any thread";
#if defined(SLUICE_BENCH_MSGPACK)
    subject.info.version = MSGPACK_VERSION;
    subject.info.use = "MSGPACK_DEFINE_MAP; pack() into a kept sbuffer, unpack() and convert()";
    subject.rounds = {{"encode", &encodeRound}, {"decode", &decodeRound}};
#else
    subject.info.absentBecause = notCompiledIn("SLUICE_BRIDGE_NATS", "ON");
#endif
    subjects.push_back(subject);
}

}  // namespace sluice::bench
