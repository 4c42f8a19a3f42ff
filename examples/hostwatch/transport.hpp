#pragma once

#include "samples.hpp"

#include <sluice/bus.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// The way messages take: from any number of threads to one, the urgent ones first.
namespace hostwatch {

/// Of each message it is known when exactly it was published, and who did.
struct TransportTraits : sluice::FullBusTraits {
    static constexpr sluice::TimeStamp timeStamp = sluice::TimeStamp::exact;
};

/// The samples come first, in the order of `Source`.
using MessageTypes =
    sluice::Messages<CpuSample, MemorySample, DiskSample, NetworkSample, Aggregate, Alarm>;
inline constexpr std::array<const char*, MessageTypes::count> typeNames{
    "cpu sample", "memory sample", "disk sample", "network sample", "aggregate", "alarm"};

using Transport = sluice::Bus<MessageTypes, TransportTraits>;
using Header = Transport::Header;
using Statistics = Transport::Statistics;

using sluice::Priority;
using sluice::priorityCount;
inline constexpr std::array<Priority, priorityCount> allPriorities{Priority::low, Priority::medium,
                                                                   Priority::high};

/// A message counted by its type and its priority.
using Tally = std::array<std::array<std::uint64_t, priorityCount>, MessageTypes::count>;

inline void addTo(Tally& sum, const Tally& more) noexcept {
    for (std::size_t type = 0; type < sum.size(); ++type) {
        for (std::size_t priority = 0; priority < priorityCount; ++priority) {
            sum[type][priority] += more[type][priority];
        }
    }
}

/// Senders are the sources, and this one.
inline constexpr std::uint32_t drillSender = sourceCount;

template <class Sample>
inline constexpr Source sourceOf = static_cast<Source>(MessageTypes::indexOf<Sample>);

/// A sample is soon followed by the next. An alarm must get through, and at once.
template <class Message>
inline constexpr Priority priorityOf = std::is_same_v<Message, Alarm>       ? Priority::high
                                       : std::is_same_v<Message, Aggregate> ? Priority::medium
                                                                            : Priority::low;

constexpr std::size_t indexOf(Priority priority) noexcept {
    return static_cast<std::size_t>(priority);
}

/// One thread's way into the bus. Counts what it attempts, to be held against the bus's accounts.
class Publisher {
public:
    Publisher(Transport& transport, std::uint32_t sender, Tally& attempts) noexcept
        : transport_(transport), sender_(sender), attempts_(attempts) {}

    /// False when the message was not accepted.
    template <class Message>
    bool publish(const Message& message) {
        constexpr Priority priority = priorityOf<Message>;
        ++attempts_[MessageTypes::indexOf<Message>][indexOf(priority)];
        return transport_.publish(message, {priority, sender_}) == sluice::PublishResult::ok;
    }

private:
    Transport& transport_;
    const std::uint32_t sender_;
    Tally& attempts_;
};

}  // namespace hostwatch
