#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/eventpp/detail/utility/listener_target.hpp>
#include <sluice/eventpp/detail/utility/scoped_listeners.hpp>

#include <type_traits>
#include <utility>

namespace sluice {

/// Removes the listeners that it has added, when it is destroyed.
///
///     class Display {
///         sluice::ScopedRemover<Dispatcher> listeners_{dispatcher};  // the last member
///         Display() { listeners_.appendListener(3, [this](int value) { show(value); }); }
///     };
///
/// Purpose: as a member of an object, it removes the object's listeners before its other members
/// are destroyed. It does not wait for a listener that runs on another thread; removeAndWait() of
/// the target waits. It adds listeners with the functions of its target, a CallbackList,
/// EventDispatcher, EventQueue or heterogeneous form.
///
/// Threads: any thread adds, removes and calls reset(), also from a listener. One thread calls the
/// other members while no other thread uses the remover. The target may be destroyed first: then
/// the remover does not use it any more. If the listeners were moved to another target, the remover
/// removes them from there. No other thread may destroy, move or swap the target during a call.
///
/// Errors: if adding throws, nothing is added. Adding without a target is misuse: debug builds end
/// the program with a message, others return an empty handle. Progress: a lock of the target's kind
/// is held for a few instructions; no listener is called or destroyed under it. Cost: one entry for
/// each listener. Removing a single listener is linear in their number. It drops the entries of
/// removed listeners before the memory grows.
///
/// Tests: tests/unit/eventpp/scoped_remover_test.cpp.
template <class Target>
class ScopedRemover : public detail::Adders<ScopedRemover<Target>, Target> {
    using Base = detail::Adders<ScopedRemover, Target>;
    friend Base;

    template <class T>
    using IfDispatcher = std::enable_if_t<detail::isDispatcher<T>, int>;
    template <class T>
    using IfCallbackList = std::enable_if_t<!detail::isDispatcher<T>, int>;

public:
    using Handle = typename Target::Handle;

    ScopedRemover() = default;
    explicit ScopedRemover(Target& target) noexcept : target_(&target) {}

    /// Takes the listeners of the other remover, which keeps its target.
    ScopedRemover(ScopedRemover&& other) noexcept : target_(other.target_) {
        listeners_.swap(other.listeners_);
    }
    /// Removes its own listeners, and takes those of the other remover.
    ScopedRemover& operator=(ScopedRemover&& other) noexcept {
        ScopedRemover(std::move(other)).swap(*this);
        return *this;
    }

    ~ScopedRemover() { reset(); }

    void swap(ScopedRemover& other) noexcept {
        std::swap(target_, other.target_);
        listeners_.swap(other.listeners_);
    }
    friend void swap(ScopedRemover& a, ScopedRemover& b) noexcept { a.swap(b); }

    /// Removes all listeners that were added here, and keeps the target.
    void reset() { listeners_.removeAll(); }

    /// Sets the target. If it is another one than before, the listeners in the old one are removed.
    template <class T = Target, IfDispatcher<T> = 0>
    void setDispatcher(Target& dispatcher) {
        setTarget(dispatcher);
    }
    template <class T = Target, IfCallbackList<T> = 0>
    void setCallbackList(Target& list) {
        setTarget(list);
    }

    /// Removes a listener that was added here. Returns false for any other listener, and for a
    /// wrong event.
    template <class T = Target, IfDispatcher<T> = 0>
    bool removeListener(const typename T::Event& event, const Handle& handle) {
        return isOwn(handle) && target_->removeListener(event, handle);
    }
    template <class T = Target, IfCallbackList<T> = 0>
    bool remove(const Handle& handle) {
        return isOwn(handle) && target_->remove(handle);
    }

private:
    void setTarget(Target& target) {
        if (target_ != &target) {
            target_ = &target;
            reset();  // a listener's destructor may destroy this object
        }
    }

    /// The target of an expired handle may have been destroyed.
    bool isOwn(const Handle& handle) { return !handle.expired() && listeners_.holds(handle); }

    template <class Put, class Listener>
    Handle add(const Put& put, Listener&& listener) {
        SLUICE_ASSERT(target_ != nullptr, "this ScopedRemover has no target: set one first");
        if (target_ == nullptr) {
            return Handle();
        }
        Handle handle = put(*target_, std::forward<Listener>(listener));
        Undo undo{handle};
        listeners_.keep(handle);
        undo.isNeeded = false;
        return handle;
    }

    /// Removes the listener if keep() throws.
    struct Undo {
        const Handle& handle;
        bool isNeeded = true;

        ~Undo() {
            if (isNeeded) {
                handle.remove();
            }
        }
    };

    Target* target_ = nullptr;
    detail::ScopedListeners<Handle, typename Target::Mutex> listeners_;
};

}  // namespace sluice
