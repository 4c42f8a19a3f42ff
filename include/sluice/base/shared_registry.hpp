#pragma once

#include <atomic>
#include <cstddef>

namespace [[gnu::visibility("default")]] sluice {
namespace detail {

/// A reference-counted registry that threads may use after its owner has gone. Users of a registry
/// are its owner and each thread with a slot. The last user destroys it.
template <class Registry, class Platform>
class SharedRegistry {
public:
    /// Returns true if the owner has gone. Relaxed: a thread that reads an old value uses the
    /// registry a little longer, and dropUser() orders the thread's work.
    [[nodiscard]] bool isAbandoned() const noexcept {
        return isAbandoned_.load(std::memory_order_relaxed);
    }

protected:
    ~SharedRegistry() = default;

    /// The owner calls markAbandoned() before its dropUser(). Relaxed: see isAbandoned().
    void markAbandoned() noexcept { isAbandoned_.store(true, std::memory_order_relaxed); }

    void addUser() noexcept {
        users_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller is a user already
    }
    void dropUser() noexcept {
        // Release and acquire, so that all users' work happens before the registry's destruction.
        if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete static_cast<Registry*>(this);
        }
    }

private:
    typename Platform::template Atomic<std::size_t> users_{1};
    typename Platform::template Atomic<bool> isAbandoned_{false};
};

}  // namespace detail
}  // namespace sluice
