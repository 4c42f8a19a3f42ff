#pragma once

/// \file
/// NatsBridge: carries messages of chosen types between a bus and buses of other processes, through
/// a NATS server.
///
///     sluice::nats::NatsBridge bridge(bus, {"nats://robot-7:4222"});
///     bridge.importType<Order>({"fleet.order"});
///     bridge.exportType<Position>({"fleet.position"});
///
/// Guarantee: at most once (core NATS). A message that is lost behind the exporting bridge is
/// counted as a gap by each importer that receives a later message of the same origin, subject and
/// priority. Losses before an importer's first message and after its last one are not seen.
///
/// Messages travel as sluice::wire encodes them, behind its envelope. So sender and receivers may
/// be built differently, and one of them may know fields that the other one does not.
///
/// Who may call what: exportType, importType and close by the owner, one thread at a time;
/// statistics and state by anybody. Exported messages are sent by the bus' consumer, in a handler.
/// Imported messages are published by threads of libnats. Each import and priority has its own
/// thread and its own table of sequences. With BusOverflow::block such a thread waits for room, and
/// so does close(): somebody must consume the bus meanwhile.
///
/// Loops: a bus needs Traits::origins. A message that a bridge has imported carries an origin and
/// no bridge exports it again. A bridge drops a message of its own origin. Two bridges of one bus
/// must have the same origin in their options, and must not export the same subject.
///
/// Priority: high messages have a connection of their own. The subject ends with the priority, for
/// example fleet.order.high.
///
/// Allocation: none for each message on the bus' side. An importer allocates once for each new
/// origin, up to maxOrigins.
///
/// Lifetime: the bus outlives the bridge. The destructor closes without waiting for the server.
///
/// Tests: bridge/nats/tests/nats_bridge_test.cpp.

#include <sluice/bridge/nats/link.hpp>
#include <sluice/bus/bus.hpp>
#include <sluice/wire/envelope.hpp>
#include <sluice/wire/message_pack.hpp>
#include <sluice/wire/schema_hash.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sluice::nats {

struct NatsOptions : LinkOptions {
    /// Names the bus among all buses of the fleet. 0: the bridge draws a random number.
    std::uint64_t origin = 0;
    /// Origins whose sequences an importer of one type and priority follows. Messages of further
    /// origins are delivered, and counted as untracked.
    std::size_t maxOrigins = 1024;
    /// The largest message in bytes, as it travels. Each exported type has a buffer of this size.
    std::size_t maxMessageSize = 64 * 1024;
};

struct NatsRoute {
    std::string subject;
    /// Change it when the meaning of a field changes: other versions are refused and counted.
    std::uint32_t schemaVersion = 1;
};

/// Each number counts messages, except `gaps`, which counts missing sequences.
struct NatsStatistics {
    std::uint64_t sent = 0;         ///< libnats took it
    std::uint64_t unsent = 0;       ///< too large, or libnats refused it: away for too long
    std::uint64_t notAgain = 0;     ///< imported before, so not exported
    std::uint64_t received = 0;     ///< the sum of the following lines, except gaps and untracked
    std::uint64_t delivered = 0;    ///< the local bus accepted it
    std::uint64_t refused = 0;      ///< the local bus had no room, or was closed
    std::uint64_t looped = 0;       ///< of this bridge's own origin
    std::uint64_t malformed = 0;    ///< without an envelope, damaged, or with wrong fields
    std::uint64_t otherSchema = 0;  ///< of another version or subject
    std::uint64_t late = 0;         ///< of a sequence that was already received or given up
    std::uint64_t gaps = 0;         ///< sequences that are missing
    std::uint64_t untracked = 0;    ///< of an origin beyond maxOrigins
};

namespace detail {

struct Counters {
    using Count = std::atomic<std::uint64_t>;
    Count sent{0}, unsent{0}, notAgain{0}, received{0}, delivered{0}, refused{0}, looped{0},
        malformed{0}, otherSchema{0}, late{0}, gaps{0}, untracked{0};

    // Relaxed: a count orders nothing, and readers expect no moment that all counts share.
    static void add(Count& count, std::uint64_t n = 1) noexcept {
        count.fetch_add(n, std::memory_order_relaxed);
    }
};

/// Never 0: that would be a message of this process.
inline std::uint32_t shortOrigin(std::uint64_t origin) noexcept {
    const auto folded = static_cast<std::uint32_t>(origin ^ (origin >> 32));
    return folded == 0 ? 1 : folded;
}

/// The type in the envelope: one number for a subject and a version.
inline std::uint32_t typeOf(const NatsRoute& route) noexcept {
    std::uint32_t hash = 2166136261U;
    const auto mix = [&hash](std::uint32_t value) { hash = (hash ^ value) * 16777619U; };
    for (const char c : route.subject) {
        mix(static_cast<unsigned char>(c));
    }
    mix(route.schemaVersion);
    return hash;
}

/// Nanoseconds since 1970-01-01 UTC.
inline std::int64_t wallClock() noexcept {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

inline std::uint64_t drawOrigin() {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device() | 1U;
}

}  // namespace detail

template <class AnyBus>
class NatsBridge {
    using Header = typename AnyBus::Header;
    static_assert(Header::hasOrigin,
                  "a bridge needs Traits::origins: it tells imported messages from local ones");

public:
    /// Throws std::runtime_error with one line when the server cannot be reached or refuses.
    NatsBridge(AnyBus& bus, const NatsOptions& options)
        : bus_(bus),
          origin_(options.origin != 0 ? options.origin : detail::drawOrigin()),
          maxOrigins_(options.maxOrigins),
          maxMessageSize_(std::max(options.maxMessageSize, wire::envelopeSize)),
          rest_(options),
          high_(options) {}
    NatsBridge(const NatsBridge&) = delete;
    NatsBridge& operator=(const NatsBridge&) = delete;
    ~NatsBridge() { (void)close(std::chrono::milliseconds(0)); }

    /// Sends each message of type T that the bus serves from now on. Throws std::runtime_error when
    /// the bus has no room for another handler.
    template <class T>
    void exportType(const NatsRoute& route) {
        auto made = std::make_unique<Export<T>>(*this, route);
        Export<T>* const self = made.get();
        exports_.push_back(std::move(made));
        handlers_.push_back(bus_.template subscribe<T>(
            [self](const T& message, const Header& header) { self->send(message, header); }));
        if (!handlers_.back()) {
            throw std::runtime_error("nats: no room for a handler that exports " + route.subject);
        }
    }

    /// Publishes each message of type T that arrives from now on.
    template <class T>
    void importType(const NatsRoute& route) {
        for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
            auto made = std::make_unique<Import<T>>(*this, route, priority);
            Import<T>& self = *made;
            imports_.push_back(std::move(made));
            linkOf(priority).subscribe(route.subject + "." + toString(priority), self);
        }
        if (!rest_.flush(std::chrono::seconds(2)) || !high_.flush(std::chrono::seconds(2))) {
            throw std::runtime_error("nats: the server does not answer");
        }
    }

    /// Stops exporting and importing. False when a link had to be cut before everything was sent
    /// and handled. May be called repeatedly, but not by a handler of the bus.
    bool close(std::chrono::milliseconds timeout) noexcept {
        handlers_.clear();
        const bool isHighComplete = high_.close(timeout);
        return rest_.close(timeout) && isHighComplete;
    }

    [[nodiscard]] std::uint64_t origin() const noexcept { return origin_; }
    [[nodiscard]] LinkState state(Priority priority) const noexcept {
        return priority == Priority::high ? high_.state() : rest_.state();
    }

    [[nodiscard]] NatsStatistics statistics() const noexcept {
        const detail::Counters& c = counters_;
        return {c.sent,   c.unsent,    c.notAgain,    c.received, c.delivered, c.refused,
                c.looped, c.malformed, c.otherSchema, c.late,     c.gaps,      c.untracked};
    }

private:
    using Counters = detail::Counters;

    struct AnyExport {
        virtual ~AnyExport() = default;
    };
    struct AnyImport : Receiver {
        virtual ~AnyImport() = default;
    };

    /// Used by the bus' consumer alone.
    template <class T>
    struct Export final : AnyExport {
        Export(NatsBridge& owner, const NatsRoute& route)
            : bridge(owner), type(detail::typeOf(route)), bytes(owner.maxMessageSize_) {
            for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
                subjects[static_cast<std::size_t>(priority)] =
                    route.subject + "." + toString(priority);
            }
        }

        void send(const T& message, const Header& header) noexcept {
            Counters& counters = bridge.counters_;
            if (header.origin != 0) {
                Counters::add(counters.notAgain);
                return;
            }
            Priority priority = Priority::medium;
            if constexpr (Header::hasPriority) {
                priority = header.priority;
            }
            const auto lane = static_cast<std::size_t>(priority);
            wire::Envelope envelope;
            if constexpr (Header::hasTrace) {
                envelope.traceId = header.trace;
            }
            envelope.schemaHash = wire::schemaHash<T>();
            envelope.type = type;
            envelope.priority = static_cast<std::uint8_t>(priority);
            envelope.hopCount = 1;
            envelope.origin = bridge.origin_;
            // A message that is not sent uses up its number, so importers see the gap.
            envelope.sequence = ++sequences[lane];
            envelope.time = detail::wallClock();
            wire::Buffer body(bytes.data() + wire::envelopeSize, bytes.size() - wire::envelopeSize);
            const bool isSent = wire::encode(message, body) &&
                                send(envelope, body.size(), subjects[lane].c_str(), priority);
            Counters::add(isSent ? counters.sent : counters.unsent);
        }

        bool send(const wire::Envelope& envelope, std::size_t size, const char* subject,
                  Priority priority) noexcept {
            wire::encodeEnvelope(envelope, bytes.data(), static_cast<std::uint32_t>(size));
            return bridge.linkOf(priority).publish(subject, bytes.data(),
                                                   wire::envelopeSize + size);
        }

        NatsBridge& bridge;
        std::uint32_t type;
        std::array<std::string, priorityCount> subjects;
        std::array<std::uint64_t, priorityCount> sequences{};  ///< of the last message
        std::vector<unsigned char> bytes;  ///< the envelope, and the message behind it
    };

    /// Used by its subscription's thread alone.
    template <class T>
    struct Import final : AnyImport {
        static_assert(std::is_default_constructible_v<T>, "an importer makes a message first");

        Import(NatsBridge& owner, const NatsRoute& route, Priority of)
            : bridge(owner), type(detail::typeOf(route)), priority(of) {}

        void receive(const unsigned char* data, std::size_t size) noexcept override {
            Counters& counters = bridge.counters_;
            Counters::add(counters.received);
            wire::Envelope envelope;
            T message{};
            if (wire::decodeEnvelope(data, size, envelope) != wire::EnvelopeError::none ||
                envelope.priority != static_cast<std::uint8_t>(priority)) {
                Counters::add(counters.malformed);
            } else if (envelope.type != type) {
                Counters::add(counters.otherSchema);
            } else if (envelope.origin == bridge.origin_) {
                Counters::add(counters.looped);
            } else if (!read(data, size, message)) {
                Counters::add(counters.malformed);
            } else if (!isNext(envelope)) {
                Counters::add(counters.late);
            } else {
                publish(envelope, std::move(message));
            }
        }

        /// False, too, when there is no memory for the message.
        static bool read(const unsigned char* data, std::size_t size, T& message) noexcept {
            try {
                return wire::decode(data + wire::envelopeSize, size - wire::envelopeSize,
                                    message) == wire::DecodeError::none;
            } catch (const std::bad_alloc&) {
                return false;
            }
        }

        /// False when the sequence is not beyond the last one. Counts those in between as missing.
        bool isNext(const wire::Envelope& envelope) noexcept {
            const auto known = last.find(envelope.origin);
            if (known == last.end()) {
                follow(envelope);
                return true;
            }
            if (envelope.sequence <= known->second) {
                return false;
            }
            Counters::add(bridge.counters_.gaps, envelope.sequence - known->second - 1);
            known->second = envelope.sequence;
            return true;
        }

        void follow(const wire::Envelope& envelope) noexcept {
            try {
                if (last.size() < bridge.maxOrigins_) {
                    last.emplace(envelope.origin, envelope.sequence);
                    return;
                }
            } catch (const std::bad_alloc&) {
                // Without memory the origin stays untracked, as beyond maxOrigins.
            }
            Counters::add(bridge.counters_.untracked);
        }

        void publish(const wire::Envelope& envelope, T&& message) noexcept {
            PublishOptions options;
            options.priority = priority;
            options.origin = detail::shortOrigin(envelope.origin);
            options.trace = envelope.traceId;
            const bool isAccepted =
                bridge.bus_.publish(std::move(message), options) == PublishResult::ok;
            Counters& counters = bridge.counters_;
            Counters::add(isAccepted ? counters.delivered : counters.refused);
        }

        NatsBridge& bridge;
        std::uint32_t type;
        Priority priority;
        std::unordered_map<std::uint64_t, std::uint64_t> last;  ///< sequence of each origin
    };

    Link& linkOf(Priority priority) noexcept { return priority == Priority::high ? high_ : rest_; }

    AnyBus& bus_;
    std::uint64_t origin_;
    std::size_t maxOrigins_;
    std::size_t maxMessageSize_;
    Counters counters_;
    // The links end before what their threads call, and the handlers before the links.
    std::vector<std::unique_ptr<AnyExport>> exports_;
    std::vector<std::unique_ptr<AnyImport>> imports_;
    Link rest_;  ///< low and medium
    Link high_;
    std::vector<Subscription> handlers_;
};

}  // namespace sluice::nats
