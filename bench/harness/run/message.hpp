#pragma once

/// \file
/// The message every throughput and latency scenario sends, and the receipt that proves it arrived.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice::bench {

/// The most producers of a round. Receipt keeps one expected sequence for each.
inline constexpr std::size_t maxProducers = 16;

inline constexpr unsigned sequenceBits = 48;
inline constexpr std::uint64_t sequenceMask = (std::uint64_t{1} << sequenceBits) - 1;

/// The alignment of a message that a sender builds on its stack. Without it, the stack frame might
/// split the message between two pages, which costs 6 ns for each message.
inline constexpr std::size_t onOneLine = 64;

template <std::size_t Count>
constexpr std::array<std::uint64_t, Count> distinctWords() noexcept {
    std::array<std::uint64_t, Count> words{};
    for (std::size_t i = 0; i < Count; ++i) {
        words[i] = i * 0x9E3779B97F4A7C15u;
    }
    return words;
}

/// A message of exactly `Bytes` bytes. The first word names its producer and its place in the
/// producer's order. All other words are written, too, so that a message costs the memory traffic
/// of its size.
template <std::size_t Bytes>
struct Message {
    static_assert(Bytes >= 8 && (Bytes & (Bytes - 1)) == 0,
                  "a message is 8 bytes or a power of two");

    std::array<std::uint64_t, Bytes / 8> words;

    Message() = default;

    Message(std::size_t producer, std::uint64_t sequence) noexcept {
        const std::uint64_t first = std::uint64_t{producer} << sequenceBits | sequence;
        Words all;
        std::memcpy(&all, table.data(), Bytes);
        all += first;
        std::memcpy(words.data(), &all, Bytes);
    }

    std::uint64_t first() const noexcept { return words.front(); }
    std::uint64_t last() const noexcept { return words.back(); }
    std::size_t producer() const noexcept { return std::size_t(first() >> sequenceBits); }
    std::uint64_t sequence() const noexcept { return first() & sequenceMask; }

    /// The sum of all words, as the consumer reads them.
    std::uint64_t checksum() const noexcept {
        std::uint64_t sum = 0;
        for (const std::uint64_t word : words) {
            sum += word;
        }
        return sum;
    }

    /// The checksum() of an unchanged message. The producer knows it without reading.
    std::uint64_t expectedSum() const noexcept {
        std::uint64_t sum = first() * words.size();
        for (const std::uint64_t step : table) {
            sum += step;
        }
        return sum;
    }

private:
    // Written as one vector. Otherwise a queue that copies the message in larger pieces would wait
    // for the store buffer. The compiler, not the queue, would decide about this.
    using Words [[gnu::vector_size(Bytes)]] = std::uint64_t;

    static constexpr std::array<std::uint64_t, Bytes / 8> table = distinctWords<Bytes / 8>();
};

/// The books of one side. The consumer's receipt reads each word of each message. A consumer that
/// does not read the payload would measure something that no program does.
class Receipt {
public:
    template <std::size_t Bytes>
    void take(const Message<Bytes>& message) noexcept {
        sum_ += message.checksum();
        ++count_;
        std::uint64_t& expected = expected_[message.producer() % maxProducers];
        disorder_ += message.sequence() != expected;
        expected = message.sequence() + 1;
    }

    std::uint64_t sum() const noexcept { return sum_; }
    std::uint64_t count() const noexcept { return count_; }

    /// The number of messages out of their producer's order: after a loss, doubled or overtaken.
    std::uint64_t disorder() const noexcept { return disorder_; }

private:
    std::uint64_t sum_ = 0;
    std::uint64_t count_ = 0;
    std::uint64_t disorder_ = 0;
    std::array<std::uint64_t, maxProducers> expected_{};
};

}  // namespace sluice::bench
