#include <sluice/bus/detail/tally_board.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <thread>

namespace sluice {
namespace {

using Board = detail::TallyBoard<StdPlatform, 3>;

/// Lets go of the board at the end, as a bus does.
struct Owner {
    Board* board = new Board;
    std::size_t hash = Board::Threads::hash(board);
    ~Owner() { board->abandon(); }
    void add(std::size_t which, std::uint64_t n) const { board->add(hash, which, n); }
};

TEST(TallyBoardTest, SumsWhatAllThreadsHaveCounted) {
    const Owner owner;
    owner.add(0, 1);
    owner.add(2, 5);
    std::thread([&] {
        owner.add(0, 10);
        owner.add(0, 100);
    }).join();
    EXPECT_EQ(owner.board->sum(0), 111U);
    EXPECT_EQ(owner.board->sum(1), 0U);
    EXPECT_EQ(owner.board->sum(2), 5U);
}

TEST(TallyBoardTest, ThreadsThatComeLaterGoOnWithTheCountersOfThoseThatHaveEnded) {
    const Owner owner;
    for (int i = 0; i < 100; ++i) {
        std::thread([&] { owner.add(1, 1); }).join();
    }
    EXPECT_EQ(owner.board->sum(1), 100U);
    EXPECT_EQ(owner.board->slotCount(), 1U);
}

/// Counts in the destructor of a thread-local variable, which may be after the counters have been
/// given back.
struct LateCounter {
    const Owner* owner = nullptr;
    ~LateCounter() {
        if (owner != nullptr) {
            owner->add(0, 1);
        }
    }
};

TEST(TallyBoardTest, ThreadMayCountWhileItEnds) {
    const Owner owner;
    std::thread([&] {
        thread_local LateCounter late;  // made first, so destroyed last
        late.owner = &owner;
        owner.add(0, 1);
    }).join();
    EXPECT_EQ(owner.board->sum(0), 2U);
}

TEST(TallyBoardTest, BoardsAreKeptApart) {
    const Owner first;
    const Owner second;
    for (int i = 0; i < 10; ++i) {
        first.add(0, 1);
        second.add(0, 2);
    }
    EXPECT_EQ(first.board->sum(0), 10U);
    EXPECT_EQ(second.board->sum(0), 20U);
}

}  // namespace
}  // namespace sluice
