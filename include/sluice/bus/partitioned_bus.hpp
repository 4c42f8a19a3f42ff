#pragma once

#include <sluice/base/fibonacci_hash.hpp>
#include <sluice/bus/bus.hpp>
#include <sluice/bus/detail/several_buses.hpp>
#include <sluice/bus/message_header.hpp>
#include <sluice/bus/publish_result.hpp>
#include <sluice/bus/subscription.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice {

/// A bus for several consumers at once, each of which gets its share of the messages: those of one
/// key go to one consumer, in order, and those of different keys to any of them.
///
///     struct KeyOf {
///         std::size_t operator()(const Order& order) const { return order.customer; }
///         std::size_t operator()(const Cancel& cancel) const { return cancel.customer; }
///     };
///     PartitionedBus<Messages<Order, Cancel>, 4, KeyOf> bus;
///
/// All publishers call KeyOf, at the same time.
///
/// Use it when one consumer is not enough and messages of different keys need no order. Use
/// BroadcastBus when each consumer is to see every message.
///
/// It is a Bus for each consumer, chosen by the key: so publishers with different keys mostly do
/// not meet, no message is handed on, and everything said of Bus holds for each partition. A key is
/// mixed before it is used; numbers in a row will do. Each partition has its own rooms:
/// a key that is too busy is refused while others are let in. A handler that publishes to another
/// partition with BusOverflow::block waits for that one's consumer: two may wait for each other.
template <class MessageList, std::size_t Partitions, class KeyOf, class Traits = FullBusTraits>
class PartitionedBus {
    static_assert(Partitions != 0, "a partitioned bus needs at least one partition");

public:
    using Partition = Bus<MessageList, Traits>;
    using Statistics = typename Partition::Statistics;
    using Clock = typename Partition::Clock;

    explicit PartitionedBus(KeyOf keyOf = KeyOf()) : keyOf_(std::move(keyOf)) {}
    /// The observer must outlive the bus. All partitions tell it, each on the threads of its own
    /// publishers and consumer.
    explicit PartitionedBus(typename Traits::Observer& observer, KeyOf keyOf = KeyOf())
        : partitions_(detail::observedBuses<Partition, Partitions>(observer)),
          keyOf_(std::move(keyOf)) {}

    [[nodiscard]] static constexpr std::size_t size() noexcept { return Partitions; }

    /// The bus of one consumer: process(), run() and the others of that name are there.
    [[nodiscard]] Partition& operator[](std::size_t index) noexcept { return partitions_[index]; }

    /// The bus that messages with this key go to.
    [[nodiscard]] Partition& of(std::size_t key) noexcept { return partitions_[indexOf(key)]; }

    /// Allocates the counters of the calling thread in each partition, so that its publications
    /// allocate nothing. False if there was no memory. See Bus::attachThread.
    bool attachThread() noexcept {
        bool isAttached = true;
        for (Partition& partition : partitions_) {
            isAttached = partition.attachThread() && isAttached;
        }
        return isAttached;
    }

    /// As the functions of a Bus, in the partition of the message's key.
    template <class T, class Options = PublishOptions>
    PublishResult publish(T&& message, const Options& options = {}) {
        return partitionOf(message).publish(std::forward<T>(message), options);
    }
    template <class T, class Options = PublishOptions>
    PublishResult tryPublish(T&& message, const Options& options = {}) {
        return partitionOf(message).tryPublish(std::forward<T>(message), options);
    }
    template <class T, class Rep, class Period, class Options = PublishOptions>
    PublishResult publishFor(std::chrono::duration<Rep, Period> timeout, T&& message,
                             const Options& options = {}) {
        return partitionOf(message).publishFor(timeout, std::forward<T>(message), options);
    }

    /// Has the handler called for each T, whatever its partition, by the thread that consumes
    /// there: so by several at once. Each partition gets a copy. When the table of one has no room,
    /// those of the others are ended again, and all subscriptions are empty. Copies must not end
    /// those of other partitions, or two could wait for each other.
    template <class T, class Handler>
    std::array<Subscription, Partitions> subscribe(const Handler& handler) {
        std::array<Subscription, Partitions> subscriptions;
        for (std::size_t i = 0; i < Partitions; ++i) {
            subscriptions[i] = partitions_[i].template subscribe<T>(handler);
            if (!subscriptions[i]) {
                return {};
            }
        }
        return subscriptions;
    }

    void close() noexcept {
        for (Partition& partition : partitions_) {
            partition.close();
        }
    }

    /// Closes all, and waits until the consumers have handled all accepted messages. False when the
    /// deadline came first, and at once when a handler of any partition calls it.
    bool drain(typename Clock::time_point deadline) {
        return detail::drainAll(partitions_, deadline);
    }

    /// The counts of all partitions together; the high-water mark is the highest of any.
    [[nodiscard]] Statistics statistics() const {
        Statistics sum = partitions_[0].statistics();
        for (std::size_t i = 1; i < Partitions; ++i) {
            sum += partitions_[i].statistics();
        }
        return sum;
    }

private:
    template <class T>
    Partition& partitionOf(const T& message) {
        return of(keyOf_(message));
    }

    static std::size_t indexOf(std::size_t key) noexcept {
        const std::uint64_t mixed = fibonacciHash(key);
        return static_cast<std::size_t>((mixed >> 32U) * Partitions >> 32U);
    }

    std::array<Partition, Partitions> partitions_;
    KeyOf keyOf_;
};

}  // namespace sluice
