#include <sluice/base/setup_error.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

#if defined(__cpp_exceptions)

std::string textOfError(const char* what, unsigned long long value, unsigned long long limit) {
    try {
        setupError(what, value, limit);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
}

TEST(SetupErrorTest, NamesTheSettingItsValueAndTheLimit) {
    EXPECT_EQ(textOfError("queue capacity", 0, 1), "queue capacity: 0, limit 1");
    EXPECT_EQ(textOfError("bytes", ~0ULL, ~1ULL),
              "bytes: 18446744073709551615, limit 18446744073709551614");
}

TEST(SetupErrorTest, CutsAnEndlessNameAndNothingWorse) {
    const std::string name(1000, 'x');
    EXPECT_EQ(textOfError(name.c_str(), 1, 2), name.substr(0, 255));
}

#else

TEST(SetupErrorDeathTest, NamesTheSettingItsValueAndTheLimit) {
    EXPECT_DEATH(setupError("queue capacity", 0, 1), "queue capacity: 0, limit 1");
}

TEST(SetupErrorDeathTest, CutsAnEndlessNameAndNothingWorse) {
    const std::string name(1000, 'x');
    EXPECT_DEATH(setupError(name.c_str(), 1, 2), "sluice: x{255} \\[");
}

#endif

}  // namespace
}  // namespace sluice
