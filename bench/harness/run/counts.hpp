#pragma once

/// \file
/// The books of one round: attempts, accepted, refused and delivered messages, and whether they add
/// up.

#include <cstdint>
#include <string>

namespace sluice::bench {

/// How one attempt to push ended. `dropped`: a policy of the subject refused the message, not a
/// lack of room. An adapter without such a policy returns whether the message was taken.
enum class Push { accepted, rejected, dropped };

constexpr Push outcome(bool taken) noexcept {
    return taken ? Push::accepted : Push::rejected;
}
constexpr Push outcome(Push push) noexcept {
    return push;
}

/// Exact counts of one round, or of several added together. A message that is refused ten times and
/// then taken is eleven attempts, ten rejected and one accepted.
struct Counts {
    std::uint64_t planned = 0;
    std::uint64_t attempted = 0;
    std::uint64_t accepted = 0;
    std::uint64_t rejected = 0;
    std::uint64_t dropped = 0;

    /// Accepted messages that were still in the queue when the clock stopped. They are taken out
    /// and checked afterwards, so `delivered` counts them, too.
    std::uint64_t queued = 0;
    std::uint64_t delivered = 0;
    std::uint64_t disorder = 0;

    /// Lines of a log with an earlier time than the one above.
    std::uint64_t backInTime = 0;
    std::uint64_t sentSum = 0;
    std::uint64_t receivedSum = 0;

    Counts& operator+=(const Counts& other) noexcept {
        planned += other.planned;
        attempted += other.attempted;
        accepted += other.accepted;
        rejected += other.rejected;
        dropped += other.dropped;
        queued += other.queued;
        delivered += other.delivered;
        disorder += other.disorder;
        backInTime += other.backInTime;
        sentSum += other.sentSum;
        receivedSum += other.receivedSum;
        return *this;
    }

    /// Enters one attempt. `sum` is the message's part of the checksum. Returns true if the message
    /// was accepted.
    bool enter(Push push, std::uint64_t sum) noexcept {
        ++attempted;
        if (push == Push::accepted) {
            ++accepted;
            sentSum += sum;
            return true;
        }
        ++(push == Push::rejected ? rejected : dropped);
        return false;
    }
};

/// Says which identity is violated. Returns an empty text if the books balance. A round with a
/// complaint is INVALID: its time means nothing. `ordered`: whether the subject promises to keep
/// each producer's order. `retried`: whether refused messages were pushed again until they were
/// taken; otherwise each message had one attempt.
inline std::string complaint(const Counts& counts, bool ordered, bool retried = true) {
    const auto text = [](const char* what, std::uint64_t left, std::uint64_t right) {
        return std::string(what) + ": " + std::to_string(left) + " is not " + std::to_string(right);
    };
    if (counts.attempted != counts.accepted + counts.rejected + counts.dropped) {
        return text("attempted = accepted + rejected + dropped", counts.attempted,
                    counts.accepted + counts.rejected + counts.dropped);
    }
    if (!retried && counts.attempted != counts.planned) {
        return text("attempted = planned", counts.attempted, counts.planned);
    }
    if (retried && counts.accepted != counts.planned) {
        return text("accepted = planned", counts.accepted, counts.planned);
    }
    if (counts.delivered != counts.accepted) {
        return text("delivered = accepted", counts.delivered, counts.accepted);
    }
    if (counts.receivedSum != counts.sentSum) {
        return text("received checksum = sent checksum", counts.receivedSum, counts.sentSum);
    }
    if (ordered && counts.disorder != 0) {
        return std::to_string(counts.disorder) + " messages broke their producer's order";
    }
    return {};
}

}  // namespace sluice::bench
