#pragma once

#include <sluice/event/detail/list/chain_core.hpp>

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

/// Callbacks in an order, called by many threads while others add and remove.
///
/// The part of a CallbackList that does not depend on the arguments. Threads and progress: as for
/// CallbackList.
///
/// Memory promise: a callback sees all that the thread wrote before it added the callback.
/// Everything a call did happens before the destructor of a callback that was removed meanwhile.
///
/// The callbacks are in a core on the heap, which begins with the first of them. A call is known by
/// the address of the core. So moving and swapping lists exchange cores, and a call that runs goes
/// on in the core that it began in.
///
/// Origin: the doubly linked list of the read-copy-update literature (P. McKenney), with eventpp's
/// serial numbers to keep newcomers out of running traversals.
///
/// Invariants, under the lock of the core: `next` from first_ to last_ links exactly the nodes
/// whose serial is not `removed`, and whose owner and chain are those of this core; `previous` is
/// its inverse; all serials are at most currentCounter. A removed node keeps its `next`: a
/// traversal that stands on it goes on through nodes that were removed after it, back to the list,
/// and past none that was there before.
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
        if (Core* const own = core_.exchange(nullptr, std::memory_order_relaxed)) {
            own->end();
        }
    }

    void swap(CallbackChain& other) noexcept {
        Core* const mine = core();
        core_.store(other.core(), std::memory_order_release);
        other.core_.store(mine, std::memory_order_release);
        // Relaxed: nobody else uses the lists.
        const auto counter = currentCounter.load(std::memory_order_relaxed);
        currentCounter.store(other.currentCounter.load(std::memory_order_relaxed),
                             std::memory_order_release);
        other.currentCounter.store(counter, std::memory_order_release);
    }

    [[nodiscard]] bool empty() const noexcept {
        const Core* const own = core();
        return own == nullptr || own->first() == nullptr;
    }

    // All that add a callback return its handle; an empty one, with nothing added, for a null
    // callable.

    Handle append(Callback&& callback) { return add(std::move(callback), AtEnd()); }

    Handle prepend(Callback&& callback) {
        return add(std::move(callback), [](const Guard&, Core& core) { return core.first(); });
    }

    /// In front of `before`, or at the end when that is not in this list.
    Handle insert(Callback&& callback, const Handle& before) {
        return add(std::move(callback), [&before](const Guard& guard, Core& core) {
            return core.holds(guard, before.node_) ? before.node_ : nullptr;
        });
    }

    /// In front of the callbacks at the end whose priority is lower.
    Handle insertByPriority(Callback&& callback, int priority) {
        const auto findAfter = [priority](const Guard& guard, Core& core) {
            return core.firstBelow(guard, priority);
        };
        return add(std::move(callback), findAfter, priority);
    }

    /// At the end: the callback that make(handle) returns.
    template <class Make>
    Handle appendMade(Make make) {
        return addMade(make, AtEnd(), 0);
    }

    /// False when the handle names nothing in this list.
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

    /// How many callbacks have been removed but not destroyed.
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
    /// The place of a callback that is added at the end, for add().
    struct AtEnd {
        Node* operator()(const Guard&, Core&) const noexcept { return nullptr; }
    };

    Core* core() const noexcept { return core_.load(std::memory_order_acquire); }  // E3

    /// Unless another thread was first. Takes a new core, which it may destroy.
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

    // The newest serial. eventpp's name, which programs that derive from a list know.
    // NOLINTNEXTLINE(readability-identifier-naming)
    typename Threading::template Atomic<typename Node::Serial> currentCounter{0};
};

}  // namespace sluice::detail
