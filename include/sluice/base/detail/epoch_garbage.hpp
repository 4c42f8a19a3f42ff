#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/spin_lock.hpp>

#include <atomic>
#include <cstddef>
#include <mutex>

namespace [[gnu::visibility("default")]] sluice {

namespace detail {
class EpochList;
template <class Platform>
class EpochStack;
}  // namespace detail

/// What an object carries so that retiring it needs no memory: derive from it, or make it a member.
/// A copy is a node of its own: being retired is not copied.
class EpochNode {
public:
    EpochNode() noexcept = default;
    EpochNode(const EpochNode&) noexcept {}
    EpochNode& operator=(const EpochNode&) noexcept {  // NOLINT(bugprone-unhandled-self-assignment)
        return *this;
    }

private:
    friend class detail::EpochList;
    template <class Platform>
    friend class detail::EpochStack;

    EpochNode* next_ = nullptr;
    void (*reclaim_)(EpochNode&) = nullptr;
};

namespace detail {

/// Retired objects on their way to their deleters, owned by one thread at a time.
class EpochList {
public:
    EpochList() noexcept = default;
    explicit EpochList(EpochNode* first) noexcept : first_(first) {}
    EpochList(EpochList&& other) noexcept : first_(other.first_) { other.first_ = nullptr; }
    EpochList& operator=(EpochList&& other) noexcept {
        SLUICE_ASSERT(isEmpty(), "objects would be forgotten: reclaim the list first");
        first_ = other.first_;
        other.first_ = nullptr;
        return *this;
    }

    bool isEmpty() const noexcept { return first_ == nullptr; }

    /// Runs all deleters and returns their number. A deleter may retire its node again.
    std::size_t reclaim() noexcept {
        std::size_t count = 0;
        while (first_ != nullptr) {
            EpochNode& node = *first_;
            first_ = node.next_;
            const auto reclaimNode = node.reclaim_;
            node.reclaim_ = nullptr;
            reclaimNode(node);
            ++count;
        }
        return count;
    }

private:
    EpochNode* first_ = nullptr;
};

/// Where any thread leaves what it retires; one thread takes all of it.
template <class Platform>
class EpochStack {
public:
    void push(EpochNode& node, void (*reclaim)(EpochNode&)) noexcept {
        SLUICE_ASSERT(reclaim != nullptr, "retire() needs a function that frees the object");
        SLUICE_ASSERT(node.reclaim_ == nullptr,
                      "an object is retired twice: only the thread that unlinked it may retire it");
        node.reclaim_ = reclaim;
        node.next_ =
            first_.load(std::memory_order_relaxed);  // relaxed: the exchange below checks it
        while (!first_.compare_exchange_weak(node.next_, &node, std::memory_order_release,  // E4
                                             std::memory_order_relaxed)) {
        }
    }

    EpochList takeAll() noexcept {
        return EpochList(first_.exchange(nullptr, std::memory_order_acquire));  // E4
    }

private:
    typename Platform::template Atomic<EpochNode*> first_{nullptr};
};

/// Nodes for objects that bring none of their own. Given-back nodes are used again, so memory is
/// allocated only when more objects are pending than ever before.
template <class Platform>
class EpochNodePool {
public:
    struct Node : EpochNode {
        void* object = nullptr;
        void (*reclaim)(void*) = nullptr;
        EpochNodePool* pool = nullptr;
        Node* nextFree = nullptr;
    };

    EpochNodePool() noexcept = default;
    EpochNodePool(const EpochNodePool&) = delete;
    EpochNodePool& operator=(const EpochNodePool&) = delete;

    ~EpochNodePool() {
        while (blocks_ != nullptr) {
            Block* next = blocks_->next;
            delete blocks_;
            blocks_ = next;
        }
    }

    /// May throw std::bad_alloc.
    Node& take(void* object, void (*reclaim)(void*)) {
        Node* node = takeFree();
        if (node == nullptr) {
            node = &addBlock();
        }
        node->object = object;
        node->reclaim = reclaim;
        return *node;
    }

    /// Frees the object of a node of some pool, after the node has gone back to that pool.
    static void reclaimObject(EpochNode& base) noexcept {
        Node& node = static_cast<Node&>(base);
        void* const object = node.object;
        const auto reclaim = node.reclaim;
        node.pool->giveBack(node);
        reclaim(object);
    }

private:
    struct Block {
        static constexpr std::size_t size = 32;
        Block* next = nullptr;
        Node nodes[size];
    };

    Node* takeFree() noexcept {
        const std::lock_guard<BasicSpinLock<Platform>> lock(lock_);
        Node* node = free_;
        if (node != nullptr) {
            free_ = node->nextFree;
        }
        return node;
    }

    void giveBack(Node& node) noexcept {
        const std::lock_guard<BasicSpinLock<Platform>> lock(lock_);
        node.nextFree = free_;
        free_ = &node;
    }

    /// Allocates outside the lock; keeps the first of the new nodes for the caller.
    Node& addBlock() {
        Block* block = new Block;
        for (std::size_t i = 0; i < Block::size; ++i) {
            block->nodes[i].pool = this;
            block->nodes[i].nextFree = i + 1 < Block::size ? &block->nodes[i + 1] : nullptr;
        }
        const std::lock_guard<BasicSpinLock<Platform>> lock(lock_);
        block->nodes[Block::size - 1].nextFree = free_;
        free_ = &block->nodes[1];
        block->next = blocks_;
        blocks_ = block;
        return block->nodes[0];
    }

    BasicSpinLock<Platform> lock_;
    Node* free_ = nullptr;
    Block* blocks_ = nullptr;
};

}  // namespace detail
}  // namespace sluice
