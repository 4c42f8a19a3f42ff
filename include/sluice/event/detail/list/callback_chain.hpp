#pragma once

#include <sluice/event/detail/list/chain_core.hpp>

#include <cstddef>
#include <mutex>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// Whether a callback is null: a pointer, or a wrapper that can be made of nullptr.
template <class Callback>
bool isNull(const Callback& callback) noexcept {
    if constexpr (std::is_constructible_v<Callback, std::nullptr_t> &&
                  std::is_constructible_v<bool, const Callback&>) {
        return !static_cast<bool>(callback);
    } else {
        return false;
    }
}

/// An ordered list of callbacks. Threads call them while other threads add and remove callbacks.
///
/// The part of a CallbackList that does not depend on the arguments. Threads and progress: as for
/// CallbackList.
///
/// Memory promise: a callback sees all that a thread wrote before it added the callback. All that a
/// call did happens before the destructor of a callback that was removed during the call.
///
/// The first callback makes a core on the heap, which holds all callbacks. A call announces the
/// address of the core. Moving and swapping lists exchange cores, so a running call goes on in the
/// core in which it began.
///
/// Origin: the doubly linked list of the read-copy-update literature (P. McKenney), with eventpp's
/// serial numbers, which keep new callbacks out of running traversals.
///
/// Invariants, under the lock of the core: `next` from first_ to last_ links exactly the nodes
/// whose serial is not `removed`, and whose owner and chain are those of this core; `previous` is
/// its inverse; all serials are at most currentCounter. A removed node keeps its `next`. A
/// traversal that stands on it goes on through nodes that were removed later, and back to the list.
/// It skips no older node that is still in the list.
///
/// Edges: E1 link: node written -> `next` or first_ release .. acquire -> node read. E2 newest:
/// serials rewritten at the wrap -> currentCounter release .. acquire -> serial read. E3 core: core
/// built -> core_ release .. acquire -> core read. Free: see removals.hpp.
///
/// Tests: tests/unit/event/callback_list*_test.cpp, tests/stress/event_stress_test.cpp.
template <class Callback, class Threading>
class CallbackChain {
    using Core = ChainCore<Callback, Threading>;
    using Guard = std::lock_guard<LockOf<Threading>>;
    using ReadSide = ReadSideOf<Threading>;
    template <class T>
    using Atomic = typename ReadSide::Platform::template Atomic<T>;

public:
    using Node = typename Core::Node;
    using Handle = typename Core::Handle;

    CallbackChain() noexcept = default;

    CallbackChain(const CallbackChain& other) : CallbackChain() {
        other.visitWhile([this](Node& node) {
            (void)add(std::as_const(node.callback.get()), AtEnd(), node.priority);
            return true;
        });
    }

    CallbackChain(CallbackChain&& other) noexcept { swap(other); }

    CallbackChain& operator=(const CallbackChain& other) {
        if (this != &other) {
            CallbackChain(other).swap(*this);
        }
        return *this;
    }

    CallbackChain& operator=(CallbackChain&& other) noexcept {
        CallbackChain(std::move(other)).swap(*this);
        return *this;
    }

    ~CallbackChain() {
        // Again: destructors of callbacks may add some.
        while (Core* const own = core_.exchange(nullptr, std::memory_order_relaxed)) {
            own->end();
        }
    }

    void swap(CallbackChain& other) noexcept {
        Core* const mine = core();
        core_.store(other.core(), std::memory_order_release);
        other.core_.store(mine, std::memory_order_release);
        // Relaxed: no other thread uses the lists.
        const auto counter = currentCounter.load(std::memory_order_relaxed);
        currentCounter.store(other.currentCounter.load(std::memory_order_relaxed),
                             std::memory_order_release);
        other.currentCounter.store(counter, std::memory_order_release);
    }

    [[nodiscard]] bool empty() const noexcept {
        const Core* const own = core();
        return own == nullptr || own->first() == nullptr;
    }

    // Functions that add a callback return its handle. For a null callable they add nothing, and
    // return an empty handle.

    Handle append(Callback&& callback) { return add(std::move(callback), AtEnd()); }

    Handle prepend(Callback&& callback) {
        return add(std::move(callback), [](const Guard&, Core& core) { return core.first(); });
    }

    /// Adds the callback in front of `before`, or at the end if `before` is not in this list.
    Handle insert(Callback&& callback, const Handle& before) {
        return add(std::move(callback), [&before](const Guard& guard, Core& core) {
            return core.holds(guard, before.node_) ? before.node_ : nullptr;
        });
    }

    /// Adds the callback in front of the callbacks of lower priority at the end of the list.
    Handle insertByPriority(Callback&& callback, int priority) {
        const auto findAfter = [priority](const Guard& guard, Core& core) {
            return core.firstBelow(guard, priority);
        };
        return add(std::move(callback), findAfter, priority);
    }

    /// Adds the callback that make(handle) returns at the end.
    template <class Make>
    Handle appendMade(Make make) {
        return addMade(make, AtEnd(), 0);
    }

    /// Returns false if the handle names nothing in this list.
    bool remove(const Handle& handle) {
        Core* const own = core();
        return own != nullptr && own->remove(handle);
    }

    bool removeAndWait(const Handle& handle) {
        Core* const own = core();
        return own != nullptr && own->removeAndWait(handle);
    }

    [[nodiscard]] bool ownsHandle(const Handle& handle) const noexcept {
        const Core* const own = core();
        return own != nullptr && own->ownsHandle(handle);
    }

    void clear() noexcept {
        if (Core* const own = core()) {
            own->clear();
        }
    }

    [[nodiscard]] std::size_t removedSizeApprox() const noexcept {
        const Core* const own = core();
        return own == nullptr ? 0 : own->removedSizeApprox();
    }

    /// Calls visit(Node&) for the callbacks that are in the list now and not removed before their
    /// turn, in order, until it returns false. Returns whether it always returned true.
    template <class Visit>
    bool visitWhile(Visit&& visit) const {
        Core* const own = core();
        if (own == nullptr) {
            return true;
        }
        const Call<Threading> call(*own);
        return visitInside(*own, visit);
    }

    static Handle handleOf(Node& node) noexcept {
        node.addReference();
        return Handle(&node);
    }

private:
    struct AtEnd {
        Node* operator()(const Guard&, Core&) const noexcept { return nullptr; }
    };

    Core* core() const noexcept { return core_.load(std::memory_order_acquire); }  // E3

    /// Sets core_ to `made`. If another thread was first, it deletes `made` and returns the other
    /// core.
    [[gnu::cold, gnu::noinline]] Core& makeCore(Core* made) noexcept {
        Core* expected = nullptr;
        while (!core_.compare_exchange_weak(expected, made, std::memory_order_acq_rel,  // E3
                                            std::memory_order_acquire)) {
            if (expected != nullptr) {
                delete made;
                return *expected;
            }
        }
        return *made;
    }

    template <class C, class FindAfter>
    Handle add(C&& callback, FindAfter findAfter, int priority = 0) {
        if (isNull(callback)) {
            return Handle();
        }
        const auto make = [&callback](const Handle&) -> C&& { return std::forward<C>(callback); };
        return addMade(make, findAfter, priority);
    }

    template <class Make, class FindAfter>
    Handle addMade(Make& make, FindAfter findAfter, int priority) {
        Core* const present = core();
        Core& own = present != nullptr ? *present : makeCore(new Core);
        Handle handle(new Node);
        handle.node_->callback.construct(make(std::as_const(handle)));
        handle.node_->priority = priority;
        own.publish(*handle.node_, currentCounter, findAfter);
        return handle;
    }

    template <class Visit>
    bool visitInside(Core& own, Visit& visit) const {
        const auto newest = currentCounter.load(std::memory_order_acquire);  // E2
        // From here on this object is not used: a callback may destroy it.
        for (Node* node = own.first(); node != nullptr;  // E1
             node = node->next.load(std::memory_order_acquire)) {
            if (node->isPartOf(newest) && !visit(*node)) {
                return false;
            }
        }
        return true;
    }

    // Null until the first callback is added.
    Atomic<Core*> core_{nullptr};

    // The newest serial. The name is eventpp's: programs that derive from a list use it.
    // NOLINTNEXTLINE(readability-identifier-naming)
    typename Threading::template Atomic<typename Node::Serial> currentCounter{0};
};

}  // namespace sluice::detail
