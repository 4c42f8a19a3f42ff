#include <sluice/wire/decode_error.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sluice {
namespace {

TEST(WireDecodeError, EachHasItsOwnText) {
    std::set<std::string> texts;
    for (int i = 0; i <= static_cast<int>(wire::DecodeError::foreignForm); ++i) {
        EXPECT_TRUE(texts.insert(toString(static_cast<wire::DecodeError>(i))).second) << i;
    }
    EXPECT_EQ(texts.count("unknown error"), 0U);
}

}  // namespace
}  // namespace sluice
