// The counter of the additions is of no public interest, but programs written for eventpp reach it
// like this to see it wrap. Other headers come first, because `#define private public` must not
// change them.
#include <sluice/base/reader_registry.hpp>

#include "support/testing.hpp"
#include <shared_mutex>
#include <unordered_map>

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wkeyword-macro"
#endif
#define private public  // NOLINT(readability-identifier-naming)
#include "event_suites.hpp"

#include <sluice/event/callback_list.hpp>
#undef private

namespace sluice {
namespace {

template <class Policies>
class CallbackListWrapTest : public testing::Test {
protected:
    using List = CallbackList<void(), Policies>;
};
TYPED_TEST_SUITE(CallbackListWrapTest, test::CommonPolicies, test::PolicyNames);

using Numbers = std::vector<int>;

TYPED_TEST(CallbackListWrapTest, CallbackThatIsAddedAcrossTheWrapIsCalledAtOnce) {
    typename TestFixture::List list;
    Numbers calls(2);
    list.append([&] {
        ++calls[0];
        list.currentCounter = static_cast<unsigned>(-1);
        list.append([&calls] { ++calls[1]; });
    });
    list();
    EXPECT_EQ(calls, (Numbers{1, 1}));
}

TYPED_TEST(CallbackListWrapTest, AllCallbacksStayInPlaceAcrossTheWrap) {
    typename TestFixture::List list;
    Numbers called;
    const auto note = [&called](int number) {
        return [&called, number] { called.push_back(number); };
    };
    list.append(note(1));
    const auto two = list.append(note(2));
    const auto gone = list.append(note(9));
    list.append(note(3));
    list.remove(gone);
    list.currentCounter = static_cast<unsigned>(-1);
    list.insert(note(4), two);
    EXPECT_EQ(list.currentCounter.load(), 1U);
    EXPECT_FALSE(gone);
    list();
    EXPECT_EQ(called, (Numbers{1, 4, 2, 3}));
    list.append(note(5));
    EXPECT_EQ(list.currentCounter.load(), 2U);
    called.clear();
    list();
    EXPECT_EQ(called, (Numbers{1, 4, 2, 3, 5}));
}

TYPED_TEST(CallbackListWrapTest, SwapAndMoveTakeTheCounterAlong) {
    typename TestFixture::List one;
    typename TestFixture::List two;
    one.currentCounter = 38;
    two.currentCounter = 99;
    swap(one, two);
    EXPECT_EQ(one.currentCounter.load(), 99U);
    EXPECT_EQ(two.currentCounter.load(), 38U);
    one.append([] {});
    const typename TestFixture::List moved(std::move(one));
    EXPECT_EQ(moved.currentCounter.load(), 100U);
}

}  // namespace
}  // namespace sluice
