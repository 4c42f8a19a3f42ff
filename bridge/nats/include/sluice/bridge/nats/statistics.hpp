#pragma once

#include <sluice/bridge/nats/options.hpp>

#include <atomic>
#include <cstdint>

namespace sluice::nats {

/// The counts of a bridge, and the states of its links. Each number counts messages, with three
/// exceptions: `gaps` counts missing sequences, `resent` counts sends, and `damaged` counts places
/// in the folder. These sums hold:
///
///     exported messages = sent + unsent + congested + notOnDisk + notAgain
///     accepted = acknowledged + undeliverable + abandoned + held
///     received = delivered + refused + looped + malformed + otherSchema + late
///              + duplicates
///     requests = answered + timedOut + noResponder + failedRequests + openRequests
///     questions = answers + declined + questions that wait for their handler
struct NatsStatistics {
    std::uint64_t sent = 0;  ///< libnats or the outbox accepted the message
    /// The message was not sent: it was too large, its codec refused it, or libnats refused it
    /// because there was no connection for too long.
    std::uint64_t unsent = 0;
    std::uint64_t notAgain = 0;  ///< not exported, because another bridge had imported it

    std::uint64_t congested = 0;      ///< refused: the outbox quota of its priority was in use
    std::uint64_t accepted = 0;       ///< the outbox accepted it
    std::uint64_t acknowledged = 0;   ///< the server has stored it
    std::uint64_t undeliverable = 0;  ///< the server will never accept it
    std::uint64_t abandoned = 0;      ///< still in the outbox when close() timed out
    std::uint64_t replayed = 0;       ///< found in the folder, left by an earlier process
    std::uint64_t damaged = 0;        ///< damaged places in the folder, where messages are lost
    std::uint64_t notOnDisk = 0;      ///< refused by the outbox, because the disk refused it
    std::uint64_t held = 0;           ///< in the outbox now
    std::uint64_t resent = 0;         ///< number of times that a message was sent again

    std::uint64_t received = 0;   ///< delivered by the server and seen by an importer
    std::uint64_t delivered = 0;  ///< accepted by the local bus
    /// The local bus did not accept the message: it was full or closed, a constructor of the
    /// message threw, or there was no memory.
    std::uint64_t refused = 0;
    std::uint64_t looped = 0;  ///< dropped, because its origin is this bridge
    /// Dropped: without an envelope, damaged, or with unreadable fields.
    std::uint64_t malformed = 0;
    std::uint64_t otherSchema = 0;  ///< dropped: of another version, subject or type
    std::uint64_t late = 0;         ///< core profile: dropped, because a later message had arrived
    std::uint64_t duplicates = 0;   ///< durable profile: dropped, because it was delivered before
    std::uint64_t gaps = 0;         ///< sequences that are missing now
    /// Delivered without a duplicate check, because maxOrigins runs are tracked already.
    std::uint64_t untracked = 0;
    std::uint64_t overrun = 0;  ///< core profile: dropped, because the importer was too slow

    std::uint64_t requests = 0;        ///< calls of Client::request()
    std::uint64_t answered = 0;        ///< requests that have ended with an answer
    std::uint64_t timedOut = 0;        ///< requests that have ended at their deadline
    std::uint64_t noResponder = 0;     ///< requests that no program serves
    std::uint64_t failedRequests = 0;  ///< requests that have ended with another error
    std::uint64_t openRequests = 0;    ///< requests that have not ended
    std::uint64_t lateReplies = 0;     ///< answers to requests that had ended
    std::uint64_t questions = 0;       ///< questions that have arrived for serve()
    std::uint64_t answers = 0;         ///< sent with the result of a handler
    /// Questions refused, or left without an answer because the deadline had passed or the link was
    /// full.
    std::uint64_t declined = 0;

    LinkState highLink = LinkState::closed;  ///< the connection of high messages
    LinkState restLink = LinkState::closed;  ///< the connection of the other messages

    /// Calls f(name, value) for each number, for example to show them as metrics. The value of a
    /// link is 0 if it is connected, 1 if it is disconnected, and 2 if it is closed.
    template <class F>
    void forEach(F&& f) const {
        f("sent", sent), f("unsent", unsent), f("not_again", notAgain);
        f("congested", congested), f("accepted", accepted), f("acknowledged", acknowledged);
        f("undeliverable", undeliverable), f("abandoned", abandoned), f("held", held);
        f("replayed", replayed), f("damaged", damaged), f("not_on_disk", notOnDisk);
        f("resent", resent), f("received", received), f("delivered", delivered);
        f("refused", refused), f("looped", looped), f("malformed", malformed);
        f("other_schema", otherSchema), f("late", late);
        f("duplicates", duplicates), f("gaps", gaps), f("untracked", untracked);
        f("overrun", overrun);
        f("requests", requests), f("answered", answered), f("timed_out", timedOut);
        f("no_responder", noResponder), f("failed_requests", failedRequests);
        f("open_requests", openRequests), f("late_replies", lateReplies);
        f("questions", questions), f("answers", answers), f("declined", declined);
        f("link_high", static_cast<std::uint64_t>(highLink));
        f("link_rest", static_cast<std::uint64_t>(restLink));
    }
};

namespace detail {

using Count = std::atomic<std::uint64_t>;

// Relaxed: value only. A reader may see counts that are inconsistent with each other.
inline void add(Count& count, std::uint64_t n = 1) noexcept {
    count.fetch_add(n, std::memory_order_relaxed);
}

/// The counts that the exporting and the importing threads write.
struct Counters {
    Count sent{0}, unsent{0}, notAgain{0}, congested{0}, notOnDisk{0};
    Count delivered{0}, refused{0}, looped{0}, malformed{0}, otherSchema{0}, late{0}, duplicates{0},
        gaps{0}, untracked{0};
    Count answered{0}, timedOut{0}, noResponder{0}, failedRequests{0}, lateReplies{0}, questions{0},
        answers{0}, declined{0};
};

}  // namespace detail
}  // namespace sluice::nats
