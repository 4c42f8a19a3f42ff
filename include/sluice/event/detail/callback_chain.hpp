#pragma once

/// \file
/// CallbackChain: callbacks in an order, called by many threads while others add and remove.
///
/// The part of a CallbackList that does not depend on the arguments.
///
/// Who may call what: any thread anything at any time, also from inside a callback; but moving,
/// swapping, assigning and destroying need the list for themselves as far as other threads go. The
/// thread that runs a callback may do these, too.
///
/// Progress: traversal is wait-free for each node and nobody can delay it; adding and removing take
/// the lock for a few instructions. A thread that is stopped in a traversal delays only the freeing
/// of what is removed.
///
/// Memory promise: what a thread wrote before it added a callback is visible to the callback.
/// Everything a call did happens before the destructor of a callback that was removed meanwhile.
///
/// Origin: the doubly linked list of the read-copy-update literature (P. McKenney), with eventpp's
/// serial numbers to keep newcomers out of running traversals.
///
/// Invariants, under the lock: `next` from first_ to last_ links exactly the nodes whose serial is
/// not `removed` and whose owner is this chain; `previous` is its inverse; all serials are at most
/// currentCounter. A removed node keeps its `next`: a traversal that stands on it goes on through
/// nodes that were removed after it, back to the list, and past none that was there before.
///
/// Edges: E1 link: node written -> `next` or first_ release .. acquire -> node read. E2 newest:
/// serials rewritten at the wrap -> currentCounter release .. acquire -> serial read. E3 free: see
/// EpochDomain.
///
/// Tests: tests/unit/event/callback_list*_test.cpp, tests/stress/event_stress_test.cpp.

#include <sluice/event/detail/callback_handle.hpp>
#include <sluice/event/detail/read_side.hpp>

#include <cstddef>
#include <mutex>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// Whether there is nothing to call: in a pointer, or in a wrapper that can be made of nullptr.
template <class Callback>
bool isNull(const Callback& callback) noexcept {
    if constexpr (std::is_constructible_v<Callback, std::nullptr_t> &&
                  std::is_constructible_v<bool, const Callback&>) {
        return !static_cast<bool>(callback);
    } else {
        return false;
    }
}

template <class Callback, class Threading>
class CallbackChain {
    using ReadSide = ReadSideOf<Threading>;
    using Lock = LockOf<Threading>;
    template <class T>
    using Atomic = typename ReadSide::Platform::template Atomic<T>;

public:
    using Node = CallbackNode<Callback, Threading>;
    using Handle = CallbackHandle<Node>;

    CallbackChain() noexcept = default;

    CallbackChain(const CallbackChain& other) : CallbackChain() {
        other.visitWhile([this](Node& node) {
            const auto atEnd = [](CallbackChain&) -> Node* { return nullptr; };
            (void)add(std::as_const(node.callback.get()), atEnd, node.priority);
            return true;
        });
    }

    CallbackChain(CallbackChain&& other) noexcept { swap(other); }

    CallbackChain& operator=(const CallbackChain& other) {
        if (this != &other) {
            CallbackChain copy(other);
            swap(copy);
        }
        return *this;
    }

    CallbackChain& operator=(CallbackChain&& other) noexcept {
        if (this != &other) {
            end();
            swap(other);
        }
        return *this;
    }

    ~CallbackChain() { end(); }

    void swap(CallbackChain& other) noexcept {
        if (this == &other) {
            return;
        }
        Node* const mine = first_.load(std::memory_order_relaxed);  // relaxed, all: nobody else
        first_.store(other.first_.load(std::memory_order_relaxed), std::memory_order_release);
        other.first_.store(mine, std::memory_order_release);
        std::swap(last_, other.last_);
        const auto counter = currentCounter.load(std::memory_order_relaxed);
        currentCounter.store(other.currentCounter.load(std::memory_order_relaxed),
                             std::memory_order_release);
        other.currentCounter.store(counter, std::memory_order_release);
        takeOwnership();
        other.takeOwnership();
        ReadSide::Traversal::lose(this);
        ReadSide::Traversal::lose(&other);
    }

    [[nodiscard]] bool empty() const noexcept {
        return first_.load(std::memory_order_acquire) == nullptr;
    }

    // All that add a callback return its handle; an empty one, with nothing added, for a null
    // callable.

    template <class C>
    Handle append(C&& callback) {
        return add(std::forward<C>(callback), [](CallbackChain&) -> Node* { return nullptr; });
    }

    template <class C>
    Handle prepend(C&& callback) {
        return add(std::forward<C>(callback), [](CallbackChain& self) {
            return self.first_.load(std::memory_order_relaxed);  // relaxed: written under the lock
        });
    }

    /// In front of `before`, or at the end when that is not in this list.
    template <class C>
    Handle insert(C&& callback, const Handle& before) {
        return add(std::forward<C>(callback), [&before](CallbackChain& self) {
            return self.holds(before.node_) ? before.node_ : nullptr;
        });
    }

    /// In front of the callbacks at the end whose priority is lower.
    template <class C>
    Handle insertByPriority(C&& callback, int priority) {
        const auto place = [priority](CallbackChain& self) { return self.firstBelow(priority); };
        return add(std::forward<C>(callback), place, priority);
    }

    /// At the end: the callback that make(handle) returns.
    template <class Make>
    Handle appendMade(Make make) {
        Handle handle(new Node);
        handle.node_->callback.construct(make(std::as_const(handle)));
        publish(*handle.node_, [](CallbackChain&) -> Node* { return nullptr; });
        return handle;
    }

    /// False when the handle names nothing in this list.
    bool remove(const Handle& handle) {
        Node* const node = handle.node_;
        {
            const std::lock_guard<Lock> guard(lock_);
            if (!holds(node)) {
                return false;
            }
            unlink(*node);
        }
        discard(*node, isUnused());
        return true;
    }

    /// Waits for the calls that are running, of this list or another one.
    static void synchronize() noexcept { ReadSide::synchronize(); }

    [[nodiscard]] bool ownsHandle(const Handle& handle) const noexcept {
        const std::lock_guard<Lock> guard(lock_);
        return holds(handle.node_);
    }

    void clear() noexcept {
        if (Node* const all = detachAll()) {
            discardAll(all, isUnused());
        }
    }

    using Guard = typename ReadSide::Guard;
    static Guard enter() { return ReadSide::enter(); }

    /// Calls visit(Node&) for the callbacks that are in the list now and not removed before their
    /// turn, in order, until it returns false. Returns whether it always returned true.
    template <class Visit>
    bool visitWhile(Visit&& visit) const {
        const Guard guard = enter();
        return visitWhile(guard, visit);
    }
    template <class Visit>
    bool visitWhile(const Guard&, Visit&& visit) const {
        typename ReadSide::Traversal traversal(this);
        const typename ReadSide::Call call(traversal);
        // From here on this object is not used: a callback may destroy it.
        const Serial newest = currentCounter.load(std::memory_order_acquire);       // E2
        for (Node* node = first_.load(std::memory_order_acquire); node != nullptr;  // E1
             node = node->next.load(std::memory_order_acquire)) {
            if (node->isPartOf(newest) && !visit(*node)) {
                return false;
            }
        }
        return true;
    }

    static Handle handleOf(Node& node) noexcept {
        node.addReference();
        return Handle(&node);
    }

private:
    using Serial = typename Node::Serial;

    /// Under the lock. Relaxed: a node of this chain is changed under the same lock, and any other
    /// node's owner is not this one.
    bool holds(const Node* node) const noexcept {
        return node != nullptr && !node->isRemoved() &&
               node->owner.load(std::memory_order_relaxed) == this;
    }

    /// findAfter(chain), under the lock, is the callback in front of which the new one goes.
    template <class C, class FindAfter>
    Handle add(C&& callback, FindAfter findAfter, int priority = 0) {
        if (isNull(callback)) {
            return Handle();
        }
        Handle handle(new Node);
        handle.node_->callback.construct(std::forward<C>(callback));
        handle.node_->priority = priority;
        publish(*handle.node_, findAfter);
        return handle;
    }

    template <class FindAfter>
    void publish(Node& node, FindAfter findAfter) {
        node.addReference();  // the list's
        const std::lock_guard<Lock> guard(lock_);
        link(node, findAfter(*this));
    }

    /// Under the lock.
    Node* firstBelow(int priority) noexcept {
        Node* after = nullptr;
        for (Node* node = last_; node != nullptr && node->priority < priority;
             node = node->previous) {
            after = node;
        }
        return after;
    }

    /// Under the lock: in front of `after`, or at the end.
    void link(Node& node, Node* after) noexcept {
        Node* const before = after != nullptr ? after->previous : last_;
        node.previous = before;
        node.next.store(after, std::memory_order_relaxed);  // relaxed, all: E1 publishes them
        node.owner.store(this, std::memory_order_relaxed);
        node.serial.store(nextSerial(), std::memory_order_relaxed);
        (after != nullptr ? after->previous : last_) = &node;
        (before != nullptr ? before->next : first_).store(&node, std::memory_order_release);  // E1
    }

    /// Under the lock. The node keeps its `next` for the traversals that stand on it.
    void unlink(Node& node) noexcept {
        node.serial.store(Node::removed, std::memory_order_relaxed);  // relaxed: calls that run at
        Node* const after = node.next.load(std::memory_order_relaxed);  // the same time may miss it
        Node* const before = node.previous;
        (after != nullptr ? after->previous : last_) = before;
        (before != nullptr ? before->next : first_).store(after, std::memory_order_release);  // E1
    }

    Node* detachAll() noexcept {
        const std::lock_guard<Lock> guard(lock_);
        Node* const all = first_.load(std::memory_order_relaxed);
        for (Node* node = all; node != nullptr; node = node->next.load(std::memory_order_relaxed)) {
            node->serial.store(Node::removed, std::memory_order_relaxed);  // relaxed: as in unlink
        }
        first_.store(nullptr, std::memory_order_release);
        last_ = nullptr;
        return all;
    }

    /// Whether no call of this thread can be using what has just been unlinked.
    bool isUnusedHere() const noexcept {
        return !ReadSide::Traversal::isOn(this) && !Freeing::isDeep();
    }
    /// Nor one of any other thread.
    bool isUnused() const noexcept { return isUnusedHere() && ReadSide::isQuiet(); }

    static void discard(Node& node, bool now) noexcept {
        if (now) {
            const Freeing freeing;
            Node::reclaim(node);
        } else {
            ReadSide::retire(node, &Node::reclaim);
        }
    }
    static void discardAll(Node* node, bool now) noexcept {
        while (node != nullptr) {
            Node* const next = node->next.load(std::memory_order_relaxed);  // relaxed: the last
            discard(*node, now);                                            // writer was this one
            node = next;
        }
    }

    /// Without other threads, as all that ends a list: they have no calls of it running.
    void end() noexcept { discardAll(detachAll(), isUnusedHere()); }

    /// Under the lock. After the largest number all callbacks count as old, and so does the one
    /// that is being added: the running calls will call it.
    Serial nextSerial() noexcept {
        Serial serial = currentCounter.load(std::memory_order_relaxed) + 1;  // relaxed: see below
        if (serial == Node::removed) {
            serial = 1;
            for (Node* node = first_.load(std::memory_order_relaxed); node != nullptr;
                 node = node->next.load(std::memory_order_relaxed)) {
                node->serial.store(serial, std::memory_order_relaxed);  // relaxed: E2
            }
        }
        currentCounter.store(serial, std::memory_order_release);  // E2; written under the lock
        return serial;
    }

    void takeOwnership() noexcept {
        for (Node* node = first_.load(std::memory_order_relaxed); node != nullptr;
             node = node->next.load(std::memory_order_relaxed)) {
            node->owner.store(this, std::memory_order_relaxed);  // relaxed: nobody else
        }
    }

    Atomic<Node*> first_{nullptr};
    // The newest serial. eventpp's name, which programs that derive from a list know.
    // NOLINTNEXTLINE(readability-identifier-naming)
    typename Threading::template Atomic<Serial> currentCounter{0};
    mutable Lock lock_;
    Node* last_ = nullptr;
};

}  // namespace sluice::detail
