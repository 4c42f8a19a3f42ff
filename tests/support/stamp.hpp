#pragma once

#include "support/testing.hpp"

namespace sluice::test {

/// A message that names its sender and its place among the sender's messages, with a checksum over
/// both. The filling makes it likely that a torn message is noticed.
struct Stamp {
    std::uint64_t producer;
    std::uint64_t sequence;
    std::array<std::uint64_t, 3> filling;
    std::uint64_t checksum;

    static Stamp of(std::size_t producer, std::uint64_t sequence) noexcept {
        const std::uint64_t sum = mixed(producer, sequence);
        return Stamp{producer, sequence, {sum ^ 1U, sum ^ 2U, sum ^ 3U}, sum};
    }

    [[nodiscard]] bool isIntact() const noexcept {
        const std::uint64_t sum = mixed(producer, sequence);
        return checksum == sum && filling[0] == (sum ^ 1U) && filling[1] == (sum ^ 2U) &&
               filling[2] == (sum ^ 3U);
    }

private:
    static std::uint64_t mixed(std::uint64_t a, std::uint64_t b) noexcept {
        return (a + 1) * 0x9E3779B97F4A7C15U ^ (b + 1) * 0xC2B2AE3D27D4EB4FU;
    }
};

/// Checks at the consumer that messages are intact, and in order for each producer.
class Ledger {
public:
    explicit Ledger(std::size_t producers) : next_(producers, 0) {}

    void enter(const Stamp& stamp) {
        ++received_;
        if (!stamp.isIntact() || stamp.producer >= next_.size()) {
            ++broken_;
        } else if (stamp.sequence != next_[static_cast<std::size_t>(stamp.producer)]++) {
            ++misplaced_;
        }
    }

    [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
    [[nodiscard]] std::uint64_t receivedFrom(std::size_t producer) const {
        return next_.at(producer);
    }

    /// Fails the test unless exactly the first accepted[i] messages of each producer have come, in
    /// order.
    void expectExactly(const std::vector<std::uint64_t>& accepted) const {
        EXPECT_EQ(broken_, 0U) << "messages were torn";
        EXPECT_EQ(misplaced_, 0U) << "messages were lost, doubled or out of order";
        EXPECT_EQ(next_, accepted) << "messages of each producer";
    }

private:
    std::vector<std::uint64_t> next_;
    std::uint64_t received_ = 0;
    std::uint64_t broken_ = 0;
    std::uint64_t misplaced_ = 0;
};

}  // namespace sluice::test
