#pragma once

#include <sluice/base/send_result.hpp>
#include <sluice/base/thread_slots.hpp>
#include <sluice/bus/bus.hpp>
#include <sluice/bus/detail/bus_group.hpp>
#include <sluice/bus/message_header.hpp>
#include <sluice/bus/subscription.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice {

/// A bus for several consumers that share the messages by a key. Messages with the same key go to
/// the same consumer, in order.
///
///     struct KeyOf {
///         std::size_t operator()(const Order& order) const { return order.customer; }
///         std::size_t operator()(const Cancel& cancel) const { return cancel.customer; }
///     };
///     PartitionedBus<Messages<Order, Cancel>, 4, KeyOf> bus;
///
/// Use it if one consumer is not enough and messages with different keys need no order. Use
/// BroadcastBus if each consumer must see every message.
///
/// Threads: as for Bus. Publishers may call KeyOf at the same time.
///
/// It has a Bus, a partition, for each consumer, and all promises of Bus hold for each partition.
/// The key chooses the partition, so publishers with different keys rarely use the same memory. A
/// key is mixed before it is used, so consecutive numbers are good keys. Each partition has its own
/// rooms: a partition that is full refuses messages while the others accept them. A handler that
/// publishes to another partition with BusOverflow::block waits for the consumer of that partition:
/// two handlers may wait for each other.
template <class MessageList, std::size_t Partitions, class KeyOf, class Traits = FullBusTraits>
class PartitionedBus : public detail::BusGroup<Bus<MessageList, Traits>, Partitions> {
    static_assert(Partitions != 0, "a partitioned bus needs at least one partition");
    using Base = detail::BusGroup<Bus<MessageList, Traits>, Partitions>;

public:
    using Partition = Bus<MessageList, Traits>;
    using Statistics = typename Partition::Statistics;

    explicit PartitionedBus(KeyOf keyOf = KeyOf()) : keyOf_(std::move(keyOf)) {}
    /// The observer must outlive the bus. All partitions call it, each on the threads of its own
    /// publishers and consumer.
    explicit PartitionedBus(typename Traits::Observer& observer, KeyOf keyOf = KeyOf())
        : Base(observer), keyOf_(std::move(keyOf)) {}

    PartitionedBus(const PartitionedBus&) = delete;
    PartitionedBus& operator=(const PartitionedBus&) = delete;
    ~PartitionedBus() { this->end(); }  // while keyOf_ exists

    /// The bus that messages with this key go to.
    [[nodiscard]] Partition& of(std::size_t key) noexcept { return this->buses_[indexOf(key)]; }

    /// Publishes in the partition of the message's key, as the functions of Bus do.
    template <class T, class Options = PublishOptions>
    SendResult publish(T&& message, const Options& options = {}) {
        return partitionOf(message).publish(std::forward<T>(message), options);
    }
    template <class T, class Options = PublishOptions>
    SendResult tryPublish(T&& message, const Options& options = {}) {
        return partitionOf(message).tryPublish(std::forward<T>(message), options);
    }
    template <class T, class Rep, class Period, class Options = PublishOptions>
    SendResult publishFor(std::chrono::duration<Rep, Period> timeout, T&& message,
                          const Options& options = {}) {
        return partitionOf(message).publishFor(timeout, std::forward<T>(message), options);
    }

    /// Subscribes a copy of the handler in each partition. The consumer of a partition calls the
    /// copy of that partition, so several threads may call copies at once. If one partition has no
    /// room for a handler, all subscriptions are empty. A copy must not end the subscription of
    /// another partition, because two copies could wait for each other.
    template <class T, class Handler>
    std::array<Subscription, Partitions> subscribe(const Handler& handler) {
        std::array<Subscription, Partitions> subscriptions;
        for (std::size_t i = 0; i < Partitions; ++i) {
            subscriptions[i] = this->buses_[i].template subscribe<T>(handler);
            if (!subscriptions[i]) {
                return {};
            }
        }
        return subscriptions;
    }

    /// The sum of the counts of all partitions. The high-water mark is the highest one.
    [[nodiscard]] Statistics statistics() const {
        Statistics sum = this->buses_[0].statistics();
        for (std::size_t i = 1; i < Partitions; ++i) {
            sum += this->buses_[i].statistics();
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

    KeyOf keyOf_;
};

}  // namespace sluice
