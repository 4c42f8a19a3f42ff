#pragma once

#include "samples.hpp"

#include <sluice/base/platform.hpp>
#include <sluice/bus.hpp>
#include <sluice/inspect/flight_recorder.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

/// The way messages take: from any number of threads to one, the urgent ones first.
namespace hostwatch {

/// Each message carries the exact time of its publication, and its sender.
struct TransportTraits : sluice::FullBusTraits {
    static constexpr sluice::TimeStamp timeStamp = sluice::TimeStamp::exact;
    using Trace = sluice::FlightTrace;  // records nothing until the live view starts it
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
inline constexpr std::size_t senderCount = sourceCount + 1;

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

/// The times at which the publication of each alarm returned to its sender. The time stamp of the
/// alarm does not tell this time, because the sender may lose its processor between the stamp and
/// the moment at which the consumer can find the message.
class AlarmReturns {
public:
    /// By the sender, of each alarm that was accepted, at once.
    void note(std::uint32_t sender) noexcept {
        Sender& alarms = senders_[sender];
        std::atomic<Clock::rep>& time = alarms.times[alarms.noted++ % remembered];
        // An exchange waits for the writes of the publication to leave the core. Until then the
        // consumer cannot find the message.
        time.exchange(0, std::memory_order_seq_cst);
        // Relaxed: no thread reads other data because of the time.
        time.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
    }

    /// By the consumer, of each alarm: those of a sender come in its order. Nothing while the
    /// publication has not returned.
    std::optional<Clock::time_point> take(const Header& alarm) noexcept {
        Sender& alarms = senders_[alarm.sender];
        const Clock::rep time =
            alarms.times[alarms.taken++ % remembered].load(std::memory_order_relaxed);
        const Clock::time_point returned{Clock::duration(time)};
        // An earlier time is that of an older alarm.
        return returned >= alarm.timeStamp ? std::optional(returned) : std::nullopt;
    }

private:
    /// As many as the bus has room for, so that no time is overwritten before it was taken.
    static constexpr std::size_t remembered = Transport::roomOf(Priority::high);

    struct Sender {
        alignas(sluice::cacheLineSize) std::uint64_t noted = 0;  // the sender's
        std::array<std::atomic<Clock::rep>, remembered> times{};
        alignas(sluice::cacheLineSize) std::uint64_t taken = 0;  // the consumer's
    };
    std::array<Sender, senderCount> senders_;
};

/// One thread's way into the bus. Counts its attempts. The report compares them with the bus's
/// accounts.
class Publisher {
public:
    Publisher(Transport& transport, std::uint32_t sender, Tally& attempts,
              AlarmReturns& returns) noexcept
        : transport_(transport), sender_(sender), attempts_(attempts), returns_(returns) {}

    /// False when the message was not accepted.
    template <class Message>
    bool publish(const Message& message) {
        constexpr Priority priority = priorityOf<Message>;
        ++attempts_[MessageTypes::indexOf<Message>][indexOf(priority)];
        const bool isAccepted =
            transport_.publish(message, {priority, sender_}) == sluice::SendResult::ok;
        if constexpr (std::is_same_v<Message, Alarm>) {
            if (isAccepted) {
                returns_.note(sender_);
            }
        }
        return isAccepted;
    }

private:
    Transport& transport_;
    const std::uint32_t sender_;
    Tally& attempts_;
    AlarmReturns& returns_;
};

}  // namespace hostwatch
