#include "support/crew.hpp"
#include "support/jitter_platform.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/bus.hpp>

#include "support/testing.hpp"

// Threads publish, subscribe and unsubscribe while one thread consumes. Each message names its
// publisher and its number. Half of the messages own memory, so AddressSanitizer also notices a
// message that is lost or handled twice.

namespace sluice {
namespace {

using namespace test;

struct Plain {
    std::uint32_t publisher;
    std::uint32_t number;
};
struct Owning {
    std::uint32_t publisher;
    std::uint32_t number;
    std::string text;
};
using StressMessages = Messages<Plain, Owning>;

/// Few slots: the rings reuse them often and are nearly always full.
template <class Base, std::size_t Depth = 13>
struct Narrow : Base {
    static constexpr std::size_t depth = Depth;
};
template <Overflow Low, Overflow Medium, Overflow High>
struct Policies : Narrow<FullBusTraits> {
    static constexpr std::array<Overflow, priorityCount> overflow{Low, Medium, High};
};
struct Weighted : Narrow<FullBusTraits> {
    static constexpr PriorityOrder service = PriorityOrder::weighted;
};
struct PowersOfTwo : Narrow<FullBusTraits, 8> {
    static constexpr std::array<std::size_t, priorityCount> rooms{4, 4, 8};
};

constexpr std::size_t publishers = 3;

using Counts = std::array<std::array<std::uint64_t, priorityCount>, StressMessages::count>;

/// Checks that each publisher's messages of one priority come in order, each once, and those of all
/// publishers in the order of their ids.
class Ledger {
public:
    template <class Header>
    void see(std::size_t type, std::uint32_t publisher, std::uint32_t number,
             [[maybe_unused]] const Header& header) {
        std::size_t level = 0;
        if constexpr (Header::hasPriority) {
            level = static_cast<std::size_t>(header.priority);
        }
        if constexpr (Header::hasId) {
            std::uint64_t& next = nextId_.at(level);
            idsOutOfOrder_ += header.id < next ? 1 : 0;
            next = header.id + 1;
        }
        ++counts_.at(type).at(level);
        std::int64_t& last = last_.at(publisher).at(level);
        outOfOrder_ += last >= std::int64_t{number} ? 1 : 0;
        last = number;
        ++seen_;
    }
    std::uint64_t seen() const noexcept { return seen_; }
    std::uint64_t outOfOrder() const noexcept { return outOfOrder_; }
    std::uint64_t idsOutOfOrder() const noexcept { return idsOutOfOrder_; }
    const Counts& counts() const noexcept { return counts_; }

private:
    std::array<std::uint64_t, priorityCount> nextId_{};
    Counts counts_{};
    std::array<std::array<std::int64_t, priorityCount>, publishers> last_{
        {{-1, -1, -1}, {-1, -1, -1}, {-1, -1, -1}}};
    std::uint64_t seen_ = 0;
    std::uint64_t outOfOrder_ = 0;
    std::uint64_t idsOutOfOrder_ = 0;
};

/// By a publication, or by a loan. Some loans are given up, which counts as no attempt.
template <class T, class AnyBus, class... Text>
SendResult publishOne(AnyBus& bus, const PublishOptions& options, std::uint32_t publisher,
                      std::uint32_t number, const Text&... text) {
    if (number % 3 == 0) {
        auto lent = loan<T>(bus, options, publisher, 0U, text...);
        if (lent && number % 9 != 0) {
            lent->number = number;
            lent.publish();
            return SendResult::ok;
        }
        if (!lent) {
            return lent.result();
        }
    }
    return bus.template emplaceWith<T>(options, publisher, number, text...);
}

template <class AnyBus, class Traits>
std::uint64_t publishMany(AnyBus& bus, std::uint32_t publisher, std::uint32_t count) {
    std::uint64_t accepted = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        PublishOptions options;
        if constexpr (Traits::priorities) {
            options.priority = static_cast<Priority>((i + publisher) % priorityCount);
        }
        const SendResult result =
            i % 2 == 0 ? publishOne<Plain>(bus, options, publisher, i)
                       : publishOne<Owning>(bus, options, publisher, i,
                                            "a text that lies outside of its string");
        if (result == SendResult::ok) {
            ++accepted;
        } else {
            std::this_thread::yield();
        }
    }
    return accepted;
}

template <class Traits>
class BusStressTest : public testing::Test {};
using Modes = testing::Types<Narrow<FullBusTraits>, Narrow<NoStatsBusTraits>, Narrow<BareBusTraits>,
                             Weighted, PowersOfTwo,
                             Policies<Overflow::dropOldest, Overflow::dropOldest, Overflow::block>,
                             Policies<Overflow::block, Overflow::block, Overflow::block>>;
TYPED_TEST_SUITE(BusStressTest, Modes);

TYPED_TEST(BusStressTest, EverythingThatIsAcceptedIsSeenOnceAndInOrder) {
    const auto bus = std::make_unique<Bus<StressMessages, TypeParam>>();
    const Watchdog watchdog(
        [&](std::FILE* out) { std::fprintf(out, "in the bus: %zu\n", bus->sizeApprox()); });
    const auto count = static_cast<std::uint32_t>(scaled(30000));
    std::atomic<std::uint64_t> accepted{0};
    std::atomic<std::size_t> ended{0};
    Ledger ledger;
    auto plain = bus->template subscribe<Plain>([&](const Plain& message, const auto& header) {
        ledger.see(0, message.publisher, message.number, header);
    });
    auto owning = bus->template subscribe<Owning>([&](const Owning& message, const auto& header) {
        ledger.see(1, message.publisher, message.number, header);
    });
    {
        Crew crew;
        for (std::uint32_t publisher = 0; publisher < publishers; ++publisher) {
            crew.add([&, publisher] {
                accepted +=
                    publishMany<Bus<StressMessages, TypeParam>, TypeParam>(*bus, publisher, count);
                if (++ended == publishers) {
                    bus->close();
                }
            });
        }
        crew.start();
        bus->run();
    }
    EXPECT_EQ(ledger.outOfOrder(), 0U);
    EXPECT_EQ(ledger.idsOutOfOrder(), 0U);
    EXPECT_EQ(bus->sizeApprox(), 0U);
    if constexpr (TypeParam::statistics) {
        const auto statistics = bus->statistics();
        EXPECT_EQ(statistics.total().attempted(), std::uint64_t{count} * publishers);
        EXPECT_EQ(statistics.total().published, accepted);
        for (std::size_t type = 0; type < StressMessages::count; ++type) {
            for (std::size_t level = 0; level < priorityCount; ++level) {
                const MessageCounts counts = statistics.of(type, static_cast<Priority>(level));
                EXPECT_EQ(counts.delivered, ledger.counts()[type][level]);
                EXPECT_EQ(counts.published, counts.delivered + counts.dropped);
                EXPECT_NEAR(static_cast<double>(counts.attempted()), count / 2.0, 3.0)
                    << "a third of three publishers' messages, and half of these";
            }
        }
    } else {
        EXPECT_EQ(ledger.seen(), accepted);
    }
}

template <class Traits>
class BusSubscriptionStressTest : public testing::Test {};
using HandlerModes =
    testing::Types<Narrow<FullBusTraits>, Narrow<NoStatsBusTraits>, Narrow<BareBusTraits>>;
TYPED_TEST_SUITE(BusSubscriptionStressTest, HandlerModes);

// The handler's data may be destroyed after unsubscribe() has returned. This holds in every mode.
TYPED_TEST(BusSubscriptionStressTest, HandlerNeverRunsAfterItsSubscription) {
    const auto bus = std::make_unique<Bus<StressMessages, TypeParam>>();
    const Watchdog watchdog(
        [&](std::FILE* out) { std::fprintf(out, "in the bus: %zu\n", bus->sizeApprox()); });
    std::atomic<bool> isOver{false};
    Crew crew;
    for (int i = 0; i < 2; ++i) {
        crew.add([&] {
            for (std::size_t round = scaled(3000); round != 0; --round) {
                auto used = std::make_unique<std::uint64_t>(0);
                const auto subscription = bus->template subscribe<Plain>(
                    [value = used.get()](const Plain&) { ++*value; });
                EXPECT_TRUE(subscription);
                std::this_thread::yield();
            }
            isOver = true;
        });
    }
    crew.add([&] { bus->run(); });
    crew.start();
    while (!isOver) {
        (void)bus->template emplace<Plain>(0U, 0U);
    }
    bus->close();
    crew.join();
    EXPECT_TRUE(bus->isDrained());
    EXPECT_EQ(bus->template subscriptionCount<Plain>(), 0U);
}

struct Shaken : Narrow<FullBusTraits> {
    using Platform = JitterPlatform;
};
template <class Traits>
class LastValueStressTest : public testing::Test {};
using LastValueModes = testing::Types<Narrow<FullBusTraits>, Narrow<BareBusTraits>, Shaken>;
TYPED_TEST_SUITE(LastValueStressTest, LastValueModes);

// Threads publish until the bus is closed. Nothing older follows a value, and the last value that
// was accepted is the last one that is handled.
TYPED_TEST(LastValueStressTest, LastAcceptedValueIsHandled) {
    const Watchdog watchdog([](std::FILE*) {});
    for (std::size_t round = scaled(400); round != 0; --round) {
        using OfBus = Bus<StressMessages, TypeParam>;
        const auto bus = std::make_unique<OfBus>();
        std::array<std::int64_t, publishers> seen{-1, -1, -1};
        std::array<std::int64_t, publishers> accepted{-1, -1, -1};
        std::uint64_t outOfOrder = 0;
        Owning last{0, 0, ""};
        LastValue<Owning, OfBus> value(*bus, [&](const Owning& now) {
            outOfOrder += seen.at(now.publisher) >= std::int64_t{now.number} ? 1 : 0;
            seen.at(now.publisher) = now.number;
            last = now;
        });
        {
            Crew crew;
            for (std::uint32_t publisher = 0; publisher < publishers; ++publisher) {
                crew.add([&, publisher] {
                    for (std::uint32_t i = 0;
                         value.publish(
                             Owning{publisher, i, "a text that lies outside of its string"}) ==
                         SendResult::ok;
                         ++i) {
                        accepted.at(publisher) = i;
                        (void)bus->template emplace<Plain>(publisher, i);
                        if (i % 8 == 0) {
                            std::this_thread::yield();
                        }
                    }
                });
            }
            crew.add([&] {
                for (std::size_t i = 0; i < round % 64; ++i) {
                    const auto now = value.get();
                    EXPECT_TRUE(!now || now->text.size() > 30);
                    std::this_thread::yield();
                }
                bus->close();
            });
            crew.start();
            bus->run();
        }
        EXPECT_EQ(outOfOrder, 0U);
        if (const auto newest = value.get()) {
            EXPECT_EQ(accepted.at(newest->publisher), newest->number);
            EXPECT_EQ(last.publisher, newest->publisher);
            EXPECT_EQ(last.number, newest->number);
        } else {
            EXPECT_EQ(accepted, (std::array<std::int64_t, publishers>{-1, -1, -1}));
        }
    }
}

}  // namespace
}  // namespace sluice
