#include "event_suites.hpp"

#include "support/dice.hpp"

#include <sluice/event/callback_list.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

// Callbacks that remove callbacks: themselves, their neighbours, all of them, in any order.

namespace sluice {
namespace {

using Numbers = std::vector<int>;

/// Calls of callbacks 0 .. size-1, of which one removes a set of others at a time.
template <class Policies>
class Removals {
public:
    using List = CallbackList<void(), Policies>;

    Removals(int size, int remover, const Numbers& victims) : handles_(toSize(size)) {
        for (int i = 0; i < size; ++i) {
            handles_[toSize(i)] = list_.append([this, i, remover, victims] {
                called_.push_back(i);
                if (i == remover) {
                    removeAll(victims);
                }
            });
        }
    }

    void check() {
        list_();
        EXPECT_EQ(called_, expectedOf(true));
        called_.clear();
        std::vector<typename List::Handle> left;
        list_.forEach([&left](typename List::Handle handle, auto&) { left.push_back(handle); });
        for (std::size_t i = 0; i < handles_.size(); ++i) {
            const bool isLeft = !isRemoved(static_cast<int>(i));
            EXPECT_EQ(static_cast<bool>(handles_[i]), isLeft);
            EXPECT_EQ(list_.ownsHandle(handles_[i]), isLeft);
            EXPECT_EQ(std::count(left.begin(), left.end(), handles_[i]), isLeft ? 1 : 0);
        }
        list_();
        EXPECT_EQ(called_, expectedOf(false));
    }

private:
    static std::size_t toSize(int n) { return static_cast<std::size_t>(n); }

    void removeAll(const Numbers& victims) {
        for (const int victim : victims) {
            EXPECT_EQ(list_.remove(handles_[toSize(victim)]), !isRemoved(victim));
            if (!isRemoved(victim)) {
                removed_.push_back(victim);
                reachedBefore_.push_back(
                    std::find(called_.begin(), called_.end(), victim) != called_.end() ? 1 : 0);
            }
        }
    }

    bool isRemoved(int i) const {
        return std::find(removed_.begin(), removed_.end(), i) != removed_.end();
    }

    /// Those that were not removed, and in the call of the removal those that had had their turn.
    Numbers expectedOf(bool isFirstCall) const {
        Numbers expected;
        for (int i = 0; i < static_cast<int>(handles_.size()); ++i) {
            const auto found = std::find(removed_.begin(), removed_.end(), i);
            const bool hadTurn =
                found != removed_.end() &&
                reachedBefore_[toSize(static_cast<int>(found - removed_.begin()))] == 1;
            if (found == removed_.end() || (isFirstCall && hadTurn)) {
                expected.push_back(i);
            }
        }
        return expected;
    }

    List list_;
    std::vector<typename List::Handle> handles_;
    Numbers called_;
    Numbers removed_;
    Numbers reachedBefore_;
};

template <class Policies>
class CallbackListRemovalTest : public testing::Test {
protected:
    static void check(int size, int remover, const Numbers& victims) {
        SCOPED_TRACE("size " + std::to_string(size) + ", remover " + std::to_string(remover) +
                     ", victims " + testing::PrintToString(victims));
        Removals<Policies>(size, remover, victims).check();
    }
};
TYPED_TEST_SUITE(CallbackListRemovalTest, test::AllPolicies, test::PolicyNames);

TYPED_TEST(CallbackListRemovalTest, AnySetOfSevenInAnyDirectionFromTheMiddle) {
    for (unsigned set = 1; set < 128; ++set) {
        Numbers forward;
        for (int i = 0; i < 7; ++i) {
            if ((set >> static_cast<unsigned>(i) & 1U) != 0) {
                forward.push_back(i);
            }
        }
        this->check(7, 3, forward);
        this->check(7, 3, Numbers(forward.rbegin(), forward.rend()));
    }
}

TYPED_TEST(CallbackListRemovalTest, AnyTwoOfAnyRemover) {
    for (int remover = 0; remover < 5; ++remover) {
        for (int first = 0; first < 5; ++first) {
            for (int second = 0; second < 5; ++second) {
                this->check(5, remover, {first, second});
            }
        }
    }
}

TYPED_TEST(CallbackListRemovalTest, SameHandleTwiceIsRefusedTheSecondTime) {
    this->check(7, 3, {3, 3});
    this->check(7, 3, {2, 2, 4, 4});
    this->check(7, 3, {3, 2, 3, 4, 3});
    this->check(7, 0, {0, 1, 0, 6, 6, 1});
    this->check(1, 0, {0, 0});
}

TYPED_TEST(CallbackListRemovalTest, LongerListsAroundMultiplesOfEight) {
    for (const int size : {16, 24}) {
        for (const int remover : {0, 6, 7, 8, 9, 15}) {
            this->check(size, remover, {remover});
            this->check(size, remover, {7, 8});
            this->check(size, remover, {8, 7, 9});
            this->check(size, remover, {size - 1, 0, remover, 15, 14});
            Numbers all;
            for (int i = 0; i < size; ++i) {
                all.push_back(i);
            }
            this->check(size, remover, all);
            this->check(size, remover, Numbers(all.rbegin(), all.rend()));
            this->check(size, remover, Numbers(all.begin() + remover, all.end()));
        }
    }
}

TYPED_TEST(CallbackListRemovalTest, ManyRandomSets) {
    test::Dice dice(20240229);
    for (int round = 0; round < 500; ++round) {
        const int size = 1 + static_cast<int>(dice() % 24);
        Numbers victims;
        for (unsigned i = dice() % 30; i > 0; --i) {
            victims.push_back(static_cast<int>(dice()) % size);
        }
        this->check(size, static_cast<int>(dice()) % size, victims);
    }
}

TYPED_TEST(CallbackListRemovalTest, NeighbourChangesBetweenTwoRemovalsOfTheRunningOneKeepTheList) {
    using List = CallbackList<void(), TypeParam>;
    List list;
    Numbers called;
    typename List::Handle self;
    typename List::Handle next;
    list.append([&called] { called.push_back(0); });
    self = list.append([&] {
        called.push_back(1);
        EXPECT_TRUE(list.remove(self));
        list.insert([&called] { called.push_back(10); }, next);
        EXPECT_TRUE(list.remove(next));
        list.append([&called] { called.push_back(11); });
        EXPECT_FALSE(list.remove(self));
        list.insert([&called] { called.push_back(12); }, self);
    });
    next = list.append([&called] { called.push_back(2); });
    list.append([&called] { called.push_back(3); });
    list();
    EXPECT_EQ(called, (Numbers{0, 1, 3}));
    called.clear();
    list();
    EXPECT_EQ(called, (Numbers{0, 10, 3, 11, 12}));
}

TYPED_TEST(CallbackListRemovalTest, ClearInsideACallEndsIt) {
    using List = CallbackList<void(), TypeParam>;
    List list;
    Numbers called;
    list.append([&] {
        called.push_back(0);
        list.clear();
        list.append([&called] { called.push_back(2); });
    });
    list.append([&called] { called.push_back(1); });
    list();
    EXPECT_EQ(called, (Numbers{0}));
    list();
    EXPECT_EQ(called, (Numbers{0, 2}));
}

TYPED_TEST(CallbackListRemovalTest, InnerCallMayRemoveWhatTheOuterOneStandsOn) {
    using List = CallbackList<void(), TypeParam>;
    List list;
    Numbers called;
    std::vector<typename List::Handle> handles;
    bool isNested = false;
    handles.push_back(list.append([&] {
        called.push_back(0);
        if (!isNested) {
            isNested = true;
            list();
        }
    }));
    handles.push_back(list.append([&] {
        called.push_back(1);
        EXPECT_TRUE(list.remove(handles[0]));
        EXPECT_TRUE(list.remove(handles[1]));
        EXPECT_TRUE(list.remove(handles[2]));
    }));
    handles.push_back(list.append([&called] { called.push_back(2); }));
    handles.push_back(list.append([&called] { called.push_back(3); }));
    list();
    EXPECT_EQ(called, (Numbers{0, 0, 1, 3, 3}));
}

}  // namespace
}  // namespace sluice
