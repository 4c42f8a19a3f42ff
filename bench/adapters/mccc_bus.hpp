#pragma once

/// \file
/// MCCC's AsyncBus behind the interface of the rounds. Its depth is the macro MCCC_QUEUE_DEPTH, and
/// each list of messages has one bus for the whole program; so each source that includes this gives
/// its messages a family of their own. The figures come from a ring that is warm from the round
/// before.

#include "adapters/bus_messages.hpp"
#include "harness/machine/clock.hpp"
#include "harness/run/round.hpp"

#include <mccc/mccc.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>

namespace sluice::bench {

enum class Stamp { none, cached, exact };

template <std::size_t Bytes, std::size_t Family>
using McccPayload = std::variant<BusMessage<0, Bytes, Family>, BusMessage<1, Bytes, Family>,
                                 BusMessage<2, Bytes, Family>>;
template <std::size_t Bytes, std::size_t Family>
using McccAsyncBus = mccc::AsyncBus<McccPayload<Bytes, Family>>;

/// A publisher's clock.
template <Stamp Stamping>
class Stamps {
public:
    /// In microseconds, read for each 64th message.
    std::uint64_t next() noexcept {
        if constexpr (Stamping == Stamp::cached) {
            if (asked_++ % 64 == 0) {
                stamp_ = static_cast<std::uint64_t>(now()) / 1000;
            }
        }
        return stamp_;
    }

private:
    std::uint64_t stamp_ = 0;
    unsigned asked_ = 0;
};

/// Performance is the number of one of MCCC's modes.
template <int Performance, Stamp Stamping, Way Consuming, Sending Kinds, std::size_t Bytes = 64,
          std::size_t Family = 0>
class McccBus {
    using Payload = McccPayload<Bytes, Family>;
    using AsyncBus = McccAsyncBus<Bytes, Family>;
    using Envelope = typename AsyncBus::EnvelopeType;

public:
    McccBus(std::size_t, std::size_t) {
        bus_.SetPerformanceMode(static_cast<typename AsyncBus::PerformanceMode>(Performance));
    }
    McccBus(const McccBus&) = delete;
    McccBus& operator=(const McccBus&) = delete;
    // Otherwise the messages that an abandoned round has left would be in the next round.
    ~McccBus() {
        while (bus_.ProcessBatchWith([](const auto&) {}) != 0) {
        }
    }

    struct Producer {
        AsyncBus& bus;
        Stamps<Stamping> stamps;

        bool tryPush(const Message<Bytes>& text) {
            return withKind<Kinds, Family>(text, [&](auto kind) {
                if constexpr (Stamping == Stamp::exact) {
                    return bus.Publish(Payload(kind, text), senderOf(text));
                } else {
                    return bus.PublishFast(Payload(kind, text), senderOf(text), stamps.next());
                }
            });
        }
        bool tryPush(const Message<Bytes>& text, Urgency urgency) {
            const mccc::MessagePriority priority =
                urgency == Urgency::high     ? mccc::MessagePriority::HIGH
                : urgency == Urgency::medium ? mccc::MessagePriority::MEDIUM
                                             : mccc::MessagePriority::LOW;
            return withKind<Kinds, Family>(text, [&](auto kind) {
                return bus.PublishWithPriority(Payload(kind, text), senderOf(text), priority);
            });
        }

    private:
        static std::uint32_t senderOf(const Message<Bytes>& text) noexcept {
            return static_cast<std::uint32_t>(text.producer());
        }
    };

    class Consumer {
    public:
        explicit Consumer(AsyncBus& bus) noexcept : bus_(bus) {}
        Consumer(const Consumer&) = delete;
        Consumer& operator=(const Consumer&) = delete;
        ~Consumer() { unsubscribe(); }

        template <class Handler>
        std::size_t poll(const Handler& handler) {
            const MessageHandler<Handler> each{handler};
            if constexpr (Consuming == Way::visitor) {
                return bus_.ProcessBatchWith(each);
            } else {
                if (current_.changesTo(handler)) {
                    unsubscribe();
                    subscriptions_ = {subscribe<0>(each), subscribe<1>(each), subscribe<2>(each)};
                }
                return bus_.ProcessBatch();
            }
        }

    private:
        template <std::size_t Number, class Each>
        mccc::SubscriptionHandle subscribe(const Each& each) {
            using T = BusMessage<Number, Bytes, Family>;
            return bus_.template Subscribe<T>(
                [each](const Envelope& envelope) { each(*std::get_if<T>(&envelope.payload)); });
        }

        void unsubscribe() noexcept {
            for (const mccc::SubscriptionHandle& each : subscriptions_) {
                (void)bus_.Unsubscribe(each);
            }
        }

        AsyncBus& bus_;
        CurrentHandler current_;
        std::array<mccc::SubscriptionHandle, 3> subscriptions_{};
    };

    Producer producer() { return {bus_, {}}; }
    Consumer consumer() { return Consumer(bus_); }

private:
    AsyncBus& bus_ = AsyncBus::Instance();
};

}  // namespace sluice::bench
