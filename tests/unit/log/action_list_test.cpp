#include <sluice/log/detail/backend/frontend.hpp>

#include "support/testing.hpp"

namespace sluice::log::detail {
namespace {

struct Note : OrderedAction {
    Note(std::vector<int>& r, std::vector<int>& a, int n) : runs(r), abandoned(a), number(n) {}
    void run() noexcept override { runs.push_back(number); }
    void abandon() noexcept override { abandoned.push_back(number); }
    std::vector<int>& runs;
    std::vector<int>& abandoned;
    int number;
};

class LogControlList : public testing::Test {
public:
    bool push(int number, Stamp stamp) {
        std::unique_ptr<OrderedAction> action = std::make_unique<Note>(runs, abandoned, number);
        const bool isTaken = list.push(action, [stamp] { return stamp; });
        EXPECT_EQ(isTaken, action == nullptr);
        return isTaken;
    }
    void takeBefore(Stamp limit) {
        list.takeBefore(limit, [](OrderedAction& action) { action.run(); });
    }

    std::vector<int> runs;
    std::vector<int> abandoned;
    ActionList list;
};

TEST_F(LogControlList, GivesWhatWasStampedBeforeTheLimitInOrder) {
    push(1, 10);
    push(2, 10);
    push(3, 20);
    push(4, 30);
    takeBefore(10);
    EXPECT_TRUE(runs.empty());
    EXPECT_EQ(list.first(), 10u);
    takeBefore(21);
    EXPECT_EQ(runs, (std::vector<int>{1, 2, 3}));
    push(5, 40);
    takeBefore(41);
    EXPECT_EQ(runs, (std::vector<int>{1, 2, 3, 4, 5}));
    EXPECT_EQ(list.first(), endOfTime);
}

TEST_F(LogControlList, StampsAnewWhenTheClockStartedAgain) {
    push(1, 1000);
    push(2, 1001);
    list.restamp([stamp = Stamp{5}]() mutable { return stamp++; });
    takeBefore(6);
    EXPECT_EQ(runs, (std::vector<int>{1}));
    push(3, 8);
    takeBefore(9);
    EXPECT_EQ(runs, (std::vector<int>{1, 2, 3}));
}

TEST_F(LogControlList, AbandonsWhatIsLeftWhenItCloses) {
    push(1, 10);
    push(2, 20);
    list.close();
    EXPECT_EQ(abandoned, (std::vector<int>{1, 2}));
    EXPECT_FALSE(push(3, 30));
    takeBefore(100);
    EXPECT_TRUE(runs.empty());
}

TEST_F(LogControlList, IsDestroyedWithManyEntries) {
    for (int i = 0; i < 500000; ++i) {
        push(i, 1);
    }
    list.close();
    EXPECT_EQ(abandoned.size(), 500000u);
}

TEST_F(LogControlList, ForgetsWithoutAWord) {
    // As in the child of a fork(): what is forgotten is leaked, and here kept for the leak checker.
    static OrderedAction* kept = nullptr;
    std::unique_ptr<OrderedAction> action = std::make_unique<Note>(runs, abandoned, 1);
    kept = action.get();
    ASSERT_TRUE(list.push(action, [] { return Stamp{1}; }));
    list.forget();
    takeBefore(100);
    EXPECT_TRUE(runs.empty() && abandoned.empty());
    push(2, 2);
    takeBefore(100);
    EXPECT_EQ(runs, std::vector<int>{2});
    delete kept;
}

}  // namespace
}  // namespace sluice::log::detail
