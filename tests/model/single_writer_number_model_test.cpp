#include "support/model/expectations.hpp"

#include <sluice/base/counter.hpp>

#include "support/testing.hpp"

namespace sluice::model {
namespace {

using Number = SingleWriterNumber<ModelPlatform, false>;

/// The same in both halves.
constexpr std::uint64_t twice(std::uint64_t value) {
    return value << 32U | value;
}

void readerAgainstThreeWrites() {
    Number number;
    parallel(
        [&] {
            for (std::uint64_t value = 1; value <= 3; ++value) {
                number.set(twice(value));
            }
        },
        [&] {
            const std::uint64_t value = number.get();
            check(value == twice(value & 3U), "both halves are of one write");
        });
    check(number.get() == twice(3), "the last write stays");
}

void readerAgainstAReader() {
    Number number;
    const auto read = [&] {
        const std::uint64_t value = number.get();
        check(value == twice(value & 3U), "both halves are of one write");
    };
    parallel(
        [&] {
            number.set(twice(1));
            number.set(twice(2));
        },
        read, read);
}

TEST(SingleWriterNumberModelTest, IsReadAsOneNumber) {
    EXPECT_TRUE(holds(readerAgainstThreeWrites));
    EXPECT_TRUE(holds(readerAgainstAReader));
}

TEST(SingleWriterNumberModelTest, EveryOrderIsNeeded) {
    EXPECT_TRUE(survive({}, ordersOf("counter.hpp", {}, {readerAgainstThreeWrites})));
}

}  // namespace
}  // namespace sluice::model
