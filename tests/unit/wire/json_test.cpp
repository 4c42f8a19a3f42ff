#include "unit/wire/wire_doubles.hpp"

#include <sluice/wire/json.hpp>

#include "support/testing.hpp"
#include <cmath>

namespace {

using namespace sluice::test::messages;
using sluice::wire::DecodeError;
using sluice::wire::fromJson;
using sluice::wire::toJson;

const char* const sampleText =
    R"({"flag":true,"wide":-9223372036854775808,"natural":18446744073709551615,"ratio":0.5,)"
    R"("colour":200,"text":"a \"b\"\n\u0001é","name":"name","items":[{"0":1,"1":2.5},{"0":-3,"1":null}],)"
    R"("few":[-129,7],"bytes":[1,2,255],"maybe":null})";

/// The text as the value of one field of a message.
DecodeError readAs(const std::string& field, const std::string& value) {
    Everything read;
    return fromJson("{\"" + field + "\":" + value + "}", read);
}

TEST(WireJson, WritesTheFieldsInTheirOrder) {
    EXPECT_EQ(toJson(sample()), sampleText);
    EXPECT_EQ(toJson(Inner{7, 1e300}), R"({"0":7,"1":1e+300})");
}

TEST(WireJson, ReadsWhatItWrites) {
    Everything read;
    read.maybe = 7;
    ASSERT_EQ(fromJson(sampleText, read), DecodeError::none);
    EXPECT_TRUE(std::isnan(read.items[1].y));
    EXPECT_EQ(toJson(read), sampleText);
    ASSERT_EQ(fromJson(R"({"maybe":-70000})", read), DecodeError::none);
    EXPECT_EQ(read.maybe, -70000);
}

TEST(WireJson, ToleratesAddedAndMissingFields) {
    Inner read{7, 0.5};
    EXPECT_EQ(fromJson(R"({"2":[{}],"1":2})", read), DecodeError::none);
    EXPECT_EQ(read.x, 7);
    EXPECT_EQ(read.y, 2.0);
    EXPECT_EQ(fromJson("{}", read), DecodeError::none);
    EXPECT_EQ(fromJson(R"({"2":1})", read), DecodeError::noKnownField);
    Outer outer;
    EXPECT_EQ(fromJson(R"({"0":{"0":9}})", outer), DecodeError::none);
    EXPECT_EQ(outer.inner->x, 9);
    EXPECT_EQ(outer.inner->y, 0.5);
}

TEST(WireJson, TakesAWholeNumberForAFloatAndTheLastOfTwoValues) {
    Everything read;
    ASSERT_EQ(fromJson(R"({"ratio":1,"ratio":2})", read), DecodeError::none);
    EXPECT_EQ(read.ratio, 2.0F);
}

TEST(WireJson, RoundsANumberToTheNearestFloat) {
    constexpr float largest = std::numeric_limits<float>::max();
    Everything read;
    ASSERT_EQ(fromJson(R"({"ratio":3.4028235e38})", read), DecodeError::none);
    EXPECT_EQ(read.ratio, largest);
    ASSERT_EQ(fromJson(R"({"ratio":-3.4028235e38})", read), DecodeError::none);
    EXPECT_EQ(read.ratio, -largest);
    EXPECT_EQ(readAs("ratio", "3.4028236e38"), DecodeError::outOfRange);
    EXPECT_EQ(readAs("ratio", "-3.4028236e38"), DecodeError::outOfRange);
}

TEST(WireJson, MinusZeroIsZero) {
    Everything read;
    read.natural = 7;
    read.wide = 7;
    ASSERT_EQ(fromJson(R"({"natural":-0,"wide":-0})", read), DecodeError::none);
    EXPECT_EQ(read.natural, 0U);
    EXPECT_EQ(read.wide, 0);
}

TEST(WireJson, RefusesHostileTextsWithAReason) {
    Everything read;
    EXPECT_EQ(fromJson("", read), DecodeError::notJson);
    EXPECT_EQ(fromJson(R"({"flag":true} x)", read), DecodeError::notJson);
    EXPECT_EQ(fromJson(std::string_view("{\"flag\":true}\0 x", 16), read), DecodeError::notJson);
    EXPECT_EQ(fromJson("{\"text\":\"\xC0\x80\"}", read), DecodeError::notJson);
    EXPECT_EQ(fromJson("[]", read), DecodeError::wrongType);
    EXPECT_EQ(readAs("flag", "1"), DecodeError::wrongType);
    EXPECT_EQ(readAs("wide", "1.5"), DecodeError::wrongType);
    EXPECT_EQ(readAs("wide", "9223372036854775808"), DecodeError::outOfRange);
    EXPECT_EQ(readAs("natural", "-1"), DecodeError::outOfRange);
    EXPECT_EQ(readAs("ratio", "1e39"), DecodeError::outOfRange);
    EXPECT_EQ(readAs("ratio", "\"1\""), DecodeError::wrongType);
    EXPECT_EQ(readAs("colour", "256"), DecodeError::outOfRange);
    EXPECT_EQ(readAs("text", "null"), DecodeError::wrongType);
    EXPECT_EQ(readAs("name", "\"123456789\""), DecodeError::tooLong);
    EXPECT_EQ(readAs("items", "[1]"), DecodeError::wrongType);
    EXPECT_EQ(readAs("items", "{}"), DecodeError::wrongType);
    EXPECT_EQ(readAs("few", "[1,2,3]"), DecodeError::tooLong);
    EXPECT_EQ(readAs("bytes", "[1,2]"), DecodeError::wrongLength);
    EXPECT_EQ(readAs("maybe", "true"), DecodeError::wrongType);
}

TEST(WireJson, RefusesDeepNesting) {
    std::string open;
    std::string close;
    for (int i = 0; i < 10'000; ++i) {
        open += "{\"0\":[";
        close += "]}";
    }
    Tree tree;
    EXPECT_EQ(fromJson(open + close, tree), DecodeError::tooDeep);
    Inner skipped;
    EXPECT_EQ(fromJson("{\"0\":1,\"x\":" + open + close + "}", skipped), DecodeError::none);
}

TEST(WireJson, NestsAsDeepAsDecode) {
    std::string text = "{}";
    for (int i = 0; i < 16; ++i) {
        text = "{\"0\":[" + (i == 0 ? "" : text) + "]}";
    }
    Tree tree;
    EXPECT_EQ(fromJson(text, tree), DecodeError::none);
    EXPECT_EQ(fromJson("{\"0\":[" + text + "]}", tree), DecodeError::tooDeep);
    text.insert(text.find(']'), "{}");  // the 33rd level
    EXPECT_EQ(fromJson(text, tree), DecodeError::tooDeep);
}

TEST(WireJson, ATextThatIsNotUtf8GetsReplacements) {
    Everything all;
    all.text = "\xFF";
    Everything read;
    ASSERT_EQ(fromJson(toJson(all), read), DecodeError::none);
    EXPECT_EQ(read.text, "\xEF\xBF\xBD");
}

}  // namespace
