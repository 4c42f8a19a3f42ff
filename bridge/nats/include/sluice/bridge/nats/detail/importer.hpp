#pragma once

#include <sluice/base/send_result.hpp>
#include <sluice/bridge/nats/detail/coding.hpp>
#include <sluice/bridge/nats/detail/duplicate_filter.hpp>
#include <sluice/bridge/nats/detail/link.hpp>
#include <sluice/bridge/nats/detail/subject.hpp>
#include <sluice/bridge/nats/detail/trouble_reporter.hpp>
#include <sluice/bridge/nats/options.hpp>
#include <sluice/bridge/nats/statistics.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/messages.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/wire/codec.hpp>
#include <sluice/wire/envelope.hpp>

#include <array>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <new>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace sluice::nats::detail {

template <class AnyBus>
struct ImportContext {
    AnyBus& bus;
    Counters& counters;
    const std::atomic<bool>& isClosing;
    std::uint64_t origin;
    std::size_t maxOrigins;
    bool isShared;             ///< whether other programs receive some of the messages
    BridgeObserver* observer;  ///< may be null
};

/// True if a bus with this header may drop accepted messages.
template <class Header>
inline constexpr bool isDropping = false;
template <class Traits>
inline constexpr bool isDropping<MessageHeader<Traits>> =
    Traits::overflow[0] == Overflow::dropOldest || Traits::overflow[1] == Overflow::dropOldest ||
    Traits::overflow[2] == Overflow::dropOldest;

/// The number of an importer with untilHandled, or of a Responder. In the bus, the `sender` of each
/// of its messages consists of this number (upper bits) and the message's number (lower bits).
/// Shared libraries of a program use one counter if they are loaded with RTLD_GLOBAL or built by
/// g++.
///
/// Numbers repeat after 4,095; each import and each served route uses three. The message number has
/// 20 bits, so the bus may contain fewer than 2^19 messages of an import. A copy of a message must
/// be handled before 2^20 later messages have been published.
class [[gnu::visibility("default")]] ImportNumber {
public:
    static ImportNumber next() noexcept {
        return ImportNumber((made_.fetch_add(1) % 4095 + 1) << countBits);
    }
    static ImportNumber none() noexcept { return ImportNumber(0); }

    [[nodiscard]] bool isNone() const noexcept { return bits_ == 0; }
    /// Returns the `sender` of the message with this number.
    [[nodiscard]] std::uint32_t senderOf(std::uint64_t count) const noexcept {
        return bits_ | (static_cast<std::uint32_t>(count) & countMask);
    }
    [[nodiscard]] bool isOf(std::uint32_t sender) const noexcept {
        return (sender & ~countMask) == bits_;
    }
    /// Returns the full number of a message, or `before` if the message is not later, because a
    /// program may have published an old message again.
    static std::uint64_t laterOf(std::uint64_t before, std::uint32_t sender) noexcept {
        const std::uint32_t step = (sender - static_cast<std::uint32_t>(before)) & countMask;
        return step <= countMask / 2 ? before + step : before;
    }
    /// Returns the full number of a message that is not later than `last`.
    static std::uint64_t upTo(std::uint64_t last, std::uint32_t sender) noexcept {
        return last - ((static_cast<std::uint32_t>(last) - sender) & countMask);
    }

private:
    explicit ImportNumber(std::uint32_t bits) noexcept : bits_(bits) {}

    static constexpr unsigned countBits = 20;
    static constexpr std::uint32_t countMask = (1U << countBits) - 1;

    inline static std::atomic<std::uint32_t> made_{0};
    std::uint32_t bits_;
};

/// Publishes the imported messages of one type and priority into the bus.
///
/// Threads: the bus' consumer calls noteHandled(), and any thread may call handled(). The thread of
/// the subscription or of the link's Pull calls the other functions.
template <class T, class AnyBus>
class Importer final : public Receiver {
    static_assert(std::is_default_constructible_v<T>,
                  "an imported type must have a default constructor");

public:
    Importer(const ImportContext<AnyBus>& context, const NatsRoute& route, Priority priority,
             ImportNumber number)
        : context_(context),
          type_(typeOf(route)),
          profile_(route.profile),
          number_(number),
          priority_(priority),
          reporter_(context.observer, "nats: " + route.subject + "." + toString(priority) + ": ") {}

    [[nodiscard]] std::uint64_t accepted() const noexcept override { return accepted_.load(); }
    [[nodiscard]] std::uint64_t handled() const noexcept override { return handled_.load(); }
    /// Called by the bus' consumer after all handlers of an imported message have returned. Earlier
    /// messages of this importer have also left the bus.
    void noteHandled(std::uint32_t sender) noexcept {
        if (number_.isOf(sender)) {
            // Relaxed: only the consumer writes it.
            const std::uint64_t before = handled_.load(std::memory_order_relaxed);
            const std::uint64_t later = ImportNumber::laterOf(before, sender);
            // A greater number belongs to an old message that the program has published again. The
            // newest message may be handled before it counts as accepted.
            if (later <= accepted_.load() + 1) {
                handled_.store(later);
            }
        }
    }

    Verdict receive(const unsigned char* data, std::size_t size) noexcept override {
        Counters& counters = context_.counters;
        wire::Envelope envelope;
        if (wire::decodeEnvelope(data, size, envelope) != wire::EnvelopeError::none ||
            envelope.priority != static_cast<std::uint8_t>(priority_) ||
            envelope.sequence > largestSequence) {
            return refuseGarbage();
        }
        if (envelope.type != type_ || !isReadableAs<T>(envelope.schemaHash)) {
            return refuseSchema();
        }
        if (envelope.origin == context_.origin) {
            return countedAs(counters.looped, Verdict::taken);
        }
        std::optional<T> message;
        const Reading reading = decodeBody(data, size, message);
        if (reading == Reading::noMemory) {
            return countedAs(counters.refused, Verdict::later);
        }
        if (reading == Reading::unreadable) {
            return envelope.schemaHash == schema_ ? refuseGarbage() : refuseSchema();
        }
        DuplicateFilter* const run = runOf(envelope);
        if (run != nullptr && !run->isFresh(envelope.sequence)) {
            // The first copy may still wait for its handlers, so the server must keep the message
            // until they have returned.
            return countedAs(profile_ == Profile::durable ? counters.duplicates : counters.late,
                             number_.isNone() ? Verdict::taken : Verdict::repeated);
        }
        const Outcome outcome = publish(envelope, std::move(*message));
        if (outcome == Outcome::full) {
            return Verdict::full;
        }
        // In the core profile, a message that the bus refuses counts as received, not as a gap.
        const bool isAccepted = outcome == Outcome::accepted;
        if (run == nullptr) {
            add(counters.untracked);
        }
        if (run != nullptr && (isAccepted || profile_ == Profile::core)) {
            note(*run, envelope);
        }
        if (!isAccepted) {
            return countedAs(counters.refused, Verdict::later);
        }
        ++accepted_;
        return countedAs(counters.delivered, number_.isNone() ? Verdict::taken : Verdict::accepted);
    }

private:
    /// The limit of valid sequences, so that a forged sequence cannot overflow `gaps`.
    static constexpr std::uint64_t largestSequence = std::uint64_t{1} << 53;
    using RunId = std::pair<std::uint64_t, std::uint32_t>;  ///< origin and incarnation of the run

    static Verdict countedAs(Count& count, Verdict verdict) noexcept {
        add(count);
        return verdict;
    }

    Verdict refuseGarbage() noexcept {
        reporter_.report({"unreadable messages arrive, and are dropped"});
        return countedAs(context_.counters.malformed, Verdict::never);
    }
    Verdict refuseSchema() noexcept {
        reporter_.report({"messages of another version or type arrive"});
        return countedAs(context_.counters.otherSchema, Verdict::never);
    }

    /// Returns the sender's run, which it adds if it is new, or null if maxOrigins runs exist or
    /// memory is exhausted. Called before the message is published, so that no allocation can fail
    /// after the bus has accepted the message.
    DuplicateFilter* runOf(const wire::Envelope& envelope) noexcept {
        const RunId id(envelope.origin, envelope.incarnation);
        const auto known = runs_.find(id);
        if (known != runs_.end()) {
            return &known->second;
        }
        try {
            if (runs_.size() < context_.maxOrigins) {
                return &runs_.emplace(id, DuplicateFilter(profile_ == Profile::durable))
                            .first->second;
            }
        } catch (const std::bad_alloc&) {
            // handled like maxOrigins
        }
        return nullptr;
    }

    void note(DuplicateFilter& run, const wire::Envelope& envelope) noexcept {
        const std::int64_t change = run.add(envelope.sequence);
        if (context_.isShared && profile_ == Profile::durable) {
            return;  // other programs receive the missing messages
        }
        // A decrease is added modulo 2^64.
        add(context_.counters.gaps, static_cast<std::uint64_t>(change));
        if (change > 0 && profile_ == Profile::core) {
            std::array<char, 20> origin{};  // the digits of the largest number
            const char* const end =
                std::to_chars(origin.data(), origin.data() + origin.size(), envelope.origin).ptr;
            reporter_.report(
                {"messages are missing"},
                {", the first ones of origin ",
                 std::string_view(origin.data(), static_cast<std::size_t>(end - origin.data()))});
        }
    }

    enum class Outcome : unsigned char { accepted, full, refused };
    /// Publishes the message into the bus. In the durable profile, returns `full` instead of
    /// waiting, because the thread serves other importers too.
    Outcome publish(const wire::Envelope& envelope, T&& message) noexcept try {
        PublishOptions options;
        options.priority = priority_;
        options.origin = shortOrigin(envelope.origin);
        options.trace = envelope.traceId;
        options.sender = number_.isNone() ? 0 : number_.senderOf(accepted_.load() + 1);
        const bool isCore = profile_ == Profile::core;
        const SendResult result = isCore ? context_.bus.publish(std::move(message), options)
                                         : context_.bus.tryPublish(std::move(message), options);
        if (result == SendResult::ok) {
            return Outcome::accepted;
        }
        if (isCore) {
            reporter_.report({"the bus is full or closed, and imported messages are lost"});
        } else if (result == SendResult::full) {
            return Outcome::full;
        } else if (!context_.isClosing.load()) {
            reporter_.report({"the bus is closed, and imported messages stay in the stream"});
        }
        return Outcome::refused;
    } catch (...) {
        reporter_.report(
            {"a constructor of a message throws, and the bus does not get the message"});
        return Outcome::refused;
    }

    const ImportContext<AnyBus> context_;
    const std::uint32_t type_;
    const Profile profile_;
    const std::uint64_t schema_ = wire::Codec<T>::schemaHash();
    const ImportNumber number_;
    const Priority priority_;
    std::atomic<std::uint64_t> accepted_{0};  ///< number of messages that the bus has accepted
    std::atomic<std::uint64_t> handled_{0};   ///< number of the last message that was handled
    std::map<RunId, DuplicateFilter> runs_;
    TroubleReporter reporter_;
};

}  // namespace sluice::nats::detail
