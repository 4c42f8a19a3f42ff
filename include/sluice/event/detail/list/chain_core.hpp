#pragma once

#include <sluice/base/spin_lock.hpp>
#include <sluice/event/detail/list/callback_handle.hpp>
#include <sluice/event/detail/list/list_lifetime.hpp>

#include <cstddef>
#include <mutex>
#include <utility>

namespace sluice::detail {

/// The callbacks of a list. See callback_chain.hpp.
template <class Callback, class Threading>
class ChainCore : public ListLifetime<Threading> {
    using Base = ListLifetime<Threading>;
    using ReadSide = ReadSideOf<Threading>;
    using Guard = std::lock_guard<LockOf<Threading>>;
    using typename Base::Effort;
    template <class T>
    using Atomic = typename Base::Platform::template Atomic<T>;

public:
    using Node = CallbackNode<Callback, Threading>;
    using Handle = CallbackHandle<Node>;
    using Serial = typename Node::Serial;
    using Counter = typename Threading::template Atomic<Serial>;

    ChainCore() noexcept : Base([](void* core) { delete static_cast<ChainCore*>(core); }) {}

    Node* first() const noexcept { return first_.load(std::memory_order_acquire); }  // E1

    /// Adds the node in front of the node that findAfter(guard, core) returns, or at the end for
    /// null.
    template <class FindAfter>
    void publish(Node& node, Counter& newest, FindAfter findAfter) {
        node.addReference();  // the list's
        // This is code of the shared object that adds the callback. The shared object that removes
        // it may be unloaded first.
        node.free = &Node::end;
        const Guard guard(this->lock);
        link(guard, node, newest, findAfter(guard, *this));
    }

    /// The first of the callbacks of lower priority at the end, or null.
    Node* firstBelow(const Guard& /*guard*/, int priority) noexcept {
        Node* after = nullptr;
        for (Node* node = last_; node != nullptr && node->priority < priority;
             node = node->previous) {
            after = node;
        }
        return after;
    }

    /// Whether the node is in this list. The lock keeps nodes of this list unchanged. Nodes of
    /// another list have another owner.
    bool holds(const Guard& /*guard*/, Node* node) const noexcept {
        if (!wasHere(node)) {
            return false;
        }
        if (node->chain != chain_) {
            node->markAsCleared();
            return false;
        }
        return !node->isRemoved();
    }

    bool ownsHandle(const Handle& handle) const noexcept {
        const Guard guard(this->lock);
        return holds(guard, handle.node_);
    }

    bool remove(const Handle& handle) noexcept {
        Node* const node = handle.node_;
        {
            const Guard guard(this->lock);
            if (!holds(guard, node)) {
                return false;
            }
            unlink(guard, *node);
        }
        discard(node, node);
        return true;
    }

    bool removeAndWait(const Handle& handle) noexcept {
        const Handle kept = handle;  // the handle may be destroyed with the callback
        Node* const node = kept.node_;
        const bool isOwnCall = this->users.isInside();
        bool isRemoved = false;
        {
            const Guard guard(this->lock);
            isRemoved = holds(guard, node);
            if (isRemoved) {
                unlink(guard, *node);
            }
            if (isRemoved && isOwnCall) {
                typename Base::Chain chain;
                chain.add(*node);
                this->removals.add(guard, chain);
            }
        }
        this->users.waitForOthers();
        if (isOwnCall) {
            return isRemoved;  // the last call of the list on this thread frees the callback
        }
        if (isRemoved) {
            Reclaimer::freeNow(*node);  // not left to an outer call
        } else if (wasHere(node)) {
            awaitEnd(*node);
        }
        return isRemoved;
    }

    void clear() noexcept {
        Node* last = nullptr;
        if (Node* const all = detachAll(last)) {
            discard(all, last);
        }
    }

    /// Called by the destructor of the list. No other thread is calling the list.
    [[gnu::cold, gnu::noinline]] void end() noexcept {
        Node* last = nullptr;
        addRemoved(detachAll(last), last);
        if (this->users.isInside()) {
            const Guard guard(this->lock);
            this->removals.addOwner(guard, this);
            return;
        }
        Removed* const removed = this->removals.takeAll();
        delete this;
        Reclaimer::freeAll(removed);
    }

private:
    /// Links the node in front of `after`, or at the end for null. Not inlined, because each way to
    /// add a callback has a publish() of its own.
    [[gnu::noinline]] void link(const Guard& guard, Node& node, Counter& newest,
                                Node* after) noexcept {
        Node* const before = after != nullptr ? after->previous : last_;
        node.previous = before;
        node.next.store(after, std::memory_order_relaxed);  // relaxed, all: E1 publishes them
        node.owner.store(this, std::memory_order_relaxed);
        node.chain = chain_;
        node.serial.store(nextSerial(guard, newest), std::memory_order_relaxed);
        (after != nullptr ? after->previous : last_) = &node;
        (before != nullptr ? before->next : first_).store(&node, std::memory_order_release);  // E1
    }

    /// The node keeps its `next` for the traversals that stand on it.
    void unlink(const Guard& /*guard*/, Node& node) noexcept {
        node.serial.store(Node::removed, std::memory_order_relaxed);  // relaxed: calls that run at
        Node* const after = node.next.load(std::memory_order_relaxed);  // the same time may miss it
        Node* const before = node.previous;
        (after != nullptr ? after->previous : last_) = before;
        (before != nullptr ? before->next : first_).store(after, std::memory_order_release);  // E1
    }

    /// Takes out all callbacks and returns them, linked by `next`. The new chain_ removes them at
    /// once. So the lock is held for a few instructions, and the nodes are marked without it.
    Node* detachAll(Node*& last) noexcept {
        Node* all = nullptr;
        {
            const Guard guard(this->lock);
            all = first_.load(std::memory_order_relaxed);  // relaxed: under the lock
            first_.store(nullptr, std::memory_order_release);
            last = std::exchange(last_, nullptr);
            ++chain_;
        }
        for (Node* node = all; node != nullptr; node = node->next.load(std::memory_order_relaxed)) {
            node->serial.store(Node::removed, std::memory_order_relaxed);  // relaxed: as in unlink
        }
        return all;
    }

    /// Frees the callbacks from `node` to `last`, which are unlinked, when no call can use them.
    void discard(Node* node, Node* last) noexcept {
        // Relaxed: a removal that races with this one may be freed after it.
        const bool isFirst = !this->removals.hasAny();
        const bool isInside = this->users.isInside();
        if (isFirst && !isInside && this->users.isAlone()) {
            freeNow(node, last);
            return;
        }
        addRemoved(node, last);
        if (!isInside) {
            this->collect(Effort::limited);
        }
    }

    void addRemoved(Node* node, Node* last) noexcept {
        typename Base::Chain chain;
        while (node != nullptr) {
            chain.add(*node);
            // Relaxed: the last writer was this thread.
            node = node == last ? nullptr : node->next.load(std::memory_order_relaxed);
        }
        if (chain.size != 0) {
            const Guard guard(this->lock);
            this->removals.add(guard, chain);
        }
    }

    /// Whether the node is or was in this list. Relaxed: a removed node keeps its owner.
    bool wasHere(const Node* node) const noexcept {
        return node != nullptr && node->owner.load(std::memory_order_relaxed) == this;
    }

    /// Waits until a callback that another call has removed is destroyed. Within its destructor it
    /// does not wait.
    void awaitEnd(const Node& node) noexcept {
        BasicBackoff<typename Base::Platform> backoff;
        // Acquire: the destructor's writes come before.
        while (node.serial.load(std::memory_order_acquire) != Node::gone &&
               !Reclaimer::isFreeing(node)) {
            this->collect(Effort::full);
            Reclaimer::freeDeferred();
            backoff.wait();
        }
    }

    static void freeNow(Node* node, Node* last) noexcept {
        Node* const first = node;
        for (; node != last; node = static_cast<Node*>(node->nextRemoved)) {
            node->nextRemoved = node->next.load(std::memory_order_relaxed);  // relaxed: as above
        }
        last->nextRemoved = nullptr;
        Reclaimer::freeAll(first);
    }

    /// After the largest serial, all callbacks get serial 1, also the one that is being added. So
    /// running calls will call it, too.
    Serial nextSerial(const Guard& /*guard*/, Counter& newest) noexcept {
        Serial serial = newest.load(std::memory_order_relaxed) + 1;  // relaxed: under the lock
        if (!Node::isLasting(serial)) {
            serial = 1;
            for (Node* node = first_.load(std::memory_order_relaxed); node != nullptr;
                 node = node->next.load(std::memory_order_relaxed)) {
                node->serial.store(serial, std::memory_order_relaxed);  // relaxed: E2
            }
        }
        newest.store(serial, std::memory_order_release);  // E2
        return serial;
    }

    Atomic<Node*> first_{nullptr};
    Node* last_ = nullptr;
    unsigned chain_ = 0;  // number of the current chain; each clear() begins another one
};

}  // namespace sluice::detail
