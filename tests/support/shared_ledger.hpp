#pragma once

#include "support/stamp.hpp"

#include "support/testing.hpp"
#include <numeric>

namespace sluice::test {

/// The messages that several consumers received. Each consumer has a list for each producer.
class SharedLedger {
public:
    SharedLedger(std::size_t consumers, std::size_t producers)
        : received_(consumers, std::vector<std::vector<std::uint64_t>>(producers)),
          broken_(consumers, 0) {}

    void enter(std::size_t consumer, const Stamp& stamp) {
        if (stamp.isIntact()) {
            received_[consumer]
                .at(static_cast<std::size_t>(stamp.producer))
                .push_back(stamp.sequence);
        } else {
            ++broken_[consumer];
        }
    }

    /// Fails the test unless the first accepted[i] messages of each producer i have come, each
    /// once. Also fails if a consumer has seen two messages of one producer in the wrong order.
    void expectExactly(const std::vector<std::uint64_t>& accepted) const {
        EXPECT_EQ(std::accumulate(broken_.begin(), broken_.end(), std::uint64_t{0}), 0U);
        for (std::size_t producer = 0; producer < accepted.size(); ++producer) {
            const auto count = static_cast<std::size_t>(accepted[producer]);
            std::vector<int> times(count, 0);
            std::uint64_t misplaced = 0;
            for (const auto& ofConsumer : received_) {
                std::uint64_t least = 0;
                for (const std::uint64_t sequence : ofConsumer[producer]) {
                    misplaced += sequence < least || sequence >= times.size() ? 1 : 0;
                    least = sequence + 1;
                    times.at(static_cast<std::size_t>(sequence)) += 1;
                }
            }
            EXPECT_EQ(misplaced, 0U) << "messages of producer " << producer << " out of order";
            EXPECT_EQ(times, std::vector<int>(count, 1)) << "producer " << producer;
        }
    }

private:
    std::vector<std::vector<std::vector<std::uint64_t>>> received_;
    std::vector<std::uint64_t> broken_;
};

}  // namespace sluice::test
