#include "support/interrupting_platform.hpp"

#include <sluice/base/platform.hpp>
#include <sluice/base/tagged_head.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

using test::InterruptingPlatform;
using test::Interruption;

template <class Word, std::uint32_t mostNumber>
using Head = TaggedHead<StdPlatform, Word, mostNumber, 0>;

static_assert(Head<std::uint64_t, 0xffff>::tagBits == 48);
static_assert(Head<std::uint64_t, 0x10000>::tagBits == 32);
static_assert(Head<std::uint64_t, 0xffffffff>::tagBits == 32);
static_assert(Head<std::uint32_t, 0xffff>::tagBits == 16);
static_assert(Head<std::uint32_t, 4>::tagBits == 29);
static_assert(Head<std::uint32_t, 4095>::tagBits == 20);
static_assert(sizeof(Head<std::uint32_t, 4095>) == 4);

template <class Word>
class TaggedHeadTest : public ::testing::Test {
protected:
    static constexpr std::uint32_t mostNumber = 4095;
    using Head = TaggedHead<InterruptingPlatform, Word, mostNumber, 0>;
    using Number = typename Head::Number;

    void push(std::uint32_t number) { head.push(static_cast<Number>(number), nextOf()); }
    std::uint32_t pop() { return head.pop(nextOf()); }
    std::vector<std::uint32_t> popAll() {
        std::vector<std::uint32_t> numbers;
        while (const std::uint32_t number = pop()) {
            numbers.push_back(number);
        }
        return numbers;
    }
    /// An even number of changes after which the stack is as it was.
    void change(std::uint64_t times) {
        for (; times != 0; times -= 2) {
            push(pop());
        }
    }

    Head head{0};

private:
    auto nextOf() {
        return [this](Number number) -> auto& { return next_[number]; };
    }
    std::array<typename InterruptingPlatform::template Atomic<Number>, mostNumber + 1> next_{};
};
using Words = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(TaggedHeadTest, Words, );

TYPED_TEST(TaggedHeadTest, GivesTheLastNodeFirst) {
    EXPECT_EQ(this->pop(), 0U) << "it is empty at first";
    for (const std::uint32_t number : {1U, 4095U, 7U}) {
        this->push(number);
    }
    EXPECT_EQ(this->popAll(), (std::vector<std::uint32_t>{7, 4095, 1}));
}

TYPED_TEST(TaggedHeadTest, RepeatsALostExchange) {
    this->push(1);
    this->push(2);
    const Interruption interruption(2, [this] { this->push(3); });  // before the exchange
    EXPECT_EQ(this->pop(), 3U);
    EXPECT_TRUE(interruption.happened());
    EXPECT_EQ(this->popAll(), (std::vector<std::uint32_t>{2, 1}));
}

// Node 2 gets another successor while pop() is between its two looks, and the same node is on top
// again. The exchange must fail.
TYPED_TEST(TaggedHeadTest, OldSuccessorIsNotTaken) {
    for (const std::uint64_t changes : {4U, 1'000U, 65'536U, 65'538U}) {
        while (this->pop() != 0) {
        }
        this->push(1);
        this->push(2);
        const Interruption interruption(2, [this, changes] {
            this->pop();
            this->pop();
            this->push(3);
            this->push(2);  // 4 changes
            this->change(changes - 4);
        });
        EXPECT_EQ(this->pop(), 2U);
        ASSERT_TRUE(interruption.happened());
        EXPECT_EQ(this->popAll(), (std::vector<std::uint32_t>{3})) << "after " << changes;
    }
}

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

}  // namespace
}  // namespace sluice
