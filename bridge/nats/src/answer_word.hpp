#pragma once

// BasicAnswerWord: the server's answer to the message that uses a slot of a lane's window.
//
// The word holds (position, answer). Positions are unbounded numbers, so each message has its own.
//
//   waiting  the message is sent. The lane's thread writes it.
//   again    the server refused the message. The lane's thread sends it again.
//   stored   the server has the message. The slot may be used again.
//   never    the server will not take the message. The slot may be used again.
//
// Threads: the lane's thread calls beginTry. Any thread calls settle and answerTo.
//
// Invariant: settle replaces (position, waiting) alone, and beginTry replaces any other word alone.
// So neither overwrites the other's write. An answer to an earlier try counts. An answer to an
// earlier message in the slot does not count.
//
// Relaxed: the word is all that the threads share. The lane's thread alone touches the message. The
// connection orders beginTry before the answer to the message.

#include <sluice/base/platform.hpp>

#include <atomic>
#include <cstdint>

namespace sluice::nats::detail {

enum class Answer : std::uint64_t { waiting, again, stored, never };

template <class Platform>
class BasicAnswerWord {
public:
    /// Before the message is sent, the first time or again. False if the server has answered
    /// meanwhile: then it need not be sent.
    [[nodiscard]] bool beginTry(std::uint64_t position) noexcept {
        // One load: an answer that comes after it must not be overwritten.
        const std::uint64_t word = word_.load(std::memory_order_relaxed);
        if (word == wordOf(position, Answer::stored) || word == wordOf(position, Answer::never)) {
            return false;
        }
        if (word != wordOf(position, Answer::waiting)) {
            word_.store(wordOf(position, Answer::waiting), std::memory_order_relaxed);
        }
        return true;
    }

    void settle(std::uint64_t position, Answer answer) noexcept {
        std::uint64_t expected = wordOf(position, Answer::waiting);
        (void)word_.compare_exchange_strong(expected, wordOf(position, answer),
                                            std::memory_order_relaxed, std::memory_order_relaxed);
    }

    /// `waiting` if another message uses the slot.
    [[nodiscard]] Answer answerTo(std::uint64_t position) const noexcept {
        const std::uint64_t word = word_.load(std::memory_order_relaxed);
        return word / 4 == position ? static_cast<Answer>(word % 4) : Answer::waiting;
    }

    [[nodiscard]] bool isDone(std::uint64_t position) const noexcept {
        const Answer answer = answerTo(position);
        return answer == Answer::stored || answer == Answer::never;
    }

private:
    static constexpr std::uint64_t wordOf(std::uint64_t position, Answer answer) noexcept {
        return position * 4 + static_cast<std::uint64_t>(answer);
    }

    typename Platform::template Atomic<std::uint64_t> word_{0};
};

using AnswerWord = BasicAnswerWord<StdPlatform>;

}  // namespace sluice::nats::detail
