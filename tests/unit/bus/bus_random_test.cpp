#include "support/dice.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <vector>

// One thread does anything with a bus, handlers publish, and after each step all that can be asked
// of the bus is what a plain model says: results, order, ids, fill, pressure and accounts.

namespace sluice {
namespace {

using namespace test;

constexpr std::size_t typeCount = 2;
template <std::size_t Type>
struct Item {
    explicit Item(int n) : serial(n) {
#if defined(__cpp_exceptions)
        if (n < 0) {
            throw n;
        }
#endif
    }
    int serial;
};
using Items = Messages<Item<0>, Item<1>>;

constexpr std::array<Priority, priorityCount> priorities{Priority::low, Priority::medium,
                                                         Priority::high};

/// What waits in one of the gates of a bus.
struct Gate {
    struct Entry {
        int serial;
        std::size_t type;
        std::uint64_t id;
    };
    std::array<std::deque<Entry>, priorityCount> queues;
    std::uint64_t nextId = 0;
    std::size_t inHands = 0;

    [[nodiscard]] std::size_t messages() const {
        return queues[0].size() + queues[1].size() + queues[2].size() + inHands;
    }
};

template <class Traits>
class RandomPlay {
    using TheBus = Bus<Items, Traits>;
    using Header = typename TheBus::Header;
    static constexpr std::size_t gateCount = 1 + Traits::lanes;
    static constexpr std::size_t allSlots = Traits::depth + Traits::lanes * Traits::laneDepth;
    /// Positions are even numbers of the Index type.
    static constexpr std::uint64_t lastId = std::numeric_limits<typename Traits::Index>::max() / 2;

public:
    explicit RandomPlay(std::uint32_t seed) : dice_(seed) {
        if constexpr (Traits::lanes != 0) {
            for (auto& producer : producers_) {
                producer = bus_->producer();
            }
        }
        first_ = bus_->template subscribe<Item<0>>(
            [this](const Item<0>& item, const Header& header) { handle(0, item.serial, header); });
        second_ = bus_->template subscribe<Item<1>>(
            [this](const Item<1>& item, const Header& header) { handle(1, item.serial, header); });
    }

    void run(int steps) {
        for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
            step();
            check();
        }
        bus_->close();
        isClosed_ = true;
        publish();
        check();
        while (!bus_->isDrained() && !testing::Test::HasFailure()) {
            consume();
            check();
        }
        EXPECT_EQ(waiting(), 0U);
    }

private:
    void step() {
        const std::uint32_t side = dice_() % 16;
        if (side < 9) {
            publish();
        } else if (side < 11) {
            publishMany();
        } else if (side == 11) {
            publishNothing();
        } else if (side == 12) {
            discard();
        } else {
            consume();
        }
    }

    // ---- Publishing

    static std::size_t limitOf(std::size_t gate, Priority priority) {
        return gate == 0 ? TheBus::limitOf(priority) : TheBus::Producer::limitOf(priority);
    }
    /// The slots whose constructors threw come back when the consumer finds them, and no later than
    /// it has found all.
    [[nodiscard]] std::size_t used(std::size_t gate) const {
        if (gate != 0) {
            return gates_[gate].messages();
        }
        std::size_t inLanes = 0;
        for (std::size_t lane = 1; lane != gateCount; ++lane) {
            inLanes += gates_[lane].messages();
        }
        return bus_->sizeApprox() - inLanes;
    }

    template <class F>
    auto through(std::size_t gate, F f) {
        if constexpr (Traits::lanes != 0) {
            if (gate != 0) {
                return f(producers_[gate - 1]);
            }
        }
        return f(*bus_);
    }

    /// What the bus is to answer; makes room as it is to.
    PublishResult admit(std::size_t gate, std::size_t type, Priority priority) {
        if (isClosed_) {
            return PublishResult::closed;
        }
        const std::size_t limit = limitOf(gate, priority);
        const std::size_t before = used(gate) + (gate == 0 ? claimed_ : 0);
        if (before < limit) {
            return PublishResult::ok;
        }
        const PublishResult refusal =
            before >= limitOf(gate, Priority::high) ? PublishResult::full : PublishResult::refused;
        const BusOverflow policy = Traits::overflow[index(priority)];
        if (policy == BusOverflow::reject || before > limit) {
            return refusal;
        }
        auto& queue = gates_[gate].queues[index(priority)];
        const auto oldest = std::find_if(queue.begin(), queue.end(), [&](const auto& each) {
            return policy == BusOverflow::dropOldest || each.type == type;
        });
        if (oldest == queue.end()) {
            return refusal;
        }
        ++counts_[oldest->type][index(priority)].dropped;
        queue.erase(oldest);
        --claimed_;  // the bus has not dropped it yet
        return PublishResult::ok;
    }

    void noteResult(std::size_t type, Priority priority, PublishResult result, std::uint64_t n) {
        MessageCounts& counts = counts_[type][index(priority)];
        (result == PublishResult::ok        ? counts.published
         : result == PublishResult::full    ? counts.full
         : result == PublishResult::refused ? counts.refused
                                            : counts.closed) += n;
    }

    void notePublished(std::size_t gate, std::size_t type, Priority priority, int serial) {
        Gate& g = gates_[gate];
        if (waitingOf(priority) == 0) {
            overtaken_[index(priority)] = 0;
        }
        g.queues[index(priority)].push_back({serial, type, g.nextId++});
        ++claimed_;
    }

    void notePeak(std::size_t gate) {
        const std::size_t now = used(gate);
        highest_ = std::max(highest_, now);
        const std::size_t slack =
            isConsuming_ ? (gate == 0 ? Traits::depth : Traits::laneDepth) / 64 : 0;
        surelyNoted_ = std::max(surelyNoted_, now - std::min(slack, now));
        hasPublished_ = true;
    }

    void publish() {
        const std::size_t gate = dice_() % gateCount;
        const Priority priority = anyPriority();
        const std::size_t type = dice_() % typeCount;
        const int serial = ++serial_;
        claimed_ = 0;
        const PublishResult expected = admit(gate, type, priority);
        if (expected == PublishResult::ok) {
            notePublished(gate, type, priority, serial);
        }
        noteResult(type, priority, expected, 1);
        const PublishResult result = through(gate, [&](auto& to) {
            return type == 0 ? to.publish(Item<0>(serial), priority)
                             : to.template emplaceWith<Item<1>>({priority}, serial);
        });
        EXPECT_EQ(result, expected);
        notePeak(gate);
    }

    void publishMany() {
        const std::size_t gate = dice_() % gateCount;
        const Priority priority = anyPriority();
        std::vector<Item<0>> items;
        for (std::size_t i = dice_() % (Traits::depth + 3); i != 0; --i) {
            items.emplace_back(++serial_);
        }
        claimed_ = 0;
        std::size_t expected = 0;
        PublishResult end = PublishResult::ok;
        while (expected != items.size() && (end = admit(gate, 0, priority)) == PublishResult::ok) {
            notePublished(gate, 0, priority, items[expected].serial);
            ++expected;
        }
        noteResult(0, priority, PublishResult::ok, expected);
        if (end != PublishResult::ok) {
            noteResult(0, priority, end, items.size() - expected);
        }
        EXPECT_EQ(through(gate,
                          [&](auto& to) {
                              return to.publishAll(items.begin(), items.end(), {priority});
                          }),
                  expected);
        notePeak(gate);
    }

    /// A constructor that throws.
    void publishNothing() {
#if defined(__cpp_exceptions)
        const Priority priority = anyPriority();
        claimed_ = 0;
        if (canDrop() || admit(0, 0, priority) != PublishResult::ok) {
            return;
        }
        EXPECT_THROW((void)bus_->template emplaceWith<Item<0>>({priority}, -1), int);
        ++gates_[0].nextId;
        ++nothings_;
        // Nobody notes the high water here: the next one does who publishes, or the consumer.
        highest_ = std::max(highest_, used(0));
#endif
    }

    // ---- Consuming

    void consume() {
        if (dice_() % 8 == 0) {
            EXPECT_EQ(bus_->waitFor(std::chrono::nanoseconds(0)), waiting() + nothings_ != 0);
        }
        const std::size_t max = dice_() % 3 == 0 ? unlimited : 1 + dice_() % 3;
        const std::size_t most = std::min(max, allSlots);
        const std::size_t waitedBefore = waiting();
        const std::size_t slots = std::min(waitedBefore + nothings_, allSlots);
        const std::size_t sure = std::min(most, slots - std::min(slots, nothings_));
        isConsuming_ = true;
        hasPublished_ = false;
        handled_ = 0;
        throwsAt_ = dice_() % 10 == 0 ? 1 + static_cast<int>(dice_() % 5) : 0;
        const auto harvest = [&] {
            if (dice_() % 2 == 0) {
                return bus_->process(max);
            }
            return bus_->processWith(
                overload([this](Item<0>& item, const Header& h) { handle(0, item.serial, h); },
                         [this](Item<1>& item, const Header& h) { handle(1, item.serial, h); }),
                max);
        };
        bool isComplete = true;
        std::size_t count = 0;
#if defined(__cpp_exceptions)
        try {
            count = harvest();
        } catch (const std::string&) {
            isComplete = false;
        }
#else
        count = harvest();
#endif
        isConsuming_ = false;
        letGo();
        if (isComplete) {
            EXPECT_EQ(count, handled_);
            EXPECT_LE(count, most);
            EXPECT_TRUE(count >= sure || (canDrop() && hasPublished_)) << count << ' ' << sure;
        }
    }

    void discard() {
        EXPECT_EQ(bus_->discard(), waiting());
        for (auto& gate : gates_) {
            for (const Priority priority : priorities) {
                for (const auto& each : gate.queues[index(priority)]) {
                    ++counts_[each.type][index(priority)].discarded;
                }
                gate.queues[index(priority)].clear();
            }
        }
    }

    /// What was handled before has come back.
    void letGo() {
        for (Gate& gate : gates_) {
            gate.inHands = 0;
        }
    }

    void handle(std::size_t type, int serial, const Header& header) {
        letGo();
        ++handled_;
        std::size_t gate = 0;
        auto& gates = gates_;
        const auto isFront = [&](std::size_t g) {
            const auto& queue = gates[g].queues[index(header.priority)];
            return !queue.empty() && queue.front().serial == serial;
        };
        while (gate != gateCount && !isFront(gate)) {
            ++gate;
        }
        ASSERT_NE(gate, gateCount) << "not the oldest of its priority: " << serial;
        auto& queue = gates[gate].queues[index(header.priority)];
        EXPECT_EQ(queue.front().type, type);
        EXPECT_EQ(queue.front().id & lastId, header.id);
        queue.pop_front();
        gates[gate].inHands = 1;
        checkTurn(header.priority);
        MessageCounts& counts = counts_[type][index(header.priority)];
        ++counts.delivered;
        EXPECT_GE(bus_->sizeApprox(), messages());
        EXPECT_LE(bus_->sizeApprox(), messages() + nothings_);
        if (dice_() % 16 == 0) {
            EXPECT_TRUE(bus_->waitFor(std::chrono::nanoseconds(0)) || waiting() == 0);
        }
        if (dice_() % 4 == 0) {
            for (std::size_t i = 1 + dice_() % 3; i != 0; --i) {
                if (dice_() % 5 == 0) {
                    publishMany();
                } else {
                    publish();
                }
            }
        }
#if defined(__cpp_exceptions)
        if (static_cast<int>(handled_) == throwsAt_) {
            ++counts.failed;
            throw std::string("a handler's own");
        }
#endif
    }

    void checkTurn(Priority mine) {
        overtaken_[index(mine)] = 0;
        for (const Priority other : priorities) {
            if (other == mine || waitingOf(other) == 0) {
                continue;
            }
            const int overtaken = ++overtaken_[index(other)];
            if (Traits::service == Service::weighted && nothings_ != 0) {
                overtaken_[index(other)] = 0;  // one of them may be its head
            } else if (Traits::service == Service::weighted) {
                EXPECT_LE(static_cast<std::size_t>(overtaken), 2 * weightOfAllBut(other));
            } else if (mine < other) {
                EXPECT_NE(other, Priority::high) << "waits for one handler only";
                EXPECT_TRUE(hasPublished_) << "it was there before";
                EXPECT_LE(overtaken, 16);
            } else {
                overtaken_[index(other)] = 0;
            }
        }
    }

    // ---- What holds after each step

    void check() {
        const std::size_t size = bus_->sizeApprox();
        ASSERT_GE(size, messages());
        ASSERT_LE(size - messages(), nothings_);
        nothings_ = size - messages();
        Pressure expected = Pressure::normal;
        for (std::size_t gate = 0; gate != gateCount; ++gate) {
            const std::size_t n = used(gate);
            highest_ = std::max(highest_, n);
            surelyNoted_ = std::max(surelyNoted_, n);
            expected =
                std::max(expected, n >= limitOf(gate, Priority::high)     ? Pressure::full
                                   : n >= limitOf(gate, Priority::medium) ? Pressure::critical
                                   : n >= limitOf(gate, Priority::low)    ? Pressure::warning
                                                                          : Pressure::normal);
        }
        EXPECT_EQ(bus_->pressure(), expected);
        const auto statistics = bus_->statistics();
        EXPECT_LE(statistics.highWater, highest_);
        EXPECT_GE(statistics.highWater, surelyNoted_);
        for (const Priority priority : priorities) {
            std::uint64_t delivered = 0;
            for (std::size_t type = 0; type != typeCount; ++type) {
                const MessageCounts is = statistics.of(type, priority);
                const MessageCounts& should = counts_[type][index(priority)];
                EXPECT_EQ(is.published, should.published);
                EXPECT_EQ(is.full, should.full);
                EXPECT_EQ(is.refused, should.refused);
                EXPECT_EQ(is.closed, should.closed);
                EXPECT_EQ(is.dropped, should.dropped);
                EXPECT_EQ(is.delivered, should.delivered);
                EXPECT_EQ(is.discarded, should.discarded);
                EXPECT_EQ(is.failed, should.failed);
                delivered += should.delivered;
            }
            const QueueTimes& times = statistics.times[index(priority)];
            EXPECT_EQ(times.count, delivered);
            EXPECT_LE(times.max, std::chrono::hours(1));
            EXPECT_LE(times.mean(), times.max);
            EXPECT_GE(times.sum, times.max);
        }
    }

    static constexpr bool canDrop() { return detail::canDrop<Traits>(); }
    static constexpr std::size_t index(Priority priority) {
        return static_cast<std::size_t>(priority);
    }
    Priority anyPriority() { return priorities[dice_() % priorityCount]; }
    static std::size_t weightOfAllBut(Priority priority) {
        const auto& weights = Traits::weights;
        return weights[0] + weights[1] + weights[2] - weights[index(priority)];
    }
    [[nodiscard]] std::size_t waitingOf(Priority priority) const {
        std::size_t sum = 0;
        for (const Gate& gate : gates_) {
            sum += gate.queues[index(priority)].size();
        }
        return sum;
    }
    [[nodiscard]] std::size_t waiting() const {
        return waitingOf(Priority::low) + waitingOf(Priority::medium) + waitingOf(Priority::high);
    }
    [[nodiscard]] std::size_t messages() const {
        std::size_t sum = 0;
        for (const Gate& gate : gates_) {
            sum += gate.messages();
        }
        return sum;
    }

    Dice dice_;
    std::unique_ptr<TheBus> bus_ = std::make_unique<TheBus>();
    std::array<BusProducer<Items, Traits>, Traits::lanes> producers_;
    Subscription first_;
    Subscription second_;

    std::array<Gate, gateCount> gates_;
    std::array<std::array<MessageCounts, priorityCount>, typeCount> counts_{};
    std::array<int, priorityCount> overtaken_{};  ///< how often those that wait longest were
    std::size_t nothings_ = 0;                    ///< slots without a message, at most
    std::size_t claimed_ = 0;      ///< by this step, of which the bus does not know yet
    std::size_t highest_ = 0;      ///< fill of a gate, ever
    std::size_t surelyNoted_ = 0;  ///< as the high water
    std::size_t handled_ = 0;
    int throwsAt_ = 0;
    int serial_ = 0;
    bool isConsuming_ = false;
    bool hasPublished_ = false;  ///< since the consumer began
    bool isClosed_ = false;
};

template <std::size_t Depth, class IndexType, Service Served, std::size_t Lanes = 0,
          BusOverflow Low = BusOverflow::reject, BusOverflow Medium = BusOverflow::reject,
          BusOverflow High = BusOverflow::reject>
struct Shape : DeepTraits<Depth> {
    using Index = IndexType;
    /// Soon comes round.
    static constexpr std::uint64_t firstPosition = static_cast<IndexType>(-10);
    static constexpr Service service = Served;
    static constexpr std::array<std::size_t, priorityCount> weights{1, 2, 4};
    static constexpr std::size_t lanes = Lanes;
    static constexpr std::size_t laneDepth = Depth;
    static constexpr std::array<BusOverflow, priorityCount> overflow{Low, Medium, High};
    static constexpr std::array<std::size_t, priorityCount> limits{60, 80, Depth < 5 ? 100 : 99};
};

template <class Traits>
class BusRandomTest : public testing::Test {};
constexpr auto strict = Service::strict;
constexpr auto weighted = Service::weighted;
constexpr auto reject = BusOverflow::reject;
constexpr auto oldest = BusOverflow::dropOldest;
constexpr auto latest = BusOverflow::keepLatest;
using Shapes =
    testing::Types<Shape<2, std::uint8_t, strict>, Shape<3, std::uint8_t, strict>,
                   Shape<5, std::uint8_t, weighted>, Shape<9, std::uint8_t, strict>,
                   Shape<2, std::uint8_t, strict, 1>, Shape<3, std::uint8_t, weighted, 2>,
                   Shape<9, std::uint16_t, strict, 2>, Shape<200, std::uint16_t, strict>,
                   Shape<150, std::uint32_t, strict, 2>,
                   Shape<2, std::uint8_t, strict, 0, oldest, oldest, oldest>,
                   Shape<9, std::uint8_t, strict, 0, oldest, latest, oldest>,
                   Shape<8, std::uint8_t, weighted, 0, latest, reject, latest>,
                   Shape<200, std::uint16_t, strict, 0, oldest, oldest, reject>>;
TYPED_TEST_SUITE(BusRandomTest, Shapes);

TYPED_TEST(BusRandomTest, DoesWhatAPlainModelSays) {
    for (std::uint32_t seed = 1; seed <= 25; ++seed) {
        RandomPlay<TypeParam>(seed * 2654435761U).run(300);
        ASSERT_FALSE(this->HasFailure()) << "seed " << seed;
    }
}

}  // namespace
}  // namespace sluice
