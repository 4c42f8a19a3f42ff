#include "support/model/expectations.hpp"
#include "support/sanitizers.hpp"

#include <sluice/base/tagged_head.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

// TaggedHead as shipped, under the model checker: contents of nodes rely on edge E1, a look at two
// heads on E2. MagazineStack, ShardedFreeList and SlotStack stand on it.

namespace sluice::model {
namespace {

constexpr std::uint32_t nodeCount = 3;

/// Stacks of the same nodes, whose contents are checked for data races.
template <class Word>
struct Stacks {
    using Head = TaggedHead<ModelPlatform, Word, nodeCount, 0>;
    struct Node {
        Plain<int> content{0};
        Atomic<std::uint16_t> next{0};
    };

    auto nextOf() {
        return [this](std::uint16_t number) -> auto& { return nodes[number].next; };
    }
    void push(Head& head, std::uint16_t number) { head.push(number, nextOf()); }
    /// Pops a node and writes to it. No other thread may have the node.
    std::uint16_t pop(Head& head) {
        const std::uint16_t number = head.pop(nextOf()).number();
        if (number != 0) {
            Plain<int>& content = nodes[number].content;
            content.set(content.get() + 1);
        }
        return number;
    }

    std::array<Node, nodeCount + 1> nodes;
    Head first{0};
    Head second{0};
};

/// A thread that pops a node sees the writes of the thread that pushed it.
template <class Word>
void nodeCarriesItsContent() {
    Stacks<Word> stacks;
    parallel(
        [&] {
            stacks.nodes[1].content.set(7);
            stacks.push(stacks.first, 1);
        },
        [&] {
            if (stacks.pop(stacks.first) != 0) {
                check(stacks.nodes[1].content.get() == 8, "what was written before the push");
            }
        });
}

/// Two threads pop and push the same nodes: no node is popped by both.
template <class Word>
void nodesComeBack() {
    Stacks<Word> stacks;
    for (const std::uint16_t number : {std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{3}}) {
        stacks.push(stacks.first, number);
    }
    std::uint16_t held = 0;
    parallel(
        [&] {
            const std::uint16_t top = stacks.pop(stacks.first);
            held = stacks.pop(stacks.first);
            stacks.push(stacks.first, top);
        },
        [&] {
            if (const std::uint16_t number = stacks.pop(stacks.first); number != 0) {
                stacks.push(stacks.first, number);
            }
        });
    int left = 0;
    while (const std::uint16_t number = stacks.pop(stacks.first)) {
        check(number != held, "nobody else has a popped node");
        ++left;
    }
    check(left == (held == 0 ? 3 : 2), "each node is there once");
}

/// A node moves from the second stack behind the back of a thread that looks at one stack after the
/// other. The thread looks until no stack has changed between two looks: then both were empty.
template <class Word>
void nodeIsFoundWhereverItMoves() {
    Stacks<Word> stacks;
    stacks.push(stacks.second, 1);
    parallel(
        [&] {
            stacks.push(stacks.first, 2);
            (void)stacks.second.pop(stacks.nextOf());
        },
        [&] {
            std::uint32_t before = 0;
            for (int looks = 0;; ++looks) {
                const auto first = stacks.first.pop(stacks.nextOf());
                if (!first.isEmpty()) {
                    return;
                }
                const auto second = stacks.second.pop(stacks.nextOf());
                if (!second.isEmpty()) {
                    return;
                }
                const std::uint32_t changes = first.changes() + second.changes();
                check(looks == 0 || changes != before, "one node is free at any time");
                before = changes;
            }
        });
}

template <class Word>
const Scenarios all{nodeCarriesItsContent<Word>, nodesComeBack<Word>,
                    nodeIsFoundWhereverItMoves<Word>};

TEST(TaggedHeadModelTest, NodesAreHandedOverOnce) {
    for (const Scenario& scenario : all<std::uint64_t>) {
        EXPECT_TRUE(holds(scenario.body));
    }
    for (const Scenario& scenario : all<std::uint32_t>) {
        EXPECT_TRUE(holds(scenario.body));
    }
}

// Not under sanitizers: they end the process for the faults that mutants are meant to have.
#if !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN
TEST(TaggedHeadModelTest, EveryOrderIsNeeded) {
    EXPECT_TRUE(survive({}, surveyOrders("tagged_head.hpp", options({1, 1}), all<std::uint64_t>)));
}
#endif

}  // namespace
}  // namespace sluice::model
