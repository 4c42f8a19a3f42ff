#include <sluice/base/thread_table.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace sluice {
namespace {

/// Counts the calls that it gets.
struct Home {
    struct Slot {
        int number = 0;
    };

    Slot& enroll(const void* thread) {
        threads.insert(thread);
        ++enrolled;
        slots.push_back(std::make_unique<Slot>());
        return *slots.back();
    }
    void dismiss(Slot&) noexcept { ++dismissed; }
    bool isAbandoned() const noexcept { return abandoned; }

    std::vector<std::unique_ptr<Slot>> slots;
    std::set<const void*> threads;
    int enrolled = 0;
    int dismissed = 0;
    bool abandoned = false;
};

using Table = ThreadTable<Home>;

Home::Slot* find(const Home& home) {
    return Table::find(&home, Table::hash(&home));
}

TEST(ThreadTableTest, FindsWhatTheThreadHasAdded) {
    std::thread([] {
        Home first;
        Home second;
        EXPECT_EQ(find(first), nullptr);
        Home::Slot* const slot = Table::add(first);
        EXPECT_EQ(find(first), slot);
        EXPECT_EQ(find(second), nullptr);
        EXPECT_NE(Table::add(second), slot);
        EXPECT_EQ(find(first), slot);
        EXPECT_EQ(Table::findOr(&first, Table::hash(&first), [] { return nullptr; }), slot);
        first.abandoned = second.abandoned = true;
        // Homes must outlive the entries of this thread.
        std::vector<std::unique_ptr<Home>> others;
        for (int i = 0; i < 100; ++i) {
            others.push_back(std::make_unique<Home>());
            (void)Table::add(*others.back());
            others.back()->abandoned = true;
        }
        EXPECT_EQ(first.dismissed + second.dismissed, 2) << "forgotten once they had gone";
        std::thread([] {}).join();
        // The table forgets the remaining homes in turn.
        for (int i = 0; i < 100; ++i) {
            static std::vector<std::unique_ptr<Home>> lasting;
            lasting.push_back(std::make_unique<Home>());
            (void)Table::add(*lasting.back());
        }
        for (const auto& other : others) {
            EXPECT_EQ(other->dismissed, 1);
        }
    }).join();
}

TEST(ThreadTableTest, ThreadThatEndsGivesItsSlotsBack) {
    Home home;
    for (int round = 1; round <= 3; ++round) {
        std::thread([&] {
            (void)Table::add(home);
            EXPECT_NE(find(home), nullptr);
        }).join();
        EXPECT_EQ(home.enrolled, round);
        EXPECT_EQ(home.dismissed, round);
    }
    EXPECT_EQ(find(home), nullptr) << "this thread has none";
}

TEST(ThreadTableTest, KeepsManyHomesApart) {
    std::thread([] {
        static std::vector<std::unique_ptr<Home>> homes;
        std::vector<Home::Slot*> slots;
        for (int i = 0; i < 500; ++i) {
            homes.push_back(std::make_unique<Home>());
            slots.push_back(Table::add(*homes.back()));
        }
        for (std::size_t i = 0; i < homes.size(); ++i) {
            EXPECT_EQ(find(*homes[i]), slots[i]);
        }
    }).join();
}

/// One of the homes whose search starts where that for the first one does in a table of 32 entries,
/// and not in one of 128.
Home& oneThatMeetsTheFirst(std::vector<Home>& homes) {
    const auto bits = [](const Home& home, std::size_t mask) { return Table::hash(&home) & mask; };
    const auto meets = [&](const Home& home) {
        return bits(home, 31) == bits(homes[0], 31) && bits(home, 127) != bits(homes[0], 127);
    };
    return *std::find_if(homes.begin() + 1, homes.end() - 1, meets);
}

TEST(ThreadTableTest, TwoHomesAreFoundAtOnceWhateverTheirAddresses) {
    std::vector<Home> homes(1000);
    Home& other = oneThatMeetsTheFirst(homes);
    std::thread([&] {
        Home::Slot* const first = Table::add(homes[0]);
        Home::Slot* const second = Table::add(other);
        EXPECT_EQ(Table::findFirst(&homes[0], Table::hash(&homes[0])), first);
        EXPECT_EQ(Table::findFirst(&other, Table::hash(&other)), second);
    }).join();
}

TEST(ThreadTableTest, HomesThatHaveGoneAreNotHeldByALargeTable) {
    std::vector<Home> homes(1000);
    Home& other = oneThatMeetsTheFirst(homes);
    std::thread([&] {
        (void)Table::add(homes[0]);
        (void)Table::add(other);
        const auto isHeld = [](const Home& home) {
            return home.enrolled != 0 && home.dismissed == 0;
        };
        for (Home& home : homes) {
            if (home.enrolled == 0) {
                (void)Table::add(home);
                home.abandoned = true;
                ASSERT_LE(std::count_if(homes.begin(), homes.end(), isHeld), 8);
            }
        }
    }).join();
}

TEST(ThreadTableTest, ThreadsHaveDifferentMarks) {
    Home home;
    {
        std::thread first([&] { (void)Table::add(home); });
        first.join();
    }
    const void* const own = Table::mark();
    std::thread([own] { EXPECT_NE(Table::mark(), own); }).join();
    EXPECT_EQ(Table::mark(), own);
    EXPECT_EQ(home.threads.size(), 1U);
}

// A thread-local object that is destroyed after the table. It asks for a slot and gets none.
struct AsksAtTheEnd {
    ~AsksAtTheEnd() {
        if (home != nullptr) {
            answered = true;
            refused = Table::add(*home) == nullptr;
        }
    }
    Home* home = nullptr;
    inline static bool answered = false;
    inline static bool refused = false;
};
thread_local AsksAtTheEnd asksAtTheEnd;

TEST(ThreadTableTest, ThreadThatIsEndingGetsNothing) {
    Home home;
    std::thread([&] {
        asksAtTheEnd.home = &home;  // constructed before the table, so destroyed after it
        (void)Table::add(home);
    }).join();
    EXPECT_TRUE(AsksAtTheEnd::answered);
    EXPECT_TRUE(AsksAtTheEnd::refused);
    EXPECT_EQ(home.enrolled, 1);
    EXPECT_EQ(home.dismissed, 1);
}

}  // namespace
}  // namespace sluice
