#pragma once

/// \file
/// Subjects of the bridge scenarios: the bridge to NATS, and a plain program of libnats beside it.

#include "harness/run/acting.hpp"
#include "harness/run/subject.hpp"

#include <sluice/fixed/fixed_string.hpp>
#include <sluice/wire/describe.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace sluice::bench {

struct NatsSubject {
    Subject info;

    /// By the name of the scenario.
    std::map<std::string, Round (*)(const RoundPlan&)> rounds = {};
};

using NatsSubjects = std::vector<NatsSubject>;

void addSluiceBridge(NatsSubjects& subjects);
void addLibnats(NatsSubjects& subjects);
void addSluiceWire(NatsSubjects& subjects);
void addMsgpackCxx(NatsSubjects& subjects);

/// The server that `./dev bench bridge` has started; empty if there is none.
inline std::string natsUrl() {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the program changes no variable
    const char* const url = std::getenv("SLUICE_NATS_URL");
    return url != nullptr ? url : "";
}

/// Deletes a stream with its messages: each round begins with an empty one. Only with libnats.
void deleteStream(const char* name);

inline const std::string noServer = "there is no server; ./dev bench bridge starts one";

/// A message of one text.
template <std::size_t Bytes>
struct TextMessage {
    FixedString<Bytes> text;
};

/// Five fields of the usual kinds. `number` tells the messages apart.
struct Reading {
    std::uint64_t number = 0;
    std::int32_t sensor = 0;
    double celsius = 0;
    bool isValid = false;
    std::string place;
};

constexpr auto describe(wire::Type<Reading>) {
    using wire::field;
    return wire::fields(field("number", &Reading::number), field("sensor", &Reading::sensor),
                        field("celsius", &Reading::celsius), field("isValid", &Reading::isValid),
                        field("place", &Reading::place));
}

inline Reading readingOf(std::uint64_t number) {
    return {number, 7, 21.5 + double(number % 16), number % 2 == 0, "roof of the hall"};
}

/// Times calls of `one(number)`, which returns whether it went well.
template <class One>
Round timedCalls(const RoundPlan& plan, One&& one) {
    Round round;
    if (!takePlace(plan.placement, plan.placement.consumerCpu)) {
        round.error = "the thread of the round could not take its place";
        return round;
    }
    std::uint64_t done = 0;
    const auto call = [&](std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t number = first; number < end; ++number) {
            done += one(number) ? 1U : 0U;
        }
    };
    call(0, plan.runIn);
    const std::uint64_t allocated = allocationsSoFar();
    const Nanoseconds start = now();
    call(plan.runIn, plan.runIn + plan.messages);
    round.time(start, now(), plan.messages);
    AllocationCount allocations;
    allocations.add(allocationsSoFar() - allocated);
    round.allocations = allocations.value();
    enterDone(round, plan.runIn + plan.messages, done);
    return round;
}

/// Sends one message after the other with `send()`, and waits for each one. `count` and `at` are
/// written when a message has arrived.
template <class Send>
Round delaysOf(const RoundPlan& plan, const std::atomic<std::uint64_t>& count,
               const std::atomic<Nanoseconds>& at, Send&& send) {
    Round round;
    if (!takePlace(plan.placement, plan.placement.producerCpus.front())) {
        round.error = "the thread of the round could not take its place";
        return round;
    }
    std::uint64_t accepted = 0;
    for (std::uint64_t i = 0; i < plan.runIn + plan.messages; ++i) {
        std::this_thread::sleep_for(std::chrono::nanoseconds(std::int64_t(plan.restNs)));
        const Nanoseconds start = now();
        accepted += send() ? 1U : 0U;
        // It sleeps: the machine may have two CPUs, for the server too.
        while (count.load() <= i && double(now() - start) < plan.stallNs) {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        if (count.load() <= i) {
            round.error = "given up: a message did not arrive";
            return round;
        }
        if (i >= plan.runIn) {
            round.samples.push_back(double(at.load() - start));
            round.timedOut += round.samples.back() > plan.timeoutNs;
        }
    }
    round.ns = median(round.samples);
    enterDone(round, plan.runIn + plan.messages, count.load());
    return round;
}

}  // namespace sluice::bench
