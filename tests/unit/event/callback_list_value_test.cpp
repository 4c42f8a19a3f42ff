#include "event_suites.hpp"

#include <sluice/event/callback_list.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

// Lists as values: copied, moved, swapped, assigned.

namespace sluice {
namespace {

using Numbers = std::vector<int>;

template <class Policies>
class CallbackListValueTest : public testing::Test {
protected:
    using List = CallbackList<void(Numbers&), Policies>;
    using Handle = typename List::Handle;

    static auto note(int number) {
        return [number](Numbers& called) { called.push_back(number); };
    }

    static List make(int first, int last) {
        List list;
        for (int i = first; i <= last; ++i) {
            list.append(note(i));
        }
        return list;
    }

    static Numbers call(const List& list) {
        Numbers called;
        list(called);
        return called;
    }

    static std::vector<Handle> handlesOf(const List& list) {
        std::vector<Handle> handles;
        list.forEach([&handles](const Handle& handle, typename List::Callback&) {
            handles.push_back(handle);
        });
        return handles;
    }
};
TYPED_TEST_SUITE(CallbackListValueTest, test::CommonPolicies, test::PolicyNames);

TYPED_TEST(CallbackListValueTest, CopyIsDeepAndIndependent) {
    auto original = this->make(1, 3);
    auto copy = original;
    EXPECT_EQ(this->call(copy), (Numbers{1, 2, 3}));
    copy.append(this->note(4));
    original.remove(this->handlesOf(original).front());
    EXPECT_EQ(this->call(original), (Numbers{2, 3}));
    EXPECT_EQ(this->call(copy), (Numbers{1, 2, 3, 4}));
    EXPECT_FALSE(copy.remove(this->handlesOf(original).front()));
}

TYPED_TEST(CallbackListValueTest, CopyKeepsThePriorities) {
    typename TestFixture::List original;
    original.insertByPriority(this->note(1), 1);
    original.insertByPriority(this->note(5), 5);
    original.insertByPriority(this->note(-1), -1);
    auto copy = original;
    copy.insertByPriority(this->note(3), 3);
    EXPECT_EQ(this->call(copy), (Numbers{5, 3, 1, -1}));
}

TYPED_TEST(CallbackListValueTest, CopyAssignReplacesWhatWasThere) {
    const auto source = this->make(1, 2);
    auto target = this->make(7, 9);
    target = source;
    EXPECT_EQ(this->call(target), (Numbers{1, 2}));
    EXPECT_EQ(this->call(source), (Numbers{1, 2}));
    target = typename TestFixture::List();
    EXPECT_TRUE(target.empty());
}

TYPED_TEST(CallbackListValueTest, AssigningToItselfKeepsTheVeryNodes) {
    auto list = this->make(1, 3);
    const auto handles = this->handlesOf(list);
    auto& self = list;
    list = self;
    EXPECT_EQ(this->handlesOf(list), handles);
    list = std::move(self);
    EXPECT_EQ(this->handlesOf(list), handles);
    EXPECT_EQ(this->call(list), (Numbers{1, 2, 3}));
}

TYPED_TEST(CallbackListValueTest, MovedFromIsEmptyAndUsable) {
    auto source = this->make(1, 2);
    auto target = std::move(source);
    EXPECT_TRUE(source.empty());
    EXPECT_EQ(this->call(source), Numbers());
    EXPECT_EQ(this->call(target), (Numbers{1, 2}));
    source.append(this->note(5));
    EXPECT_EQ(this->call(source), (Numbers{5}));
    target = std::move(source);
    EXPECT_TRUE(source.empty());
    EXPECT_EQ(this->call(target), (Numbers{5}));
    source.prepend(this->note(6));
    EXPECT_EQ(this->call(source), (Numbers{6}));
}

TYPED_TEST(CallbackListValueTest, SwapsWithItselfEmptyAndFull) {
    auto full = this->make(1, 3);
    const auto handles = this->handlesOf(full);
    full.swap(full);
    EXPECT_EQ(this->handlesOf(full), handles);
    typename TestFixture::List empty;
    swap(full, empty);
    EXPECT_TRUE(full.empty());
    EXPECT_EQ(this->handlesOf(empty), handles);
    auto other = this->make(7, 8);
    using std::swap;
    swap(empty, other);
    EXPECT_EQ(this->call(empty), (Numbers{7, 8}));
    EXPECT_EQ(this->handlesOf(other), handles);
    empty.append(this->note(9));
    other.prepend(this->note(0));
    EXPECT_EQ(this->call(empty), (Numbers{7, 8, 9}));
    EXPECT_EQ(this->call(other), (Numbers{0, 1, 2, 3}));
}

TYPED_TEST(CallbackListValueTest, CopyMadeInACallHasWhatIsThereThen) {
    typename TestFixture::List list;
    typename TestFixture::List copy;
    list.append([&](Numbers&) {
        list.append(this->note(2));
        copy = list;
        list.clear();
    });
    Numbers called;
    list(called);
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(called, Numbers());
    EXPECT_EQ(this->handlesOf(copy).size(), 2U) << "the copying began after the addition";
}

TYPED_TEST(CallbackListValueTest, ListMayBeMovedAwayByItsOwnCallback) {
    typename TestFixture::List list;
    typename TestFixture::List other;
    list.append([&](Numbers& called) {
        called.push_back(1);
        other = std::move(list);
    });
    list.append(this->note(2));
    Numbers called;
    list(called);
    EXPECT_EQ(called, (Numbers{1, 2}));
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(this->handlesOf(other).size(), 2U);
}

}  // namespace
}  // namespace sluice
