#pragma once

#include "support/dice.hpp"
#include "unit/bus/bus_doubles.hpp"

#include "support/testing.hpp"

namespace sluice {
namespace test {

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

/// The messages in the room of one priority.
struct Room {
    struct Entry {
        int serial;
        std::size_t type;
        std::uint64_t id;
    };
    std::deque<Entry> queue;
    std::uint64_t nextId = 0;
    std::size_t inHands = 0;  ///< of a handler, or of its caller
    std::size_t nothings =
        0;  ///< slots whose constructors threw, which the consumer has yet to pass

    [[nodiscard]] std::size_t messages() const { return queue.size() + inHands; }
};

template <class Traits>
class RandomPlay {
    using TheBus = Bus<Items, Traits>;
    using Header = typename TheBus::Header;
    static constexpr std::size_t allSlots = TheBus::capacity();
    /// Positions are even numbers of the Index type.
    static constexpr std::uint64_t lastId = std::numeric_limits<typename Traits::Index>::max() / 2;

public:
    explicit RandomPlay(std::uint32_t seed) : dice_(seed) {
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

    Room& room(Priority priority) { return rooms_[index(priority)]; }
    /// With dropOldest the message that is handled has left the room.
    [[nodiscard]] std::size_t messagesIn(Priority priority) const {
        const Room& r = rooms_[index(priority)];
        return r.queue.size() + (drops(priority) ? 0 : r.inHands);
    }
    [[nodiscard]] std::size_t used(Priority priority) const {
        return std::min(messagesIn(priority) + rooms_[index(priority)].nothings,
                        TheBus::roomOf(priority));
    }
    [[nodiscard]] bool isFull(Priority priority) const {
        return used(priority) == TheBus::roomOf(priority);
    }

    /// The expected answer of the bus. Makes room by the policy of the priority.
    SendResult admit(Priority priority) {
        if (isClosed_) {
            return SendResult::closed;
        }
        if (!isFull(priority)) {
            return SendResult::ok;
        }
        auto& queue = room(priority).queue;
        if (!drops(priority)) {
            return SendResult::full;
        }
        ++counts_[queue.front().type][index(priority)].dropped;
        queue.pop_front();
        return SendResult::ok;
    }

    void noteResult(std::size_t type, Priority priority, SendResult result, std::uint64_t n) {
        MessageCounts& counts = counts_[type][index(priority)];
        if (result == SendResult::ok) {
            published_[index(priority)] += n;
        } else {
            (result == SendResult::full ? counts.full : counts.closed) += n;
        }
    }

    void notePublished(std::size_t type, Priority priority, int serial) {
        Room& r = room(priority);
        if (r.queue.empty()) {
            overtaken_[index(priority)] = 0;
        }
        r.queue.push_back({serial, type, r.nextId++});
    }

    /// The bus may miss a peak during a harvest.
    void notePeak(Priority priority) {
        highest_ = std::max(highest_, used(priority));
        hasPublished_ = true;
    }

    void publish() {
        const Priority priority = anyPriority();
        const std::size_t type = dice_() % typeCount;
        const int serial = ++serial_;
        const SendResult expected = admit(priority);
        if (expected == SendResult::ok) {
            notePublished(type, priority, serial);
        }
        noteResult(type, priority, expected, 1);
        EXPECT_EQ(type == 0 ? bus_->publish(Item<0>(serial), priority)
                            : bus_->template emplaceWith<Item<1>>({priority}, serial),
                  expected);
        notePeak(priority);
    }

    void publishMany() {
        const Priority priority = anyPriority();
        std::vector<Item<0>> items;
        for (std::size_t i = dice_() % (Traits::depth + 3); i != 0; --i) {
            items.emplace_back(++serial_);
        }
        std::size_t expected = 0;
        SendResult end = SendResult::ok;
        while (expected != items.size() && (end = admit(priority)) == SendResult::ok) {
            notePublished(0, priority, items[expected].serial);
            ++expected;
        }
        noteResult(0, priority, SendResult::ok, expected);
        if (end != SendResult::ok) {
            noteResult(0, priority, end, items.size() - expected);
        }
        EXPECT_EQ(bus_->publishAll(items.begin(), items.end(), {priority}), expected);
        notePeak(priority);
    }

    /// A constructor that throws.
    void publishNothing() {
#if defined(__cpp_exceptions)
        const Priority priority = anyPriority();
        if (canDrop() || nothings() != room(priority).nothings ||
            admit(priority) != SendResult::ok) {
            return;
        }
        EXPECT_THROW((void)bus_->template emplaceWith<Item<0>>({priority}, -1), int);
        if (Traits::producers == Producers::many) {  // one takes the slot back
            ++room(priority).nextId;
            ++room(priority).nothings;
            notePeak(priority);
        }
#endif
    }

    // ---- Consuming

    void consume() {
        if (dice_() % 8 == 0) {
            EXPECT_EQ(bus_->waitFor(std::chrono::nanoseconds(0)), waiting() + nothings() != 0);
        }
        const std::size_t max = dice_() % 3 == 0 ? unlimited : 1 + dice_() % 3;
        const std::size_t most = std::min(max, allSlots);
        const std::size_t sure = std::min(most, waiting());
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
        freeSlots();
        if (isComplete) {
            EXPECT_EQ(count, handled_);
            EXPECT_LE(count, most);
            EXPECT_TRUE(count >= sure || (canDrop() && hasPublished_)) << count << ' ' << sure;
            if (count < most) {
                passNothings();
            }
        }
    }

    void discard() {
        EXPECT_EQ(bus_->discard(), waiting());
        for (const Priority priority : priorities) {
            for (const auto& each : room(priority).queue) {
                ++counts_[each.type][index(priority)].discarded;
            }
            room(priority).queue.clear();
        }
        passNothings();
    }

    /// The slots of handled messages have come back.
    void freeSlots() {
        for (Room& each : rooms_) {
            each.inHands = 0;
        }
    }
    void passNothings() {
        for (Room& each : rooms_) {
            each.nothings = 0;
        }
    }

    void handle(std::size_t type, int serial, const Header& header) {
        freeSlots();
        ++handled_;
        auto& queue = room(header.priority).queue;
        ASSERT_FALSE(queue.empty());
        ASSERT_EQ(queue.front().serial, serial) << "not the oldest of its priority";
        EXPECT_EQ(queue.front().type, type);
        EXPECT_EQ(queue.front().id & lastId, header.id);
        queue.pop_front();
        room(header.priority).inHands = 1;
        learnOfNothings();
        checkTurn(header.priority);
        MessageCounts& counts = counts_[type][index(header.priority)];
        ++counts.delivered;
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
            if (Traits::service == PriorityOrder::weighted && nothings() != 0) {
                overtaken_[index(other)] = 0;  // one of them may be its head
            } else if (Traits::service == PriorityOrder::weighted) {
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

    // ---- Conditions that hold after each step

    /// Slots whose constructors threw come back when the consumer finds them. They are in one room
    /// at a time, so the size of the bus tells how many are left.
    void learnOfNothings() {
        std::size_t left = bus_->sizeApprox();
        for (const Priority priority : priorities) {
            const std::size_t messages = messagesIn(priority);
            ASSERT_GE(left, messages);
            left -= messages;
        }
        for (Room& each : rooms_) {
            ASSERT_TRUE(left <= each.nothings || each.nothings == 0);
            each.nothings = each.nothings == 0 ? 0 : left;
        }
        ASSERT_EQ(left, nothings());
    }

    void check() {
        learnOfNothings();
        Pressure expected = Pressure::normal;
        for (const Priority priority : priorities) {
            expected = std::max(expected, pressureOf(used(priority), TheBus::roomOf(priority)));
            highest_ = std::max(highest_, used(priority));
            surelyNoted_ = std::max(surelyNoted_, used(priority));
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
                EXPECT_EQ(is.published, should.delivered + should.dropped + should.discarded);
                EXPECT_EQ(is.full, should.full);
                EXPECT_EQ(is.closed, should.closed);
                EXPECT_EQ(is.dropped, should.dropped);
                EXPECT_EQ(is.delivered, should.delivered);
                EXPECT_EQ(is.discarded, should.discarded);
                EXPECT_EQ(is.failed, should.failed);
                delivered += should.delivered;
            }
            EXPECT_EQ(statistics.ofPriority(priority).published, published_[index(priority)]);
            EXPECT_EQ(statistics.queued[index(priority)], room(priority).messages());
            const QueueTimes& times = statistics.times[index(priority)];
            EXPECT_EQ(times.count, delivered);
            EXPECT_LE(times.max, std::chrono::hours(1));
            EXPECT_LE(times.mean(), times.max);
            EXPECT_GE(times.sum, times.max);
        }
    }

    static constexpr bool drops(Priority priority) {
        return Traits::overflow[index(priority)] == Overflow::dropOldest;
    }
    static constexpr bool canDrop() { return detail::hasPolicy<Traits>(Overflow::dropOldest); }
    static constexpr std::size_t index(Priority priority) {
        return static_cast<std::size_t>(priority);
    }
    Priority anyPriority() { return priorities[dice_() % priorityCount]; }
    static std::size_t weightOfAllBut(Priority priority) {
        const auto& weights = Traits::weights;
        return weights[0] + weights[1] + weights[2] - weights[index(priority)];
    }
    [[nodiscard]] std::size_t waitingOf(Priority priority) const {
        return rooms_[index(priority)].queue.size();
    }
    [[nodiscard]] std::size_t waiting() const {
        return waitingOf(Priority::low) + waitingOf(Priority::medium) + waitingOf(Priority::high);
    }
    [[nodiscard]] std::size_t nothings() const {
        return rooms_[0].nothings + rooms_[1].nothings + rooms_[2].nothings;
    }

    Dice dice_;
    std::unique_ptr<TheBus> bus_ = std::make_unique<TheBus>();
    Subscription first_;
    Subscription second_;

    std::array<Room, priorityCount> rooms_;
    std::array<std::array<MessageCounts, priorityCount>, typeCount> counts_{};
    std::array<std::uint64_t, priorityCount> published_{};
    std::array<int, priorityCount> overtaken_{};  ///< how often those that wait longest were
    std::size_t highest_ = 0;                     ///< fill of a room, ever
    std::size_t surelyNoted_ = 0;                 ///< as the high water
    std::size_t handled_ = 0;
    int throwsAt_ = 0;
    int serial_ = 0;
    bool isConsuming_ = false;
    bool hasPublished_ = false;  ///< since the consumer began
    bool isClosed_ = false;
};

}  // namespace test
}  // namespace sluice
