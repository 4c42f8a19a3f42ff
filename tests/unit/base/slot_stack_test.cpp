#include <sluice/base/platform.hpp>
#include <sluice/base/slot_stack.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>

namespace sluice {
namespace {

/// Runs a function once in the middle of an operation, before its compare-exchange.
struct Interruption {
    inline static std::function<void()> next;
    static void run() {
        if (const auto now = std::exchange(next, nullptr)) {
            now();
        }
    }
};

template <class T>
struct InterruptedAtomic : std::atomic<T> {
    using std::atomic<T>::atomic;
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) noexcept {
        Interruption::run();
        return std::atomic<T>::compare_exchange_weak(expected, desired, success, failure);
    }
};

template <class Word>
struct InterruptedPlatform : StdPlatform {
    using WideWord = Word;
    template <class T>
    using Atomic = InterruptedAtomic<T>;
};

template <class Stack>
std::set<std::size_t> takeAll(Stack& stack) {
    std::set<std::size_t> taken;
    typename Stack::Slot slot{};
    while (stack.tryTake(slot)) {
        EXPECT_TRUE(taken.insert(slot).second) << "slot " << slot << " was taken twice";
    }
    return taken;
}

TEST(SlotStackTest, HandsOutEachSlotOnce) {
    SlotStack<StdPlatform, 3> stack;
    EXPECT_EQ(takeAll(stack), (std::set<std::size_t>{0, 1, 2}));
    stack.giveBack(1);
    EXPECT_EQ(takeAll(stack), (std::set<std::size_t>{1}));
    EXPECT_TRUE(takeAll(stack).empty());
}

TEST(SlotStackTest, HasAnyNumberOfSlots) {
    SlotStack<StdPlatform, 1> one;
    EXPECT_EQ(takeAll(one).size(), 1U);
    static SlotStack<StdPlatform, 70000> many;
    EXPECT_EQ(takeAll(many).size(), 70000U);
}

// A thread is stopped in tryTake(). Meanwhile slot 0 gets another successor and the stack changes
// 65,536 times: a tag of 16 bits would be the same again.
template <class Word>
void stopForManyChanges() {
    using Stack = SlotStack<InterruptedPlatform<Word>, 3>;
    Stack stack;
    Interruption::next = [&] {
        EXPECT_EQ(takeAll(stack).size(), 3U);
        stack.giveBack(0);
        for (int changes = 4; changes < 65536; changes += 2) {
            typename Stack::Slot slot{};
            ASSERT_TRUE(stack.tryTake(slot));
            stack.giveBack(slot);
        }
    };
    typename Stack::Slot slot{};
    ASSERT_TRUE(stack.tryTake(slot));
    EXPECT_EQ(slot, 0U);
    EXPECT_TRUE(takeAll(stack).empty()) << "the other thread holds slots 1 and 2";
}

TEST(SlotStackTest, ThreadThatIsStoppedForManyChangesTakesNoSlotOfAnother) {
    stopForManyChanges<std::uint64_t>();
}

TEST(SlotStackTest, NorInAWordOf32Bits) {
    stopForManyChanges<std::uint32_t>();
}

}  // namespace
}  // namespace sluice
