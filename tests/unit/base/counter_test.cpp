#include "support/crew.hpp"
#include "support/interrupting_platform.hpp"

#include <sluice/base/counter.hpp>
#include <sluice/base/platform.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

TEST(SingleWriterCounterTest, StartsAgainAtZeroAfterItsLargestValue) {
    SingleWriterCounter<> counter;
    counter.add(std::numeric_limits<CounterWord>::max());
    counter.add(2);
    EXPECT_EQ(counter.get(), 1U);
}

using namespace test;

template <class AsOneWord>
class SingleWriterNumberTest : public testing::Test {
protected:
    SingleWriterNumber<StdPlatform, AsOneWord::value> number;
};
using Forms = testing::Types<std::true_type, std::false_type>;
TYPED_TEST_SUITE(SingleWriterNumberTest, Forms, );

TYPED_TEST(SingleWriterNumberTest, IsTheLastThatWasSet) {
    EXPECT_EQ(this->number.get(), 0U);
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    for (const std::uint64_t value : {std::uint64_t{1}, std::uint64_t{1} << 32U, most, most >> 1U,
                                      std::uint64_t{0xFFFF'FFFF}, std::uint64_t{0}}) {
        this->number.set(value);
        EXPECT_EQ(this->number.get(), value);
    }
}

using Halved = SingleWriterNumber<InterruptingPlatform, false>;

TEST(SingleWriterNumberInterruptTest, WhoInterruptsTheWriterReadsTheLastOne) {
    constexpr std::uint64_t before = 0x1'0000'0001;
    constexpr std::uint64_t after = 0x2'0000'0002;
    std::uint64_t seen = 0;
    const std::size_t accesses = interruptEverywhere(
        [] {
            auto number = std::make_unique<Halved>();
            number->set(before);
            return number;
        },
        [](Halved& number) { number.set(after); }, [&](Halved& number) { seen = number.get(); },
        [&](Halved& number) {
            EXPECT_EQ(seen, before);
            EXPECT_EQ(number.get(), after);
        });
    EXPECT_EQ(accesses, 4U);
}

TEST(SingleWriterNumberInterruptTest, WhoIsInterruptedByTheWriterReadsOneOfItsNumbers) {
    const std::size_t accesses =
        interruptEverywhere([] { return std::make_unique<Halved>(); },
                            [](Halved& number) {
                                const std::uint64_t value = number.get();
                                EXPECT_EQ(value >> 32U, value & 0xFFFF'FFFFU);
                            },
                            [](Halved& number) {
                                for (std::uint64_t value = 1; value <= 3; ++value) {
                                    number.set(value << 32U | value);
                                }
                            },
                            [](Halved& number) { EXPECT_EQ(number.get(), 0x3'0000'0003U); });
    EXPECT_EQ(accesses, 4U);
}

TEST(StoreMaxTest, TheHighestOfAllThreadsStays) {
    constexpr std::size_t threads = 4;
    constexpr std::size_t each = 10'000;
    std::atomic<std::size_t> maximum{0};
    test::Crew crew;
    for (std::size_t t = 0; t < threads; ++t) {
        crew.add([&maximum, t] {
            for (std::size_t i = 0; i < each; ++i) {
                storeMax(maximum, i * threads + t);
            }
        });
    }
    crew.start();
    crew.join();
    EXPECT_EQ(maximum.load(), each * threads - 1);
}

}  // namespace
}  // namespace sluice
