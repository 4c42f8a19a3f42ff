#pragma once

#include <sluice/event/detail/listener_target.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace sluice::detail {

/// The listeners that a ScopedRemover has added to one target. Listeners are removed outside of the
/// lock, as their destructors are foreign code.
template <class Target>
class ScopedListeners {
public:
    using Handle = typename Target::Handle;
    using Key = ListenerKey<Target>;

    ScopedListeners() = default;
    ScopedListeners(const ScopedListeners&) = delete;
    ScopedListeners& operator=(const ScopedListeners&) = delete;
    ~ScopedListeners() = default;

    /// Nothing is kept when it throws.
    void keep(const Key& key, const Handle& handle) {
        const std::lock_guard<Mutex> guard(mutex_);
        // Listeners that are gone are forgotten before the memory grows.
        if (listeners_.size() == listeners_.capacity()) {
            listeners_.erase(
                std::remove_if(listeners_.begin(), listeners_.end(),
                               [](const Listener& listener) { return !isAlive(listener); }),
                listeners_.end());
        }
        listeners_.push_back({key, handle});
    }

    /// False when the handle is none of these listeners', or the key another one.
    bool remove(Target& target, const Key& key, const Handle& handle) {
        return static_cast<bool>(handle) && holds(handle) && removeFrom(target, key, handle);
    }

    /// A target that is gone took its listeners with it; then it is not touched.
    void removeAll(Target& target) {
        for (const Listener& listener : takeAll()) {
            if (isAlive(listener)) {
                removeFrom(target, listener.key, listener.handle);
            }
        }
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return listeners_.capacity(); }

    /// Not while others use either.
    void swap(ScopedListeners& other) noexcept { listeners_.swap(other.listeners_); }

private:
    using Mutex = typename Target::Mutex;

    struct Listener {
        Key key;
        Handle handle;
    };
    using Listeners = std::vector<Listener>;

    static bool isAlive(const Listener& listener) noexcept {
        return static_cast<bool>(listener.handle);
    }

    bool holds(const Handle& handle) {
        const std::lock_guard<Mutex> guard(mutex_);
        return std::any_of(
            listeners_.begin(), listeners_.end(),
            [&handle](const Listener& listener) { return listener.handle == handle; });
    }

    Listeners takeAll() {
        const std::lock_guard<Mutex> guard(mutex_);
        return std::exchange(listeners_, {});
    }

    Mutex mutex_;
    Listeners listeners_;
};

}  // namespace sluice::detail
