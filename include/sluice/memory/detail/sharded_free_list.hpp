#pragma once

#include <sluice/base/fibonacci_hash.hpp>
#include <sluice/base/tagged_head.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace sluice::detail {

/// The most nodes of a list: their numbers count from 1.
template <class Platform>
inline constexpr std::uint32_t mostFreeNodes =
    sizeof(typename Platform::WideWord) == 8 ? std::numeric_limits<std::uint32_t>::max() : 4095;

template <class Platform>
using FreeListHead = TaggedHead<Platform, typename Platform::WideWord, mostFreeNodes<Platform>, 0>;

/// The successor of a node, for the list's own use.
template <class Platform>
using FreeListNext = typename Platform::template Atomic<typename FreeListHead<Platform>::Number>;

/// The free nodes of an array, in several stacks ("shards"). Any thread gives and takes nodes. A
/// node has a member `next`, a FreeListNext.
///
/// A thread begins with its home shard. If this is empty, a pop goes on to the other shards. The
/// address of a variable of the thread chooses its home. A thread that loses an exchange to another
/// thread moves its home to the next shard, so the two use different shards.
///
/// take() finds nothing only if all shards were empty at one moment during the call. One look at
/// each shard is not enough: a node may move to a shard that take() has already seen. So take()
/// looks twice, and finds nothing only if no head has changed in between. Then the list had all
/// these heads at one moment. Edge E2 of TaggedHead ensures this, even if threads use different
/// shards.
///
/// On machines without atomic words of 64 bits a list has at most 4,095 nodes, so that the tag of a
/// head keeps 20 bits; TaggedHead says for how long a thread or the main program may be stopped.
///
/// Origin: the double look of Y. Afek et al., "Atomic Snapshots of Shared Memory" (1993); moving on
/// after a lost exchange as in D. Lea's Striped64.
template <class Traits, class Node>
class ShardedFreeList {
    static constexpr std::size_t shardCount = Traits::shards;
    static_assert(shardCount > 0 && (shardCount & (shardCount - 1)) == 0,
                  "shards of the traits must be a power of two");

    using Head = FreeListHead<typename Traits::Platform>;
    using Number = typename Head::Number;

public:
    /// All nodes are free.
    ShardedFreeList(Node* nodes, std::size_t count) noexcept : nodes_(nodes) {
        // Backwards, so that low addresses are given out first.
        for (std::size_t i = count; i != 0; --i) {
            push(shards_[(i - 1) % shardCount], nodes[i - 1]);
        }
    }
    ShardedFreeList(const ShardedFreeList&) = delete;
    ShardedFreeList& operator=(const ShardedFreeList&) = delete;

    /// Edge hand-over (E1 of TaggedHead): the giver's use of the node comes before the taker's.
    /// After the push, give() does not touch the list any more.
    void give(Node& node) noexcept { push(shards_[home()], node); }

    /// A free node, or null when there was none at some moment during the call.
    Node* take() noexcept {
        std::uint32_t changes = 0;
        Node* const node = pop(shards_[home()], changes);
        return __builtin_expect(node != nullptr, 1) ? node : takeAnywhere();
    }

    /// The number of free nodes. Exact while no thread takes one.
    std::size_t count() const noexcept {
        std::size_t sum = 0;
        for (const Shard& shard : shards_) {
            for (Number number = shard.head.peek(); number != 0; ++sum) {
                // Relaxed: written before the head that was acquired.
                number = nodes_[number - 1].next.load(std::memory_order_relaxed);
            }
        }
        return sum;
    }

private:
    // If cacheLineSize is smaller than a head needs, the alignment of the head holds.
    struct alignas(std::max(Traits::cacheLineSize, alignof(Head))) Shard {
        Head head{0};
    };

    static std::size_t home() noexcept {
        if constexpr (hasHomes) {
            return (static_cast<std::size_t>(fibonacciHash(&moves_) >> 48U) + moves_) % shardCount;
        } else {
            return 0;
        }
    }

    /// Called if this thread lost an exchange to another one.
    static void moveHome() noexcept {
        if constexpr (hasHomes) {
            ++moves_;
        }
    }

    auto nextOf() noexcept {
        return [this](Number number) -> auto& { return nodes_[number - 1].next; };
    }

    void push(Shard& target, Node& node) noexcept {
        target.head.push(static_cast<Number>(&node - nodes_ + 1), nextOf(), moveHome);
    }

    /// If the shard is empty, returns null and adds the number of changes of its head to `changes`.
    Node* pop(Shard& source, std::uint32_t& changes) noexcept {
        const auto top = source.head.pop(nextOf(), moveHome);
        if (top.isEmpty()) {
            changes += top.changes();
            return nullptr;
        }
        return &nodes_[top.number() - 1];
    }

    [[gnu::noinline]] Node* takeAnywhere() noexcept {
        std::uint32_t changes = 0;
        Node* node = takeFromFirst(changes);
        for (bool isSure = false; node == nullptr && !isSure;) {
            const std::uint32_t before = changes;
            node = takeFromFirst(changes);
            // Counts only rise, so equal sums mean equal counts (modulo 2^tagBits).
            isSure = changes == before;
        }
        return node;
    }

    Node* takeFromFirst(std::uint32_t& changes) noexcept {
        changes = 0;
        Node* node = nullptr;
        const std::size_t first = home();
        for (std::size_t i = 0; i < shardCount && node == nullptr; ++i) {
            node = pop(shards_[(first + i) % shardCount], changes);
        }
        return node;
    }

    // On a platform without threads, or with one shard, the home is always the first shard.
    static constexpr bool hasHomes = Traits::Platform::hasThreads && shardCount != 1;
    // How often this thread has moved its home, in all lists.
    inline static thread_local std::uint32_t moves_ = 0;

    Node* const nodes_;
    Shard shards_[shardCount];
};

}  // namespace sluice::detail
