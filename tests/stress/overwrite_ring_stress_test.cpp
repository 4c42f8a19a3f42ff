#include "stress/queue_stress.hpp"
#include "support/crew.hpp"
#include "support/dice.hpp"
#include "support/jitter_platform.hpp"
#include "support/queue_shapes.hpp"
#include "support/scale.hpp"
#include "support/stamp.hpp"

#include <sluice/queue/overwrite_ring.hpp>

#include "support/testing.hpp"
#include <thread>

// Producers overrun consumers, and the ring is closed at an arbitrary moment. Each accepted message
// is received once or counted as dropped, and is destroyed once.

namespace sluice::test {
namespace {

/// A message that owns memory, so that a sanitizer sees one that is destroyed twice or never.
class Parcel {
public:
    static Parcel of(std::size_t producer, std::uint64_t number) {
        return Parcel(Stamp::of(producer, number));
    }
    [[nodiscard]] const Stamp& stamp() const { return *stamp_; }

private:
    explicit Parcel(const Stamp& stamp) : stamp_(std::make_unique<Stamp>(stamp)) {}
    std::unique_ptr<Stamp> stamp_;
};

/// What one consumer received.
struct Received {
    explicit Received(std::size_t producers) : next(producers, 0) {}

    void enter(const Parcel& parcel) {
        const Stamp& stamp = parcel.stamp();
        const auto producer = static_cast<std::size_t>(stamp.producer);
        wrong += stamp.isIntact() && stamp.sequence >= next.at(producer) ? 0 : 1;
        next.at(producer) = stamp.sequence + 1;
        numbers.emplace_back(producer, stamp.sequence);
    }
    std::vector<std::uint64_t> next;
    std::vector<std::pair<std::size_t, std::uint64_t>> numbers;
    std::uint64_t wrong = 0;
};

template <class Ring>
void overrun(std::size_t producers, std::size_t consumers, std::uint64_t messages,
             Progress& progress, RoundWatch<Ring>& watch) {
    const auto ring = std::make_unique<Ring>();
    watch.watch(ring.get());
    std::vector<std::uint64_t> accepted(producers, 0);
    std::vector<Received> received(consumers, Received(producers));
    {
        Crew crew;
        for (std::size_t self = 0; self < producers; ++self) {
            crew.add([&, self] {
                std::uint64_t& next = accepted[self];
                while (ring->tryPush(Parcel::of(self, next)) == SendResult::ok) {
                    progress.accepted.at(self).store(++next, std::memory_order_relaxed);
                    if (self == 0 && next == messages) {
                        ring->close();
                    }
                }
            });
        }
        for (std::size_t self = 0; self < consumers; ++self) {
            crew.add([&, self] {
                Dice dice(static_cast<std::uint32_t>(messages + self));
                while (!ring->isDrained()) {
                    const std::size_t size = ring->sizeApprox();
                    EXPECT_LE(size, ring->capacity());
                    if (auto parcel = dice() % 4 == 0 ? ring->tryPop() : std::nullopt) {
                        received[self].enter(*parcel);
                    } else if (ring->consume([&](Parcel& next) { received[self].enter(next); },
                                             dice() % 4) == 0) {
                        std::this_thread::yield();
                    }
                }
            });
        }
    }
    std::uint64_t pushed = 0;
    std::vector<std::vector<bool>> seen;
    for (const std::uint64_t count : accepted) {
        pushed += count;
        seen.emplace_back(static_cast<std::size_t>(count), false);
    }
    std::uint64_t popped = 0;
    std::uint64_t wrong = 0;
    for (const Received& part : received) {
        wrong += part.wrong;
        popped += part.numbers.size();
        for (const auto& [producer, number] : part.numbers) {
            auto isSeen = seen.at(producer).at(static_cast<std::size_t>(number));
            wrong += isSeen ? 1 : 0;
            isSeen = true;
        }
    }
    EXPECT_EQ(wrong, 0U) << "torn, out of order, or received twice";
    EXPECT_EQ(pushed, popped + ring->dropped());
    EXPECT_EQ(ring->sizeApprox(), 0U);
    watch.watch(nullptr);
}

template <bool Many, std::size_t Capacity, class Platform>
void stress(std::size_t producers, std::size_t consumers, std::uint64_t messages) {
    using Ring = OverwriteRing<Parcel, Capacity, ProducersTraits<Many, TestTraits<Platform>>>;
    Progress progress;
    RoundWatch<Ring> watch(progress);
    Dice dice(static_cast<std::uint32_t>(producers + 7 * consumers));
    const std::uint64_t shortRounds = messages / 256 + 1;
    for (std::uint64_t round = 0; round <= shortRounds; ++round) {
        progress.round.store(round, std::memory_order_relaxed);
        overrun(producers, consumers, round < shortRounds ? 1 + dice() % 96 : messages, progress,
                watch);
        ASSERT_FALSE(testing::Test::HasFailure()) << "in round " << round;
    }
}

template <bool Many>
void stressAtAllCapacities(std::size_t producers, std::size_t consumers) {
    stress<Many, 1, StdPlatform>(producers, consumers, scaled(20000));
    stress<Many, 5, StdPlatform>(producers, consumers, scaled(20000));
    stress<Many, 256, StdPlatform>(producers, consumers, scaled(50000));
    stress<Many, 1, JitterPlatform>(producers, consumers, scaled(10000));
    stress<Many, 3, JitterPlatform>(producers, consumers, scaled(10000));
    stress<Many, 64, JitterPlatform>(producers, consumers, scaled(20000));
}

TEST(OverwriteRingStressTest, OneProducer) {
    stressAtAllCapacities<false>(1, 1);
    stressAtAllCapacities<false>(1, 3);
}

TEST(OverwriteRingStressTest, SeveralProducers) {
    stressAtAllCapacities<true>(2, 1);
    stressAtAllCapacities<true>(3, 2);
    stressAtAllCapacities<true>(4, 3);
}

}  // namespace
}  // namespace sluice::test
