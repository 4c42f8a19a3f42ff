#pragma once

/// \file
/// Turns an adapter for blocks (see harness/run/allocation.hpp) into a subject of the memory
/// scenarios.

#include "adapters/crossing.hpp"
#include "harness/run/allocation.hpp"
#include "harness/run/subject.hpp"
#include "harness/run/throughput.hpp"

#include <sluice/wait/park.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sluice::bench {

struct MemorySubject {
    Subject info;
    /// By the name of the scenario.
    std::map<std::string, Round (*)(const RoundPlan&)> rounds;
    /// Sends so many times fewer messages across threads. For those that take microseconds for
    /// each: fewer tell as much, and a round still ends.
    std::uint64_t fewerAcross = 1;
};

using MemorySubjects = std::vector<MemorySubject>;

/// The content of a block that is an object. Its constructor leaves it alone.
template <std::size_t Bytes>
struct Payload {
    // NOLINTNEXTLINE(modernize-use-equals-default): that one would fill it with zeros
    Payload() noexcept {}
    std::byte bytes[Bytes];  // uninitialised on purpose
};

/// The functions of an adapter that does nothing.
struct PlainAllocator {
    explicit PlainAllocator(std::size_t) noexcept {}
    static void emptied() noexcept {}
    static void trim() noexcept {}
};

/// "64B", "4KiB", "1MiB".
inline std::string sizeName(std::size_t bytes) {
    constexpr std::size_t kibi = 1024;
    if (bytes < kibi) {
        return std::to_string(bytes) + "B";
    }
    return bytes < kibi * kibi ? std::to_string(bytes / kibi) + "KiB"
                               : std::to_string(bytes / kibi / kibi) + "MiB";
}

constexpr std::size_t kibi = 1024;
using Sizes = std::index_sequence<1, 64, kibi, 4 * kibi, 32 * kibi, kibi * kibi, 4 * kibi * kibi>;
using BatchSizes = std::index_sequence<64, 4 * kibi>;

template <template <std::size_t> class Allocator, std::size_t... Bytes>
void addPairs(MemorySubject& subject, std::index_sequence<Bytes...>) {
    ((subject.rounds["pair-" + sizeName(Bytes)] = &pairRound<Allocator<Bytes>, Bytes>), ...);
}

template <template <std::size_t> class Allocator, std::size_t... Bytes>
void addBatches(MemorySubject& subject, std::index_sequence<Bytes...>) {
    for (const char* const order : {"batch-fifo-", "batch-random-"}) {
        ((subject.rounds[order + sizeName(Bytes)] = &batchRound<Allocator<Bytes>, Bytes>), ...);
    }
}

/// Adds the rounds on one thread, which each allocator supports.
template <template <std::size_t> class Allocator>
MemorySubject& addAllocator(MemorySubjects& subjects, Subject info) {
    info.features.topology = "one thread";
    MemorySubject subject{std::move(info), {}, 1};
    addPairs<Allocator>(subject, Sizes{});
    addBatches<Allocator>(subject, BatchSizes{});
    for (const char* const name : {"call-allocate-64B", "call-free-64B"}) {
        subject.rounds[name] = &callLatencyRound<Allocator<64>, 64>;
    }
    for (const char* const name :
         {"resident-peak-64B", "resident-freed-64B", "resident-trimmed-64B"}) {
        subject.rounds[name] = &residentRound<Allocator<64>, 64>;
    }
    subjects.push_back(std::move(subject));
    return subjects.back();
}

/// The same for an allocator whose blocks may be freed on another thread.
template <template <std::size_t> class Allocator>
MemorySubject& addSharedAllocator(MemorySubjects& subjects, Subject info) {
    using Line = Message<64>;
    using OneToOne = Crossing<Allocator<64>, OneRing<std::byte*>>;
    using ManyToOne = Crossing<Allocator<64>, LaneEach<std::byte*>>;
    MemorySubject& subject = addAllocator<Allocator>(subjects, std::move(info));
    subject.info.features.topology = "any thread";
    subject.rounds["across-64B-1p"] = &throughputRound<OneToOne, Line, BatchPacing>;
    subject.rounds["across-64B-4p"] = &throughputRound<ManyToOne, Line, BatchPacing>;
    return subject;
}

}  // namespace sluice::bench
