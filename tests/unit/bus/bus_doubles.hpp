#pragma once

#include <sluice/bus.hpp>

#include "support/testing.hpp"

// Messages and buses for the tests of the bus.

namespace sluice::test {

struct Sample {
    int value = 0;
};

struct Alarm {
    std::string text;
};

/// Counts how many of its kind live.
struct Counted {
    explicit Counted(int number) : value(number) { ++alive; }
    Counted(const Counted& other) : value(other.value) { ++alive; }
    Counted(Counted&& other) noexcept : value(other.value) {
        other.value = movedFrom;
        ++alive;
    }
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --alive; }

    static constexpr int movedFrom = -1;
    inline static int alive = 0;
    int value;
};

using TestMessages = Messages<Sample, Alarm, Counted>;

/// Low and high have rooms for a quarter of the depth each, medium for the rest.
template <std::size_t Depth, class Base = FullBusTraits>
struct DeepTraits : Base {
    static constexpr std::size_t depth = Depth;
    static constexpr std::size_t quarter = Depth < 4 ? 1 : Depth / 4;
    static constexpr std::array<std::size_t, priorityCount> rooms{
        quarter, Depth > 2 * quarter ? Depth - 2 * quarter : 1, quarter};
};

template <Overflow Low, Overflow Medium, Overflow High, std::size_t Depth = 10>
struct OverflowTraits : DeepTraits<Depth> {
    static constexpr std::array<Overflow, priorityCount> overflow{Low, Medium, High};
};

template <std::size_t Depth, class Base = FullBusTraits>
using TestBus = Bus<TestMessages, DeepTraits<Depth, Base>>;

/// Takes the samples out of the bus, and returns their values in order.
template <class AnyBus>
std::vector<int> takeSamples(AnyBus& bus) {
    std::vector<int> values;
    bus.processWith(partial([&](Sample& sample) { values.push_back(sample.value); }));
    return values;
}

/// Publishes the samples 0 .. count - 1, which must be accepted.
template <class AnyBus>
void publishSamples(AnyBus& bus, int count, Priority priority = Priority::medium) {
    for (int i = 0; i < count; ++i) {
        ASSERT_EQ(bus.publish(Sample{i}, {priority}), SendResult::ok);
    }
}

/// Publishes samples of this priority until one is not accepted. Returns the number of accepted
/// samples; `result` is the answer to the last one.
template <class AnyBus>
std::size_t fillUp(AnyBus& bus, Priority priority, SendResult& result) {
    std::size_t count = 0;
    while ((result = bus.publish(Sample{}, priority)) == SendResult::ok) {
        ++count;
    }
    return count;
}

/// The sums of the counts are true by how they are computed. This function compares them with the
/// bus itself.
template <class AnyBus>
bool areBalanced(const AnyBus& bus, std::uint64_t attempted) {
    const MessageCounts total = bus.statistics().total();
    return total.attempted() == attempted && total.queued() == bus.sizeApprox() &&
           total.published >= total.dropped + total.delivered + total.unhandled + total.discarded;
}

}  // namespace sluice::test
