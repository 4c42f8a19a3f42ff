#pragma once

#include <sluice/bus/bus.hpp>
#include <sluice/bus/detail/several_buses.hpp>
#include <sluice/bus/message_header.hpp>
#include <sluice/bus/publish_result.hpp>

#include <array>
#include <chrono>
#include <cstddef>

namespace sluice {

/// A bus for several groups of handlers, each with a consumer of its own, that all see every
/// message.
///
/// Use it when a slow consumer must not hold up a fast one: a logger beside a controller. Use Bus
/// when one thread serves all handlers, PartitionedBus when messages are to be shared out.
///
/// It is a Bus for each group. A message is copied into each, and each group lets it in by its own
/// rooms: a group that is behind misses messages, which its counts tell, and the others do not.
/// With BusOverflow::block the publisher waits for the group that is behind, so the others wait
/// too. A handler that publishes then waits for the other groups: two may wait for each other.
template <class MessageList, std::size_t Groups, class Traits = FullBusTraits>
class BroadcastBus {
    static_assert(Groups != 0, "a broadcast bus needs at least one group");

public:
    using Group = Bus<MessageList, Traits>;
    using Clock = typename Group::Clock;
    /// The answer of each group to one message.
    using Results = std::array<PublishResult, Groups>;

    BroadcastBus() = default;
    /// The observer must outlive the bus. All groups tell it, each on the threads of its publishers
    /// and of its own consumer.
    explicit BroadcastBus(typename Traits::Observer& observer)
        : groups_(detail::observedBuses<Group, Groups>(observer)) {}

    [[nodiscard]] static constexpr std::size_t size() noexcept { return Groups; }

    /// The bus of one group: subscribe(), process(), statistics() and the others are there.
    [[nodiscard]] Group& operator[](std::size_t index) noexcept { return groups_[index]; }
    [[nodiscard]] const Group& operator[](std::size_t index) const noexcept {
        return groups_[index];
    }

    /// Allocates the counters of the calling thread in each group, so that its publications
    /// allocate nothing. False if there was no memory. See Bus::attachThread.
    bool attachThread() noexcept {
        bool isAttached = true;
        for (Group& group : groups_) {
            isAttached = group.attachThread() && isAttached;
        }
        return isAttached;
    }

    /// Publishes a copy in each group, one after the other: two groups may see the messages of two
    /// publishers in different orders. When copying throws, the groups before have theirs. See
    /// Bus::publish for the options.
    template <class T, class Options = PublishOptions>
    Results publish(const T& message, const Options& options = {}) {
        return inEach([&](Group& group) { return group.publish(message, options); });
    }
    /// The same without waiting for room, whatever the overflow policy.
    template <class T, class Options = PublishOptions>
    Results tryPublish(const T& message, const Options& options = {}) {
        return inEach([&](Group& group) { return group.tryPublish(message, options); });
    }
    /// The same, but waits for room for at most `timeout` in each group.
    template <class T, class Rep, class Period, class Options = PublishOptions>
    Results publishFor(std::chrono::duration<Rep, Period> timeout, const T& message,
                       const Options& options = {}) {
        return inEach([&](Group& group) { return group.publishFor(timeout, message, options); });
    }

    /// Whether every group has accepted.
    [[nodiscard]] static bool isAccepted(const Results& results) noexcept {
        for (const PublishResult result : results) {
            if (result != PublishResult::ok) {
                return false;
            }
        }
        return true;
    }

    void close() noexcept {
        for (Group& group : groups_) {
            group.close();
        }
    }

    /// Closes all, and waits until the consumers have handled all accepted messages. False when the
    /// deadline came first, and at once when a handler of any group calls it.
    bool drain(typename Clock::time_point deadline) { return detail::drainAll(groups_, deadline); }

private:
    template <class Publish>
    Results inEach(const Publish& publish) {
        Results results{};
        for (std::size_t i = 0; i < Groups; ++i) {
            results[i] = publish(groups_[i]);
        }
        return results;
    }

    std::array<Group, Groups> groups_;
};

}  // namespace sluice
