#include "support/model/expectations.hpp"

#include <sluice/base/tagged_head.hpp>

#include "support/testing.hpp"

// TaggedHead as shipped, under the model checker: contents of nodes rely on edge E1. FreeList and
// SlotStack use it.

namespace sluice::model {
namespace {

constexpr std::uint32_t nodeCount = 3;

/// A stack of nodes whose contents are checked for data races.
template <class Word>
struct Stack {
    using Head = TaggedHead<ModelPlatform, Word, nodeCount, 0>;
    struct Node {
        Plain<int> content{0};
        Atomic<std::uint16_t> next{0};
    };

    auto nextOf() {
        return [this](std::uint16_t number) -> auto& { return nodes[number].next; };
    }
    void push(std::uint16_t number) { head.push(number, nextOf()); }
    /// Pops a node and writes to it. No other thread may have the node.
    std::uint16_t pop() {
        const std::uint16_t number = head.pop(nextOf());
        if (number != 0) {
            Plain<int>& content = nodes[number].content;
            content.set(content.get() + 1);
        }
        return number;
    }

    std::array<Node, nodeCount + 1> nodes;
    Head head{0};
};

/// A thread that pops a node sees the writes of the thread that pushed it.
template <class Word>
void nodeCarriesItsContent() {
    Stack<Word> stack;
    parallel(
        [&] {
            stack.nodes[1].content.set(7);
            stack.push(1);
        },
        [&] {
            if (stack.pop() != 0) {
                check(stack.nodes[1].content.get() == 8, "what was written before the push");
            }
        });
}

/// A node that another thread has uncovered carries the writes of the thread that pushed it, too.
template <class Word>
void nodeUnderAnotherCarriesItsContent() {
    Stack<Word> stack;
    parallel(
        [&] {
            stack.nodes[1].content.set(7);
            stack.push(1);
        },
        [&] { (void)stack.pop(); },
        [&] {
            stack.push(2);
            (void)stack.pop();
            (void)stack.pop();
        });
}

/// Two threads pop and push the same nodes: no node is popped by both.
template <class Word>
void nodesComeBack() {
    Stack<Word> stack;
    for (const std::uint16_t number : {std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{3}}) {
        stack.push(number);
    }
    std::uint16_t held = 0;
    parallel(
        [&] {
            const std::uint16_t top = stack.pop();
            held = stack.pop();
            stack.push(top);
        },
        [&] {
            if (const std::uint16_t number = stack.pop(); number != 0) {
                stack.push(number);
            }
        });
    int left = 0;
    while (const std::uint16_t number = stack.pop()) {
        check(number != held, "nobody else has a popped node");
        ++left;
    }
    check(left == (held == 0 ? 3 : 2), "each node is there once");
}

template <class Word>
const Scenarios all{nodeCarriesItsContent<Word>, nodeUnderAnotherCarriesItsContent<Word>,
                    nodesComeBack<Word>};

TEST(TaggedHeadModelTest, NodesAreHandedOverOnce) {
    for (const Scenario& scenario : all<std::uint64_t>) {
        EXPECT_TRUE(holds(scenario.body));
    }
    for (const Scenario& scenario : all<std::uint32_t>) {
        EXPECT_TRUE(holds(scenario.body));
    }
}

TEST(TaggedHeadModelTest, EveryOrderIsNeeded) {
    EXPECT_TRUE(survive({}, ordersOf("tagged_head.hpp", options({1, 1}), all<std::uint64_t>)));
}

}  // namespace
}  // namespace sluice::model
