#pragma once

#include <sluice/base/send_result.hpp>
#include <sluice/bus/bus.hpp>
#include <sluice/bus/detail/bus_group.hpp>
#include <sluice/bus/message_header.hpp>

#include <array>
#include <chrono>
#include <cstddef>

namespace sluice {

/// A bus for several groups of handlers. Each group has a consumer of its own and sees every
/// message.
///
///     sluice::BroadcastBus<sluice::Messages<Reading>, 2> bus;
///     const auto shown = bus[0].subscribe<Reading>([](const Reading& reading) { ... });
///     const auto logged = bus[1].subscribe<Reading>([](const Reading& reading) { ... });
///     const auto results = bus.publish(Reading{21.5});  // one result for each group
///     bus[0].process();  // on the thread of the first group
///
/// Use it if a slow consumer must not delay a fast one, for example a logger beside a controller.
/// Use Bus if one thread serves all handlers. Use PartitionedBus if each message goes to one
/// consumer.
///
/// It has a Bus for each group, and copies a message into each. Each group accepts the message by
/// its own rooms. So a slow group misses messages and counts them, and the other groups get them.
/// With BusOverflow::block the publisher waits for the slow group, so the others wait too. A
/// handler that publishes then waits for the other groups: two handlers may wait for each other.
template <class MessageList, std::size_t Groups, class Traits = FullBusTraits>
class BroadcastBus : public detail::BusGroup<Bus<MessageList, Traits>, Groups> {
    static_assert(Groups != 0, "a broadcast bus needs at least one group");
    using Base = detail::BusGroup<Bus<MessageList, Traits>, Groups>;

public:
    using Group = Bus<MessageList, Traits>;
    /// The answer of each group to one message.
    using Results = std::array<SendResult, Groups>;

    BroadcastBus() = default;
    /// The observer must outlive the bus. All groups call it, each on the threads of its publishers
    /// and of its own consumer.
    explicit BroadcastBus(typename Traits::Observer& observer) : Base(observer) {}

    /// Publishes a copy in each group, one after the other. So two groups may see the messages of
    /// two publishers in different orders. If copying throws, the earlier groups have their copies.
    /// See Bus::publish for the options.
    template <class T, class Options = PublishOptions>
    Results publish(const T& message, const Options& options = {}) {
        return inEach([&](Group& group) { return group.publish(message, options); });
    }
    /// As publish(), but never waits for room, with any overflow policy.
    template <class T, class Options = PublishOptions>
    Results tryPublish(const T& message, const Options& options = {}) {
        return inEach([&](Group& group) { return group.tryPublish(message, options); });
    }
    /// As publish(), but waits for room for at most `timeout` in each group.
    template <class T, class Rep, class Period, class Options = PublishOptions>
    Results publishFor(std::chrono::duration<Rep, Period> timeout, const T& message,
                       const Options& options = {}) {
        return inEach([&](Group& group) { return group.publishFor(timeout, message, options); });
    }

    /// Whether every group has accepted.
    [[nodiscard]] static bool isAccepted(const Results& results) noexcept {
        for (const SendResult result : results) {
            if (result != SendResult::ok) {
                return false;
            }
        }
        return true;
    }

private:
    template <class Publish>
    Results inEach(const Publish& publish) {
        Results results{};
        for (std::size_t i = 0; i < Groups; ++i) {
            results[i] = publish(this->buses_[i]);
        }
        return results;
    }
};

}  // namespace sluice
