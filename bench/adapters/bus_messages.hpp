#pragma once

/// \file
/// The messages of the bus scenarios: three kinds, the same for all buses.

#include "harness/run/message.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice::bench {

/// How the consumer of a bus meets its messages.
enum class Way {
    table,   ///< handlers that have subscribed to a kind
    visitor  ///< a visitor that knows all kinds
};

/// Which kinds are sent.
enum class Sending {
    one,   ///< always the same
    mixed  ///< all, and no branch predictor knows when
};

/// Each kind is handled in its own way. Otherwise the compiler might see that the kind makes no
/// difference. Family makes another list of messages, for programs that have one bus for each list.
template <std::size_t Number, std::size_t Bytes = 64, std::size_t Family = 0>
struct BusMessage {
    BusMessage() = default;
    explicit BusMessage(const Message<Bytes>& all) noexcept : text(all) {}

    void handle() const noexcept {
        const std::uint64_t handled =
            text.words[(Number + 1) % text.words.size()] * (2 * Number + 1);
        asm volatile("" : : "r"(handled));
    }

    Message<Bytes> text;
};

/// Calls make(in_place_type<kind>) with the kind that this message is sent as.
template <Sending Kinds, std::size_t Family = 0, std::size_t Bytes, class Make>
[[gnu::always_inline]] inline bool withKind([[maybe_unused]] const Message<Bytes>& text,
                                            Make&& make) {
    if constexpr (Kinds == Sending::mixed) {
        switch ((text.sequence() * 0x9E3779B97F4A7C15u >> 32U) % 3) {
        case 0:
            return make(std::in_place_type<BusMessage<0, Bytes, Family>>);
        case 1:
            return make(std::in_place_type<BusMessage<1, Bytes, Family>>);
        default:
            break;
        }
    }
    return make(std::in_place_type<BusMessage<2, Bytes, Family>>);
}

/// Passes messages of all kinds on to the crew's handler.
template <class Handler>
struct MessageHandler {
    const Handler& handler;

    template <std::size_t Number, std::size_t Bytes, std::size_t Family>
    void operator()(const BusMessage<Number, Bytes, Family>& kind) const {
        kind.handle();
        handler(kind.text);
    }
};

/// The crew has another handler for each part of a round. In a table it is subscribed when it is
/// first polled with, so that its calls cost as much as those of a program's own handler.
class CurrentHandler {
public:
    /// Whether it is another one than the last time.
    template <class Handler>
    bool changesTo(const Handler& handler) noexcept {
        const auto before = std::exchange(current_, {&handler, &typeOf<Handler>});
        return before != current_;
    }

private:
    template <class Handler>
    static constexpr char typeOf = 0;

    std::pair<const void*, const char*> current_{};
};

}  // namespace sluice::bench
