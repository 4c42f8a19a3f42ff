#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/event/detail/utility/listener_target.hpp>
#include <sluice/event/detail/utility/scoped_listeners.hpp>

#include <type_traits>
#include <utility>

namespace sluice {

/// Removes the listeners that it added when it goes.
///
/// Purpose: a member beside the things its owner's listeners use, so that none of them outlives the
/// owner. It adds listeners with the functions of its target, a CallbackList, EventDispatcher,
/// EventQueue or heterogeneous form.
///
/// Threads: adding, removing and reset(), any thread, also from a listener; the rest, one
/// thread while nobody else uses the remover. A target may go first: its listeners go with it, and
/// the remover does not touch it any more. Listeners that moved to another target with the rest of
/// it are removed from there. Not while another thread destroys, moves or swaps the target.
///
/// Errors: those of adding, nothing is added then. Adding without a target is misuse: debug
/// builds end, others return an empty handle. Progress: a lock of the target's kind for a few
/// instructions; no listener is called or destroyed under it. Cost: one entry for each listener;
/// removing a single one is linear in their number. Entries of listeners that are gone are
/// dropped before the memory grows.
///
/// Tests: tests/unit/event/scoped_remover_test.cpp.
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

    /// Takes the listeners of the other one, which keeps its target.
    ScopedRemover(ScopedRemover&& other) noexcept : target_(other.target_) {
        listeners_.swap(other.listeners_);
    }
    /// The same, after its own listeners were removed.
    ScopedRemover& operator=(ScopedRemover&& other) noexcept {
        if (this != &other) {
            reset();
            target_ = other.target_;
            listeners_.swap(other.listeners_);
        }
        return *this;
    }

    ~ScopedRemover() { reset(); }

    void swap(ScopedRemover& other) noexcept {
        std::swap(target_, other.target_);
        listeners_.swap(other.listeners_);
    }
    friend void swap(ScopedRemover& a, ScopedRemover& b) noexcept { a.swap(b); }

    /// Removes all listeners that were added here. The target stays.
    void reset() { listeners_.removeAll(); }

    /// Another target; if it is a different one, the listeners in the old one are removed.
    template <class T = Target, IfDispatcher<T> = 0>
    void setDispatcher(Target& dispatcher) {
        setTarget(dispatcher);
    }
    template <class T = Target, IfCallbackList<T> = 0>
    void setCallbackList(Target& list) {
        setTarget(list);
    }

    /// Removes a listener that was added here. False for any other one, and for a wrong event.
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
            reset();
            target_ = &target;
        }
    }

    /// A listener that is alive has a target that is, too.
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

    /// Removes a listener that could not be noted.
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
