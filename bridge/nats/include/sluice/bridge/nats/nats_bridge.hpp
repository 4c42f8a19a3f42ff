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
/// Use it for types without pointers whose sender and receivers are built alike: the bytes of the
/// object travel. Both ends must be little-endian.
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

#include <sluice/bridge/nats/frame.hpp>
#include <sluice/bridge/nats/link.hpp>
#include <sluice/bus/bus.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace sluice::nats {

struct NatsOptions : LinkOptions {
    /// Names the bus among all buses of the fleet. 0: the bridge draws a random number.
    std::uint64_t origin = 0;
    /// Origins whose sequences an importer of one type and priority follows. Messages of further
    /// origins are delivered, and counted as untracked.
    std::size_t maxOrigins = 1024;
};

struct NatsRoute {
    std::string subject;
    /// Change it when the meaning of the bytes changes: other versions are refused and counted.
    std::uint32_t schemaVersion = 1;
};

/// Each number counts messages, except `gaps`, which counts missing sequences.
struct NatsStatistics {
    std::uint64_t sent = 0;         ///< libnats took it
    std::uint64_t unsent = 0;       ///< libnats refused it: away for too long, or too large
    std::uint64_t notAgain = 0;     ///< imported before, so not exported
    std::uint64_t received = 0;     ///< the sum of the following lines, except gaps and untracked
    std::uint64_t delivered = 0;    ///< the local bus accepted it
    std::uint64_t refused = 0;      ///< the local bus had no room, or was closed
    std::uint64_t looped = 0;       ///< of this bridge's own origin
    std::uint64_t malformed = 0;    ///< not a frame, or a damaged one
    std::uint64_t otherSchema = 0;  ///< of another size, version or subject
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

inline std::uint64_t schemaOf(const NatsRoute& route, std::size_t size, std::size_t alignment) {
    std::uint64_t hash = 14695981039346656037U;
    const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 1099511628211U; };
    for (const char c : route.subject) {
        mix(static_cast<unsigned char>(c));
    }
    mix(size);
    mix(alignment);
    mix(route.schemaVersion);
    return hash;
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

    template <class T>
    static constexpr bool canTravel() noexcept {
        static_assert(std::is_trivially_copyable_v<T>,
                      "a bridge sends the bytes of a message: it must be trivially copyable");
        static_assert(std::is_default_constructible_v<T>, "an importer makes a message first");
        return true;
    }

    struct AnyExport {
        virtual ~AnyExport() = default;
    };
    struct AnyImport : Receiver {
        virtual ~AnyImport() = default;
    };

    /// Used by the bus' consumer alone.
    template <class T>
    struct Export final : AnyExport {
        static_assert(canTravel<T>());

        Export(NatsBridge& owner, const NatsRoute& route)
            : bridge(owner), schema(detail::schemaOf(route, sizeof(T), alignof(T))) {
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
            Frame frame;
            if constexpr (Header::hasPriority) {
                frame.priority = header.priority;
            }
            if constexpr (Header::hasTrace) {
                frame.trace = header.trace;
            }
            const auto lane = static_cast<std::size_t>(frame.priority);
            frame.schema = schema;
            frame.origin = bridge.origin_;
            // A message that libnats refuses uses up its number, so importers see the gap.
            frame.sequence = ++sequences[lane];
            frame.length = sizeof(T);
            std::memcpy(bytes.data() + frameSize, &message, sizeof(T));
            encodeFrame(frame, bytes.data());
            const bool isSent = bridge.linkOf(frame.priority)
                                    .publish(subjects[lane].c_str(), bytes.data(), bytes.size());
            Counters::add(isSent ? counters.sent : counters.unsent);
        }

        NatsBridge& bridge;
        std::uint64_t schema;
        std::array<std::string, priorityCount> subjects;
        std::array<std::uint64_t, priorityCount> sequences{};  ///< of the last message
        std::array<unsigned char, frameSize + sizeof(T)> bytes{};
    };

    /// Used by its subscription's thread alone.
    template <class T>
    struct Import final : AnyImport {
        static_assert(canTravel<T>());

        Import(NatsBridge& owner, const NatsRoute& route, Priority of)
            : bridge(owner), schema(detail::schemaOf(route, sizeof(T), alignof(T))), priority(of) {}

        void receive(const unsigned char* data, std::size_t size) noexcept override {
            Counters& counters = bridge.counters_;
            Counters::add(counters.received);
            Frame frame;
            if (decodeFrame(data, size, frame) != FrameError::none || frame.priority != priority) {
                Counters::add(counters.malformed);
            } else if (frame.schema != schema || frame.length != sizeof(T)) {
                Counters::add(counters.otherSchema);
            } else if (frame.origin == bridge.origin_) {
                Counters::add(counters.looped);
            } else if (!isNext(frame)) {
                Counters::add(counters.late);
            } else {
                publish(frame, data + frameSize);
            }
        }

        /// False when the sequence is not beyond the last one. Counts those in between as missing.
        bool isNext(const Frame& frame) noexcept {
            const auto known = last.find(frame.origin);
            if (known == last.end()) {
                follow(frame);
                return true;
            }
            if (frame.sequence <= known->second) {
                return false;
            }
            Counters::add(bridge.counters_.gaps, frame.sequence - known->second - 1);
            known->second = frame.sequence;
            return true;
        }

        void follow(const Frame& frame) noexcept {
            try {
                if (last.size() < bridge.maxOrigins_) {
                    last.emplace(frame.origin, frame.sequence);
                    return;
                }
            } catch (const std::bad_alloc&) {
                // Without memory the origin stays untracked, as beyond maxOrigins.
            }
            Counters::add(bridge.counters_.untracked);
        }

        void publish(const Frame& frame, const unsigned char* body) noexcept {
            T message;
            std::memcpy(&message, body, sizeof(T));
            PublishOptions options;
            options.priority = priority;
            options.origin = detail::shortOrigin(frame.origin);
            options.trace = frame.trace;
            const bool isAccepted = bridge.bus_.publish(message, options) == PublishResult::ok;
            Counters& counters = bridge.counters_;
            Counters::add(isAccepted ? counters.delivered : counters.refused);
        }

        NatsBridge& bridge;
        std::uint64_t schema;
        Priority priority;
        std::unordered_map<std::uint64_t, std::uint64_t> last;  ///< sequence of each origin
    };

    Link& linkOf(Priority priority) noexcept { return priority == Priority::high ? high_ : rest_; }

    AnyBus& bus_;
    std::uint64_t origin_;
    std::size_t maxOrigins_;
    Counters counters_;
    // The links end before what their threads call, and the handlers before the links.
    std::vector<std::unique_ptr<AnyExport>> exports_;
    std::vector<std::unique_ptr<AnyImport>> imports_;
    Link rest_;  ///< low and medium
    Link high_;
    std::vector<Subscription> handlers_;
};

}  // namespace sluice::nats
