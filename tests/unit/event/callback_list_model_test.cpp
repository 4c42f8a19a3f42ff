#include "event_suites.hpp"

#include "support/dice.hpp"

#include <sluice/event/callback_list.hpp>

#include "support/testing.hpp"

// A list beside the plainest thing that does the same: random operations, many of them from inside
// callbacks, must have the same effects on both.

namespace sluice {
namespace {

/// The promises of a callback list, written down as simply as possible.
class Model {
public:
    void addBefore(int id, int before) {
        const auto place = std::find(order_.begin(), order_.end(), before);
        order_.insert(place, id);
    }
    void prepend(int id) { order_.insert(order_.begin(), id); }
    bool remove(int id) {
        const auto place = std::find(order_.begin(), order_.end(), id);
        if (place == order_.end()) {
            return false;
        }
        order_.erase(place);
        return true;
    }
    bool has(int id) const { return std::find(order_.begin(), order_.end(), id) != order_.end(); }
    const std::vector<int>& order() const { return order_; }
    void clear() { order_.clear(); }

private:
    std::vector<int> order_;
};

template <class Policies>
class Comparison {
public:
    using List = CallbackList<void(), Policies>;

    explicit Comparison(std::uint32_t seed) : dice_(seed) {}

    void step() {
        switch (dice_() % 16) {
        case 0:
            call();
            break;
        case 1:
            clearSometimes();
            break;
        default:
            change();
        }
    }

    void checkOrder() {
        std::vector<int> seen;
        list_.forEach([&](const typename List::Handle& handle, typename List::Callback&) {
            const auto found = std::find(handles_.begin(), handles_.end(), handle);
            seen.push_back(static_cast<int>(found - handles_.begin()));
        });
        ASSERT_EQ(seen, model_.order());
    }

private:
    static constexpr std::size_t deepest = 3;
    static constexpr std::size_t largest = 40;

    void change() {
        const int id = handles_.empty() ? 0 : static_cast<int>(dice_() % handles_.size());
        const unsigned kind = dice_() % 6;
        if (kind < 3 && !handles_.empty()) {
            const auto index = static_cast<std::size_t>(id);
            ASSERT_EQ(list_.remove(handles_[index]), model_.remove(id));
            ASSERT_FALSE(handles_[index]);
        } else if (model_.order().size() < largest) {
            add(kind, id);
        }
    }

    void add(unsigned kind, int before) {
        const int id = static_cast<int>(handles_.size());
        const auto callback = [this, id] { onCall(id); };
        if (kind == 3) {
            handles_.push_back(list_.append(callback));
            model_.addBefore(id, -1);
        } else if (kind == 4) {
            handles_.push_back(list_.prepend(callback));
            model_.prepend(id);
        } else {
            const bool isEmpty = handles_.empty();
            const auto place =
                isEmpty ? typename List::Handle() : handles_[static_cast<std::size_t>(before)];
            handles_.push_back(list_.insert(callback, place));
            model_.addBefore(id, isEmpty ? -1 : before);
        }
    }

    void clearSometimes() {
        if (dice_() % 8 == 0) {
            list_.clear();
            model_.clear();
        }
    }

    /// A call runs, in order, each callback that is there when the call begins and is still there
    /// at its turn.
    void call() {
        if (expected_.size() == deepest) {
            return;
        }
        expected_.push_back({model_.order(), 0});
        list_();
        skipRemoved();
        ASSERT_EQ(expected_.back().next, expected_.back().order.size()) << "not all were called";
        expected_.pop_back();
    }

    void onCall(int id) {
        skipRemoved();
        Call& current = expected_.back();
        ASSERT_LT(current.next, current.order.size());
        ASSERT_EQ(id, current.order[current.next]);
        ++current.next;
        for (unsigned n = dice_() % 3; n > 0; --n) {
            step();
        }
    }

    void skipRemoved() {
        Call& current = expected_.back();
        while (current.next < current.order.size() && !model_.has(current.order[current.next])) {
            ++current.next;
        }
    }

    struct Call {
        std::vector<int> order;
        std::size_t next;
    };

    test::Dice dice_;
    List list_;
    Model model_;
    std::vector<typename List::Handle> handles_;
    std::vector<Call> expected_;
};

template <class Policies>
class CallbackListModelTest : public testing::Test {};
TYPED_TEST_SUITE(CallbackListModelTest, test::AllPolicies, test::PolicyNames);

TYPED_TEST(CallbackListModelTest, RandomOperationsHaveTheSameEffectsAsOnTheModel) {
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Comparison<TypeParam> comparison(seed * 7919);
        for (int i = 0; i < 100 && !this->HasFailure(); ++i) {
            comparison.step();
            comparison.checkOrder();
        }
    }
}

}  // namespace
}  // namespace sluice
