#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice::detail {

/// Which nodes of an array are free: several stacks ("shards") that any thread pushes to and pops
/// from. A node has a member `next`, an Atomic<std::uint32_t> for the list's own use.
///
/// A thread begins with its home shard, and a pop that finds it empty goes on to the others. Homes
/// are spread by the address of a variable of the thread; whoever loses an exchange to another
/// thread moves its home to the next shard, so that two who meet part.
///
/// take() finds nothing only if all shards were empty at one moment during the call. One look at
/// each would not tell: a node can move behind the back of the one who looks. So it looks twice,
/// and believes what it saw if no head has changed in between. For this the heads seen must be a
/// state that the list can have been in, also when threads work on different shards: each change of
/// a head releases all that its thread has seen before (edge order: change release .. look
/// acquire).
///
/// A head holds the number of the top node and a tag that counts its changes, so that a head which
/// looks as it did before is the one from before (no ABA): unless 2^32 changes of this one head
/// pass while a thread is between its two looks. On machines without atomic words of 64 bits both
/// have 16 bits: unless exactly 65,536 changes pass, or a multiple of them.
///
/// Origin: R. K. Treiber's stack (1986) with the tag of IBM's System/370 manual; the double look of
/// Y. Afek et al., "Atomic Snapshots of Shared Memory" (1993); moving on after a lost exchange as
/// in D. Lea's Striped64.
template <class Traits, class Node>
class ShardedFreeList {
    template <class U>
    using Atomic = typename Traits::Platform::template Atomic<U>;
    static constexpr std::size_t shardCount = Traits::shards;
    static_assert(shardCount > 0 && (shardCount & (shardCount - 1)) == 0,
                  "shards of the traits must be a power of two");

    static constexpr bool hasWideWords = std::atomic<std::uint64_t>::is_always_lock_free;
    using Word = std::conditional_t<hasWideWords, std::uint64_t, std::uint32_t>;
    static constexpr unsigned numberBits = hasWideWords ? 32 : 16;

public:
    /// The most nodes: their numbers count from 1.
    static constexpr std::uint32_t mostNodes =
        static_cast<std::uint32_t>((std::uint64_t{1} << numberBits) - 1);

    /// All nodes are free.
    ShardedFreeList(Node* nodes, std::size_t count) noexcept : nodes_(nodes) {
        // Backwards, so that low addresses are given out first.
        for (std::size_t i = count; i != 0; --i) {
            push(shards_[(i - 1) % shardCount].head, nodes[i - 1]);
        }
    }
    ShardedFreeList(const ShardedFreeList&) = delete;
    ShardedFreeList& operator=(const ShardedFreeList&) = delete;

    /// Edge hand-over: what the giver did with the node -> push release .. pop acquire. Afterwards
    /// the list is not touched any more.
    void give(Node& node) noexcept { push(shards_[home()].head, node); }

    /// A free node, or null when there was none at some moment during the call.
    Node* take() noexcept {
        std::uint32_t changes = 0;
        Node* const node = pop(shards_[home()].head, changes);
        return __builtin_expect(node != nullptr, 1) ? node : takeAnywhere();
    }

    /// How many nodes are free. Exact while no thread takes one.
    std::size_t count() const noexcept {
        std::size_t sum = 0;
        for (const Shard& shard : shards_) {
            std::uint32_t number = numberOf(shard.head.load(std::memory_order_acquire));
            for (; number != 0; ++sum) {
                // Relaxed: written before the head that was acquired.
                number = nodes_[number - 1].next.load(std::memory_order_relaxed);
            }
        }
        return sum;
    }

private:
    using Head = Atomic<Word>;

    // Where cacheLineSize is less than an atomic needs, the latter holds.
    struct alignas(Traits::cacheLineSize) alignas(Head) Shard {
        Head head{0};
    };

    static std::uint32_t numberOf(Word head) noexcept {
        return static_cast<std::uint32_t>(head & mostNodes);
    }
    static std::uint32_t changesOf(Word head) noexcept {
        return static_cast<std::uint32_t>(head >> numberBits);
    }
    static Word after(Word head, std::uint32_t number) noexcept {
        return static_cast<Word>(((head >> numberBits) + 1) << numberBits | number);
    }

    static std::size_t home() noexcept {
        if constexpr (hasHomes) {
            const auto address = std::uint64_t{reinterpret_cast<std::uintptr_t>(&moves_)};
            const std::uint64_t spread = address * 0x9E3779B97F4A7C15u;  // 2^64 / golden ratio
            return (static_cast<std::size_t>(spread >> 48U) + moves_) % shardCount;
        } else {
            return 0;
        }
    }

    /// An exchange was lost to another thread.
    static void moveHome() noexcept {
        if constexpr (hasHomes) {
            ++moves_;
        }
    }

    void push(Head& target, Node& node) noexcept {
        const auto number = static_cast<std::uint32_t>(&node - nodes_ + 1);
        Word head = target.load(std::memory_order_relaxed);  // relaxed: checked below
        for (;;) {
            // Relaxed: read by pop() behind the head that names this node, or not used.
            node.next.store(numberOf(head), std::memory_order_relaxed);
            if (target.compare_exchange_weak(head, after(head, number), std::memory_order_release,
                                             std::memory_order_relaxed)) {
                return;
            }
            moveHome();
        }
    }

    /// When the shard is empty: null, and adds to `changes` how often its head has changed so far.
    Node* pop(Head& source, std::uint32_t& changes) noexcept {
        Word head = source.load(std::memory_order_acquire);
        while (numberOf(head) != 0) {
            Node& top = nodes_[numberOf(head) - 1];
            // Relaxed: read behind the head; not used if the head has changed meanwhile.
            const std::uint32_t next = top.next.load(std::memory_order_relaxed);
            // Release for the edge order.
            if (source.compare_exchange_weak(head, after(head, next), std::memory_order_acq_rel,
                                             std::memory_order_acquire)) {
                return &top;
            }
            moveHome();
        }
        changes += changesOf(head);
        return nullptr;
    }

    [[gnu::noinline]] Node* takeAnywhere() noexcept {
        std::uint32_t changes = 0;
        Node* node = takeInTurn(changes);
        for (bool isSure = false; node == nullptr && !isSure;) {
            const std::uint32_t before = changes;
            node = takeInTurn(changes);
            // Counts only rise: equal sums mean that each of them is equal.
            isSure = changes == before;
        }
        return node;
    }

    Node* takeInTurn(std::uint32_t& changes) noexcept {
        changes = 0;
        Node* node = nullptr;
        const std::size_t first = home();
        for (std::size_t i = 0; i < shardCount && node == nullptr; ++i) {
            node = pop(shards_[(first + i) % shardCount].head, changes);
        }
        return node;
    }

    // Threads without a mark of their own, and those with one shard, have one home.
    static constexpr bool hasHomes = Traits::Platform::hasThreads && shardCount != 1;
    // How often this thread has moved its home, in all lists.
    inline static thread_local std::uint32_t moves_ = 0;

    Node* const nodes_;
    Shard shards_[shardCount];
};

}  // namespace sluice::detail
