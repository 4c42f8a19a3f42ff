#pragma once

#include <sluice/event/detail/policy_traits.hpp>
#include <sluice/event/detail/retire_list.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {

template <class Callback, class Threading>
class CallbackHandle;
template <class Callback, class Threading>
struct CallbackNode;
template <class Callback, class Threading>
class CallbackCore;

template <class Callback>
bool isNull(const Callback& callback) noexcept {
    if constexpr (std::is_constructible_v<Callback, std::nullptr_t> &&
                  std::is_constructible_v<bool, const Callback&>) {
        return !static_cast<bool>(callback);
    } else {
        return false;
    }
}

template <class P, class... Args>
using ContinueResult = decltype(P::canContinueInvoking(std::declval<Args&>()...));

}  // namespace detail

/// An ordered list of callbacks that are called with the same arguments.
///
///     sluice::CallbackList<void(int)> onChange;
///     auto handle = onChange.append([](int value) { ... });
///     onChange(42);
///     onChange.remove(handle);
///
/// Use a callback list for one kind of event, EventDispatcher if a key selects the callbacks, and
/// EventQueue if callbacks run later or on another thread.
///
/// Order: a call visits the callbacks that are in the list when the call begins, except callbacks
/// that are removed before their turn. A call may miss a concurrent removal by another thread.
///
/// Thread safety: any thread may call any member at any time, and so may callbacks. No other thread
/// may use a list while it is moved, swapped, assigned to or destroyed. Calling a list takes no
/// lock; adding and removing take a lock for a few instructions.
///
/// Lifetime: if no call of the list is running, remove() destroys the callback before it returns.
/// During a call, the last running call destroys the removed callback. If the list destroyed other
/// callbacks less than 0.2 ms ago, the removed one lives until a later call or removal. If a
/// callback destroys its own list, the running call ends after it and destroys all callbacks.
///
/// Errors: an exception of a callback ends the call. An addition that throws changes nothing.
///
/// `Policies` may define Callback, Threading and canContinueInvoking: see event_policies.hpp.
template <class Prototype, class Policies = DefaultPolicies>
class CallbackList {
    static_assert(detail::never<Prototype>,
                  "the prototype of a CallbackList must be a function type such as void(int)");
};

template <class Result, class... Args, class Policies>
class CallbackList<Result(Args...), Policies> : public TagCallbackList {
    using Threading = detail::ThreadingOf<Policies>;

    static_assert((!std::is_rvalue_reference_v<Args> && ...),
                  "a prototype cannot have rvalue references, as several callbacks get the same "
                  "arguments");

public:
    using Callback = detail::CallbackOf<Policies, Result(Args...)>;
    /// A handle names one callback, and may outlive the callback and the list.
    using Handle = detail::CallbackHandle<Callback, Threading>;
    using Mutex = typename Threading::Mutex;

    CallbackList() noexcept = default;
    CallbackList(const CallbackList& other) : CallbackList() {
        other.visitWhile([this](Node& node) {
            (void)add(std::as_const(node.callback.get()), AtEnd(), node.priority);
            return true;
        });
    }
    CallbackList(CallbackList&& other) noexcept { swap(other); }
    CallbackList& operator=(const CallbackList& other) {
        if (this != &other) {
            CallbackList(other).swap(*this);
        }
        return *this;
    }
    CallbackList& operator=(CallbackList&& other) noexcept {
        CallbackList(std::move(other)).swap(*this);
        return *this;
    }
    ~CallbackList() {
        // Repeats, because destructors of callbacks may add callbacks. Relaxed: not shared.
        while (Core* const ended = core_.exchange(nullptr, std::memory_order_relaxed)) {
            ended->end();
        }
    }

    /// After a swap, running calls continue with the callbacks that they began with.
    void swap(CallbackList& other) noexcept {
        Core* const mine = core();
        core_.store(other.core(), std::memory_order_release);
        other.core_.store(mine, std::memory_order_release);
        const auto counter = currentCounter.load(std::memory_order_relaxed);  // not shared
        currentCounter.store(other.currentCounter.load(std::memory_order_relaxed),
                             std::memory_order_release);
        other.currentCounter.store(counter, std::memory_order_release);
    }
    friend void swap(CallbackList& a, CallbackList& b) noexcept { a.swap(b); }

    [[nodiscard]] bool empty() const noexcept {
        const Core* const own = core();
        return own == nullptr || own->first() == nullptr;
    }
    operator bool() const noexcept { return !empty(); }

    // ---- Adding. Adding a null callable has no effect and returns an empty handle.

    Handle append(Callback callback) { return add(std::move(callback), AtEnd()); }

    Handle prepend(Callback callback) {
        return add(std::move(callback), [](const Core& core) { return core.first(); });
    }

    /// Adds a callback in front of `before`, or at the end if `before` is not in this list.
    Handle insert(Callback callback, const Handle& before) {
        return add(std::move(callback), [&before](const Core& core) {
            return core.holds(before.node_) ? before.node_ : nullptr;
        });
    }

    /// Adds a callback behind all callbacks of the same or a higher priority. append(), prepend()
    /// and insert() use priority 0. The list is locked for 4.6 ms per million callbacks.
    Handle insertByPriority(Callback callback, int priority) {
        const auto findAfter = [priority](const Core& core) { return core.firstBelow(priority); };
        return add(std::move(callback), findAfter, priority);
    }

    // ---- Removing

    /// Returns false if the handle names no callback of this list.
    bool remove(const Handle& handle) {
        Core* const own = core();
        return own != nullptr && own->remove(handle);
    }

    /// Removes a callback and waits until the callback has been destroyed. In a callback of this
    /// list, waits only for calls on other threads, and the outermost call on this thread destroys
    /// the removed callback. If the callback is already removed, waits for its destruction and
    /// returns false. Two callbacks that call removeAndWait() for each other deadlock.
    bool removeAndWait(const Handle& handle) {
        Core* const own = core();
        return own != nullptr && own->removeAndWait(handle);
    }

    void clear() noexcept { const Clearing clearing(*this); }

    /// Clears a list at the end of a scope, even if callbacks destroy the list.
    class Clearing {
    public:
        explicit Clearing(const CallbackList& list) noexcept : core_(list.core()) {
            if (core_ != nullptr) {
                core_->addUser();
            }
        }
        Clearing(const Clearing&) = delete;
        Clearing& operator=(const Clearing&) = delete;
        ~Clearing() {
            if (core_ != nullptr) {
                core_->clear();
                core_->drop();
            }
        }

    private:
        typename detail::CallbackCore<Callback, Threading>* const core_;
    };

    /// Returns true if the handle names a callback of this list. Constant time.
    [[nodiscard]] bool ownsHandle(const Handle& handle) const noexcept {
        const Core* const own = core();
        return own != nullptr && own->ownsHandle(handle);
    }

    /// The number of removed callbacks that are not destroyed yet.
    [[nodiscard]] std::size_t removedSizeApprox() const noexcept {
        const Core* const own = core();
        return own == nullptr ? 0 : own->sizeApprox();
    }

    // ---- Calling

    /// Calls all callbacks with lvalue arguments, so that no callback can move from an argument.
    void operator()(Args... args) const {
        static_assert(std::is_invocable_v<Callback&, Args&...>,
                      "the arguments cannot be passed to more than one callback: take them by "
                      "reference");
        callAll(args...);
    }

    /// Calls all callbacks for a dispatcher, which passes its own copies of the arguments. Inlined,
    /// because a function call would take a quarter more instructions per callback.
    SLUICE_ALWAYS_INLINE void callAll(Args&... args) const {
        visitWhile([&](Node& node) {
            node.callback.get()(args...);
            if constexpr (detail::isDetected<detail::ContinueResult, Policies, Args...>) {
                return Policies::canContinueInvoking(args...);
            } else {
                return true;
            }
        });
    }

    template <class F>
    void forEach(F&& f) const {
        visitWhile([&f](Node& node) {
            visit(f, node);
            return true;
        });
    }

    /// Like forEach(), but stops and returns false when `f` returns false.
    template <class F>
    bool forEachIf(F&& f) const {
        return visitWhile([&f](Node& node) { return static_cast<bool>(visit(f, node)); });
    }

private:
    // The core, which the first addition creates, is a doubly linked list with read-copy-update. A
    // running call skips newer callbacks, because their serial numbers are higher.
    //
    // Happens-before edges (proof: docs/algorithms/events.md):
    //   E1 link: link, unlink -> visitWhile.
    //   E2 newest: nextSerial -> visitWhile.
    //   E3 core: makeCore -> core.

    using Core = detail::CallbackCore<Callback, Threading>;
    using Node = detail::CallbackNode<Callback, Threading>;
    template <class T>
    using Atomic = typename detail::PlatformOf<Threading>::template Atomic<T>;

    struct AtEnd {
        Node* operator()(const Core&) const noexcept { return nullptr; }
    };

    Core* core() const noexcept { return core_.load(std::memory_order_acquire); }  // E3 core

    /// Calls visit(Node&) for each node. Stops and returns false when visit() returns false.
    template <class Visit>
    SLUICE_ALWAYS_INLINE bool visitWhile(Visit visit) const {
        Core* const own = core();
        if (own == nullptr) {
            return true;
        }
        const detail::Call<Threading> call(*own);
        const unsigned newest = currentCounter.load(std::memory_order_acquire);  // E2 newest
        // The loop uses only the core, because a callback may destroy the list.
        for (Node* node = own->first(); node != nullptr;
             node = node->next.load(std::memory_order_acquire)) {  // E1 link
            if (node->isPartOf(newest) && !visit(*node)) {
                return false;
            }
        }
        return true;
    }

    template <class F>
    static decltype(auto) visit(F& f, Node& node) {
        if constexpr (std::is_invocable_v<F&, Handle, Callback&>) {
            node.addReference();
            return f(Handle(&node), node.callback.get());
        } else {
            return f(node.callback.get());
        }
    }

    /// Adds a callback in front of the node that findAfter(core) returns, or at the end for null.
    template <class C, class FindAfter>
    Handle add(C&& callback, FindAfter findAfter, int priority = 0) {
        if (detail::isNull(callback)) {
            return Handle();
        }
        Core* const present = core();
        Core& own = present != nullptr ? *present : makeCore();
        Handle handle(new Node);
        handle.node_->callback.construct(std::forward<C>(callback));
        handle.node_->priority = priority;
        own.publish(*handle.node_, currentCounter, findAfter);
        return handle;
    }

    [[gnu::cold, gnu::noinline]] Core& makeCore() {
        Core* const made = new Core;
        Core* expected = nullptr;
        while (!core_.compare_exchange_weak(expected, made, std::memory_order_acq_rel,  // E3 core
                                            std::memory_order_acquire)) {
            if (expected != nullptr) {
                delete made;
                return *expected;
            }
        }
        return *made;
    }

    Atomic<Core*> core_{nullptr};  // null until the first callback is added

    // The newest serial number. Programs written for eventpp use the name currentCounter.
    // NOLINTNEXTLINE(readability-identifier-naming)
    typename Threading::template Atomic<unsigned> currentCounter{0};
};

namespace detail {

/// Names one callback of one list until the callback is removed. Like a std::weak_ptr, a handle
/// keeps a little memory allocated, but does not keep the callback alive.
///
/// Thread safety: one thread at a time may use a handle; each thread may have its own copy.
template <class Callback, class Threading>
class CallbackHandle {
    using Node = CallbackNode<Callback, Threading>;

public:
    CallbackHandle() noexcept = default;
    CallbackHandle(const CallbackHandle& other) noexcept : node_(other.node_) {
        if (node_ != nullptr) {
            node_->addReference();
        }
    }
    CallbackHandle(CallbackHandle&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    CallbackHandle& operator=(CallbackHandle other) noexcept {
        std::swap(node_, other.node_);
        return *this;
    }
    ~CallbackHandle() { reset(); }

    void reset() noexcept {
        if (node_ != nullptr) {
            std::exchange(node_, nullptr)->dropReference();
        }
    }

    [[nodiscard]] bool expired() const noexcept { return node_ == nullptr || node_->isRemoved(); }
    operator bool() const noexcept { return !expired(); }

    /// Returns this handle, or an empty handle if the callback has been removed.
    [[nodiscard]] CallbackHandle lock() const noexcept {
        return expired() ? CallbackHandle() : *this;
    }

    /// Removes the callback from its list. Returns false if the callback is already removed. During
    /// remove(), no other thread may destroy, move or swap the list.
    bool remove() const {
        return !expired() && node_->owner.load(std::memory_order_relaxed)->remove(*this);  // by E1
    }

    // The remaining interface of std::weak_ptr. libstdc++'s std::owner_less<> calls owner_before().

    template <class Other>
    bool owner_before(  // NOLINT(readability-identifier-naming)
        const CallbackHandle<Other, Threading>& other) const noexcept {
        return std::less<const void*>()(node_, other.node_);
    }
    long use_count() const noexcept {  // NOLINT(readability-identifier-naming)
        return expired() ? 0 : 1;
    }
    void swap(CallbackHandle& other) noexcept { std::swap(node_, other.node_); }

    friend bool operator==(const CallbackHandle& handle, std::nullptr_t) noexcept {
        return handle.expired();
    }
    friend bool operator!=(const CallbackHandle& handle, std::nullptr_t) noexcept {
        return !handle.expired();
    }
    friend bool operator==(const CallbackHandle& a, const CallbackHandle& b) noexcept {
        return a.node_ == b.node_;
    }
    friend bool operator!=(const CallbackHandle& a, const CallbackHandle& b) noexcept {
        return a.node_ != b.node_;
    }
    friend bool operator<(const CallbackHandle& a, const CallbackHandle& b) noexcept {
        return a.owner_before(b);
    }

private:
    template <class, class>
    friend class CallbackHandle;
    template <class, class>
    friend class sluice::CallbackList;
    friend class CallbackCore<Callback, Threading>;

    /// Takes over one reference.
    explicit CallbackHandle(Node* node) noexcept : node_(node) {}

    Node* node_ = nullptr;
};

template <class Callback, class Threading>
struct CallbackNode : Retired {
    using Platform = PlatformOf<Threading>;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

    /// The serial of a node that is in no list.
    static constexpr unsigned removed = 0;
    /// The serial of a node whose callback has been destroyed.
    static constexpr unsigned gone = std::numeric_limits<unsigned>::max();

    // The first members are those that calls of the list read.
    Atomic<CallbackNode*> next{nullptr};
    Atomic<unsigned> serial{removed};
    Atomic<unsigned> references{1};
    typename Platform::template Cell<Callback> callback;

    // Written only under the lock of the list that owns the node.
    CallbackNode* previous = nullptr;
    Atomic<CallbackCore<Callback, Threading>*> owner{nullptr};
    int priority = 0;

    static constexpr bool isListed(unsigned serial) noexcept {
        return serial != removed && serial != gone;
    }
    // Relaxed by E1.
    bool isRemoved() const noexcept { return !isListed(serial.load(std::memory_order_relaxed)); }
    bool isPartOf(unsigned newest) const noexcept {
        const unsigned own = serial.load(std::memory_order_relaxed);
        return own != removed && own <= newest;
    }

    void addReference() noexcept {
        references.fetch_add(1U, std::memory_order_relaxed);  // value only
    }
    /// Release and acquire, so that all uses of the node happen before its deletion.
    void dropReference() noexcept {
        if (references.fetch_sub(1U, std::memory_order_acq_rel) == 1) {
            destroy(*this);
        }
    }
    /// Not inlined, because with SingleThreading g++ would warn about a use of a freed node.
    [[gnu::noinline]] static void destroy(CallbackNode& node) noexcept { delete &node; }

    static void end(Retired& base) noexcept {
        auto& node = static_cast<CallbackNode&>(base);
        node.callback.destroy();
        // Release: a thread that reads `gone` also sees the destructor's writes.
        node.serial.store(gone, std::memory_order_release);
        node.dropReference();
    }
};

/// The core of a CallbackList, which owns the nodes. Running calls keep the core alive.
template <class Callback, class Threading>
class CallbackCore : public RetireList<Threading> {
    using Node = CallbackNode<Callback, Threading>;
    using Handle = CallbackHandle<Callback, Threading>;
    using typename RetireList<Threading>::Guard;
    using Counter = typename Threading::template Atomic<unsigned>;
    template <class T>
    using Atomic = typename PlatformOf<Threading>::template Atomic<T>;

public:
    Node* first() const noexcept { return first_.load(std::memory_order_acquire); }  // E1 link

    template <class FindAfter>
    void publish(Node& node, Counter& newest, FindAfter findAfter) {
        node.addReference();  // the list's
        node.free = &Node::end;
        const Guard guard(this->lock);
        link(node, newest, findAfter(std::as_const(*this)));
    }

    /// Under the lock: returns the node after the last node with at least this priority, or null.
    Node* firstBelow(int priority) const noexcept {
        Node* after = nullptr;
        for (Node* node = last_; node != nullptr && node->priority < priority;
             node = node->previous) {
            after = node;
        }
        return after;
    }

    /// Under the lock, because other threads could remove the node.
    bool holds(const Node* node) const noexcept { return wasHere(node) && !node->isRemoved(); }

    bool ownsHandle(const Handle& handle) const noexcept {
        const Guard guard(this->lock);
        return holds(handle.node_);
    }

    bool remove(const Handle& handle) noexcept {
        Node* const node = handle.node_;
        {
            const Guard guard(this->lock);
            if (!holds(node)) {
                return false;
            }
            unlink(*node);
        }
        retire(*node);
        return true;
    }

    bool removeAndWait(const Handle& handle) noexcept {
        const Handle kept = handle;  // a copy, because the callback may own `handle`
        Node* const node = kept.node_;
        const bool isOwnCall = this->readers.isInside();
        bool isRemoved = false;
        {
            const Guard guard(this->lock);
            isRemoved = holds(node);
            if (isRemoved) {
                unlink(*node);
                if (isOwnCall) {
                    this->add(guard, *node);  // freed by this thread's outermost call
                    this->makeDue(guard);
                }
            }
        }
        this->readers.waitForOthers();
        if (!isOwnCall) {
            if (isRemoved) {
                Freeing::free(*node);
            } else if (wasHere(node)) {
                awaitEnd(*node);
            }
        }
        return isRemoved;
    }

    void clear() noexcept {
        {
            const Guard guard(this->lock);
            retireAll(guard);
        }
        if (!this->readers.isInside()) {
            this->collect();
        }
    }

    /// Called by the list's destructor, while no other thread calls the list.
    [[gnu::cold, gnu::noinline]] void end() noexcept {
        // Replaces `free`, because the old function may be in an unloaded shared library.
        this->free = [](Retired& core) { delete static_cast<CallbackCore*>(&core); };
        {
            const Guard guard(this->lock);
            retireAll(guard);
            if (this->readers.isInside()) {
                this->add(guard, *this);
                return;
            }
        }
        Freeing::freeAll(this->takeAll());
        this->drop();
    }

private:
    /// Links `node` in front of `after`, or at the end for null. Not inlined, to shorten publish().
    [[gnu::noinline]] void link(Node& node, Counter& newest, Node* after) noexcept {
        Node* const before = after != nullptr ? after->previous : last_;
        node.previous = before;
        node.next.store(after, std::memory_order_relaxed);  // by E1
        node.owner.store(this, std::memory_order_relaxed);
        node.serial.store(nextSerial(newest), std::memory_order_relaxed);
        (after != nullptr ? after->previous : last_) = &node;
        // E1 link
        (before != nullptr ? before->next : first_).store(&node, std::memory_order_release);
    }

    void unlink(Node& node) noexcept {
        node.serial.store(Node::removed, std::memory_order_relaxed);  // value only
        Node* const after = node.next.load(std::memory_order_relaxed);
        Node* const before = node.previous;
        (after != nullptr ? after->previous : last_) = before;
        // E1 link
        (before != nullptr ? before->next : first_).store(after, std::memory_order_release);
    }

    /// Unlinks all nodes and makes their destruction due.
    [[gnu::noinline]] void retireAll(const Guard& guard) noexcept {
        // Running calls still follow the `next` of unlinked nodes. Relaxed: under the lock.
        for (Node* node = first_.load(std::memory_order_relaxed); node != nullptr;
             node = node->next.load(std::memory_order_relaxed)) {
            node->serial.store(Node::removed, std::memory_order_relaxed);
            this->add(guard, *node);
        }
        first_.store(nullptr, std::memory_order_release);
        last_ = nullptr;
        this->makeDue(guard);
    }

    [[gnu::noinline]] void retire(Node& node) noexcept {
        const bool isInside = this->readers.isInside();
        // Frees `node` directly, perhaps before a node that another thread began to remove earlier.
        if (!this->hasAny() && !isInside && this->readers.isAlone()) {
            Freeing::free(node);
            return;
        }
        {
            const Guard guard(this->lock);
            this->add(guard, node);
        }
        if (!isInside) {
            this->collect();
        }
    }

    bool wasHere(const Node* node) const noexcept {
        return node != nullptr &&
               node->owner.load(std::memory_order_relaxed) == this;  // value only
    }

    /// Waits until a removed callback is destroyed, except inside the callback's destructor.
    void awaitEnd(const Node& node) noexcept {
        this->addUser();
        BasicBackoff<PlatformOf<Threading>> backoff;
        // Acquire: makes the destructor's writes visible.
        while (node.serial.load(std::memory_order_acquire) != Node::gone &&
               !Freeing::isRunning(node)) {
            {
                const Guard guard(this->lock);
                this->makeDue(guard);
            }
            this->collect();
            backoff.wait();
        }
        this->drop();
    }

    /// On overflow, all callbacks receive serial 1, so running calls also call the new callback.
    unsigned nextSerial(Counter& newest) noexcept {
        unsigned serial = newest.load(std::memory_order_relaxed) + 1;  // under the lock
        if (!Node::isListed(serial)) {
            serial = 1;
            for (Node* node = first_.load(std::memory_order_relaxed); node != nullptr;
                 node = node->next.load(std::memory_order_relaxed)) {
                node->serial.store(serial, std::memory_order_relaxed);  // by E2
            }
        }
        newest.store(serial, std::memory_order_release);  // E2 newest
        return serial;
    }

    Atomic<Node*> first_{nullptr};
    Node* last_ = nullptr;
};

}  // namespace detail
}  // namespace sluice
