#include <sluice/base/thread_slots.hpp>

#include "support/testing.hpp"
#include <thread>

namespace sluice {
namespace {

/// Counts the calls that it gets.
struct Registry {
    struct Slot {
        int number = 0;
    };

    Slot& enroll(const void* thread) {
        if (upstream != nullptr) {
            (void)ThreadSlots<Registry>::add(*upstream);
        }
        threads.insert(thread);
        ++enrolled;
        slots.push_back(std::make_unique<Slot>());
        return *slots.back();
    }
    void dismiss(Slot&) noexcept { ++dismissed; }
    bool isAbandoned() const noexcept { return abandoned; }

    Registry* upstream = nullptr;  // enrolls the thread, too
    std::vector<std::unique_ptr<Slot>> slots;
    std::set<const void*> threads;
    int enrolled = 0;
    int dismissed = 0;
    bool abandoned = false;
};

using Threads = ThreadSlots<Registry>;

Registry::Slot* find(const Registry& registry) {
    return Threads::find(&registry, Threads::hash(&registry));
}

TEST(ThreadSlotsTest, FindsWhatTheThreadHasAdded) {
    std::thread([] {
        Registry first;
        Registry second;
        EXPECT_EQ(find(first), nullptr);
        Registry::Slot* const slot = Threads::add(first);
        EXPECT_EQ(find(first), slot);
        EXPECT_EQ(find(second), nullptr);
        EXPECT_NE(Threads::add(second), slot);
        EXPECT_EQ(find(first), slot);
        EXPECT_EQ(Threads::findOr(&first, Threads::hash(&first), [] { return nullptr; }), slot);
        first.abandoned = second.abandoned = true;
        // Registries must outlive the entries of this thread.
        std::vector<std::unique_ptr<Registry>> others;
        for (int i = 0; i < 100; ++i) {
            others.push_back(std::make_unique<Registry>());
            (void)Threads::add(*others.back());
            others.back()->abandoned = true;
        }
        EXPECT_EQ(first.dismissed + second.dismissed, 2) << "forgotten once they had gone";
        std::thread([] {}).join();
        // The table forgets the remaining registries in turn.
        for (int i = 0; i < 100; ++i) {
            static std::vector<std::unique_ptr<Registry>> lasting;
            lasting.push_back(std::make_unique<Registry>());
            (void)Threads::add(*lasting.back());
        }
        for (const auto& other : others) {
            EXPECT_EQ(other->dismissed, 1);
        }
    }).join();
}

TEST(ThreadSlotsTest, ThreadsHaveDifferentMarks) {
    const void* const own = Threads::mark();
    std::thread([own] { EXPECT_NE(Threads::mark(), own); }).join();
    EXPECT_EQ(Threads::mark(), own);
}

TEST(ThreadSlotsTest, KeepsManyRegistriesApart) {
    std::thread([] {
        static std::vector<Registry> registries(501);
        (void)Threads::add(registries[0]);
        for (std::size_t i = 2; i < registries.size(); i += 2) {
            registries[i].upstream = &registries[i - 1];
            (void)Threads::add(registries[i]);
        }
        for (const Registry& registry : registries) {
            EXPECT_EQ(find(registry), registry.slots.back().get());
        }
    }).join();
}

/// One of the registries whose search starts where that for the first one does in the smallest
/// table.
Registry& oneThatMeetsTheFirst(std::vector<Registry>& registries) {
    const auto start = [](const Registry& registry) { return Threads::hash(&registry) & 31U; };
    return *std::find_if(registries.begin() + 1, registries.end() - 1, [&](const Registry& other) {
        return start(other) == start(registries[0]);
    });
}

TEST(ThreadSlotsTest, FindsTwoRegistriesWhoseSearchesMeet) {
    std::vector<Registry> registries(1000);
    Registry& other = oneThatMeetsTheFirst(registries);
    std::thread([&] {
        Registry::Slot* const first = Threads::add(registries[0]);
        Registry::Slot* const second = Threads::add(other);
        EXPECT_EQ(Threads::findFirst(&registries[0], Threads::hash(&registries[0])), first);
        EXPECT_EQ(Threads::findFirst(&other, Threads::hash(&other)), nullptr);
        EXPECT_EQ(find(registries[0]), first);
        EXPECT_EQ(find(other), second);
    }).join();
}

TEST(ThreadSlotsTest, ARegistryTakesThePlaceOfAnAbandonedOne) {
    std::vector<Registry> registries(1000);
    Registry& other = oneThatMeetsTheFirst(registries);
    std::thread([&] {
        (void)Threads::add(registries[0]);
        registries[0].abandoned = true;
        Registry::Slot* const slot = Threads::add(other);
        EXPECT_EQ(Threads::findFirst(&other, Threads::hash(&other)), slot);
        EXPECT_EQ(registries[0].dismissed, 1);
    }).join();
    EXPECT_EQ(other.dismissed, 1);
}

// A thread-local object that is destroyed after the table. It asks for a slot and gets none.
struct AsksAtTheEnd {
    ~AsksAtTheEnd() {
        if (registry != nullptr) {
            answered = true;
            refused = Threads::add(*registry) == nullptr;
        }
    }
    Registry* registry = nullptr;
    inline static bool answered = false;
    inline static bool refused = false;
};
thread_local AsksAtTheEnd asksAtTheEnd;

TEST(ThreadSlotsTest, ThreadThatIsEndingGetsNothing) {
    Registry registry;
    std::thread([&] {
        asksAtTheEnd.registry = &registry;  // constructed before the table, so destroyed after it
        (void)Threads::add(registry);
    }).join();
    EXPECT_TRUE(AsksAtTheEnd::answered);
    EXPECT_TRUE(AsksAtTheEnd::refused);
    EXPECT_EQ(registry.enrolled, 1);
    EXPECT_EQ(registry.dismissed, 1);
}

}  // namespace
}  // namespace sluice
