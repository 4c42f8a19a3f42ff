#pragma once

namespace sluice::nats {

/// The state of a connection. `closed` is final.
enum class LinkState : unsigned char { connected, disconnected, closed };

[[nodiscard]] constexpr const char* toString(LinkState state) noexcept {
    return state == LinkState::connected      ? "connected"
           : state == LinkState::disconnected ? "disconnected"
                                              : "closed";
}

/// Gets the events of a bridge. Derive from it and pass an object as LinkOptions::observer.
///
///     struct Printer : sluice::nats::BridgeObserver {
///         void changed(const char*, sluice::nats::LinkState) noexcept override {}
///         void trouble(const char* line) noexcept override { std::puts(line); }
///     };
///
/// Threads: threads of libnats and of the bridge call its functions, several at once. The functions
/// must not call the bridge.
class BridgeObserver {
public:
    /// The state of a connection has changed. `link` is "high" or "rest".
    virtual void changed(const char* link, LinkState state) noexcept = 0;
    /// Gets one line of text about trouble: messages are lost or refused, or the server refuses or
    /// does not answer. A link and a route tell the same line at most once in ten minutes, if they
    /// have at most 32 different ones to tell.
    virtual void trouble(const char* line) noexcept = 0;

protected:
    ~BridgeObserver() = default;
};

using LinkObserver [[deprecated("renamed: BridgeObserver")]] = BridgeObserver;

}  // namespace sluice::nats
