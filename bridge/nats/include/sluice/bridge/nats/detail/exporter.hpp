#pragma once

#include <sluice/bridge/nats/detail/link.hpp>
#include <sluice/bridge/nats/detail/outbox.hpp>
#include <sluice/bridge/nats/detail/subject.hpp>
#include <sluice/bridge/nats/detail/trouble_reporter.hpp>
#include <sluice/bridge/nats/options.hpp>
#include <sluice/bridge/nats/statistics.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/wire/buffer.hpp>
#include <sluice/wire/codec.hpp>
#include <sluice/wire/envelope.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice::nats::detail {

/// The parts of a bridge that its exporters use.
struct ExportContext {
    Link& rest;
    Link& high;
    Outbox* outbox;  ///< null: the bridge has no durable profile
    Counters& counters;
    const std::string& stream;
    std::uint64_t origin;
    std::uint32_t incarnation;
    std::size_t maxMessageSize;
    BridgeObserver* observer;  ///< may be null
};

/// The last sequence of each priority. All exporters of a route share it, because importers and the
/// server distinguish messages of one origin and type by the sequence alone.
using RouteSequences = std::array<std::atomic<std::uint64_t>, priorityCount>;

struct AnyExporter {
    virtual ~AnyExporter() = default;
};

/// Sends the messages of one type on one route.
///
/// Threads: in the core profile one thread at a time sends on a route. In the durable profile any
/// number of threads send.
template <class T>
class Exporter final : public AnyExporter {
public:
    Exporter(const ExportContext& context, const NatsRoute& route, RouteSequences& sequences)
        : context_(context),
          sequences_(sequences),
          type_(typeOf(route)),
          profile_(route.profile),
          reporter_(context.observer, "nats: " + route.subject + ": ") {
        for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
            subjects_[indexOf(priority)] = subjectOf(route, context.stream, priority);
        }
        if (profile_ == Profile::core) {
            bytes_.resize(context.maxMessageSize);
        } else if (context.observer != nullptr && context.outbox->lacksImporter(route.subject)) {
            reporter_.tell({"no importer has started yet; if no other consumer wants the messages, "
                            "the server drops them"});
        }
    }

    using Deadline = Park::Clock::time_point;

    /// Sends a message and counts the result. `time` is in nanoseconds since 1970-01-01 UTC. In the
    /// durable profile it waits for room until the deadline; without a deadline it does not wait.
    OutletResult send(const T& message, Priority priority, std::uint64_t trace, std::int64_t time,
                      std::optional<Deadline> deadline = std::nullopt) noexcept {
        const OutletResult result = profile_ == Profile::durable
                                        ? sendDurably(message, priority, trace, time, deadline)
                                        : sendCore(message, priority, trace, time);
        Counters& counters = context_.counters;
        const bool isDurable = profile_ == Profile::durable;
        if (result == OutletResult::tooLarge) {
            reporter_.tell({"a message is larger than maxMessageSize or than the server accepts"});
        } else if (result == OutletResult::congested) {
            reporter_.tell({"the server is slow or not connected, and "
                            "messages are refused"});
        } else if (result == OutletResult::unencodable) {
            reporter_.tell({"the codec refuses a message; perhaps a text is not UTF-8"});
        }
        add(result == OutletResult::ok                       ? counters.sent
            : result == OutletResult::notOnDisk              ? counters.notOnDisk
            : result == OutletResult::congested && isDurable ? counters.congested
                                                             : counters.unsent);
        return result;
    }

    /// Skips one sequence for a message that was not sent, so that importers see a gap.
    void skip(Priority priority) noexcept { (void)nextSequence(priority); }

    [[nodiscard]] Counters& counters() const noexcept { return context_.counters; }

private:
    static std::size_t indexOf(Priority priority) noexcept {
        return static_cast<std::size_t>(priority);
    }

    OutletResult sendDurably(const T& message, Priority priority, std::uint64_t trace,
                             std::int64_t time, std::optional<Deadline> deadline) noexcept {
        Outbox::Reservation reservation;
        Outbox& outbox = *context_.outbox;
        const OutletResult room = deadline ? outbox.reserveUntil(*deadline, priority, reservation)
                                           : outbox.reserve(priority, reservation);
        if (room != OutletResult::ok) {
            return room;
        }
        std::size_t body = 0;
        const OutletResult form =
            encodeBody(message, reservation.data(), reservation.capacity(), body);
        if (form != OutletResult::ok) {
            return form;
        }
        if (!outbox.fits(wire::envelopeSize + body, priority)) {
            return OutletResult::tooLarge;
        }
        const std::uint64_t sequence = nextSequence(priority);
        encodeHead(reservation.data(), body, priority, trace, time, sequence);
        return outbox.commit(std::move(reservation), wire::envelopeSize + body,
                             {priority, subjects_[indexOf(priority)].c_str(), context_.origin,
                              context_.incarnation, type_, sequence});
    }

    OutletResult sendCore(const T& message, Priority priority, std::uint64_t trace,
                          std::int64_t time) noexcept {
        std::size_t body = 0;
        const OutletResult form = encodeBody(message, bytes_.data(), bytes_.size(), body);
        if (form != OutletResult::ok) {
            return form;
        }
        Link& link = priority == Priority::high ? context_.high : context_.rest;
        // Relaxed: in this profile one thread at a time sends.
        std::atomic<std::uint64_t>& last = sequences_[indexOf(priority)];
        const std::uint64_t sequence = last.load(std::memory_order_relaxed) + 1;
        encodeHead(bytes_.data(), body, priority, trace, time, sequence);
        const std::size_t size = wire::envelopeSize + body;
        if (!link.publish(subjects_[indexOf(priority)].c_str(), bytes_.data(), size)) {
            return link.state() == LinkState::closed ? OutletResult::closed
                   : size > link.maxPayload()        ? OutletResult::tooLarge
                                                     : OutletResult::congested;
        }
        last.store(sequence, std::memory_order_relaxed);
        return OutletResult::ok;
    }

    /// Encodes the message behind the room for its envelope. Sets `size` if the result is `ok`.
    /// Otherwise the result is `tooLarge` or `unencodable`.
    static OutletResult encodeBody(const T& message, unsigned char* bytes, std::size_t capacity,
                                   std::size_t& size) noexcept {
        wire::Buffer body(bytes + wire::envelopeSize, capacity - wire::envelopeSize);
        if (wire::Codec<T>::encode(message, body)) {
            size = body.size();
            return OutletResult::ok;
        }
        return body.hasOverflowed() ? OutletResult::tooLarge : OutletResult::unencodable;
    }

    void encodeHead(unsigned char* bytes, std::size_t body, Priority priority, std::uint64_t trace,
                    std::int64_t time, std::uint64_t sequence) const noexcept {
        wire::Envelope envelope;
        envelope.traceId = trace;
        envelope.schemaHash = schema_;
        envelope.type = type_;
        envelope.priority = static_cast<std::uint8_t>(priority);
        envelope.origin = context_.origin;
        envelope.incarnation = context_.incarnation;
        envelope.sequence = sequence;
        envelope.time = time;
        wire::encodeEnvelope(envelope, bytes, static_cast<std::uint32_t>(body));
    }

    std::uint64_t nextSequence(Priority priority) noexcept {
        // Relaxed: it orders nothing.
        return sequences_[indexOf(priority)].fetch_add(1, std::memory_order_relaxed) + 1;
    }

    const ExportContext context_;
    RouteSequences& sequences_;
    const std::uint32_t type_;
    const Profile profile_;
    const std::uint64_t schema_ = wire::Codec<T>::schemaHash();
    std::array<std::string, priorityCount> subjects_;
    std::vector<unsigned char> bytes_;  ///< core profile: buffer for the envelope and the message
    TroubleReporter reporter_;
};

}  // namespace sluice::nats::detail
