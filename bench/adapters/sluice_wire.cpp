/// \file
/// The module wire: messages as MessagePack maps.

#include "adapters/nats_subjects.hpp"

#include <sluice/wire/message_pack.hpp>

#include <array>

namespace sluice::bench {

namespace {

Round encodeRound(const RoundPlan& plan) {
    std::array<unsigned char, 256> storage{};
    return timedCalls(plan, [&](std::uint64_t number) {
        wire::Buffer buffer(storage.data(), storage.size());
        return wire::encode(readingOf(number), buffer) && buffer.size() != 0;
    });
}

Round decodeRound(const RoundPlan& plan) {
    std::array<unsigned char, 256> storage{};
    wire::Buffer buffer(storage.data(), storage.size());
    if (!wire::encode(readingOf(7), buffer)) {
        return {};
    }
    Reading reading;
    return timedCalls(plan, [&](std::uint64_t) {
        reading.number = 0;
        return wire::decode(buffer.data(), buffer.size(), reading) == wire::DecodeError::none &&
               reading.number == 7;
    });
}

}  // namespace

void addSluiceWire(NatsSubjects& subjects) {
    NatsSubject subject;
    subject.info.id = "sluice/wire";
    subject.info.library = "sluice";
    subject.info.use = "encode() into a buffer of the caller, decode() into a message";
    subject.info.ours = true;
    subject.info.features.topology = "any thread";
    subject.rounds = {{"encode", &encodeRound}, {"decode", &decodeRound}};
    subjects.push_back(subject);
}

}  // namespace sluice::bench
