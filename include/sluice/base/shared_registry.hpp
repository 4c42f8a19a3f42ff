#pragma once

#include <atomic>
#include <cstddef>

namespace [[gnu::visibility("default")]] sluice {
namespace detail {

/// A reference-counted registry that threads may use after its owner has gone. Its users are the
/// owner and each thread with a slot; the last user to leave destroys it.
template <class Registry, class Platform>
class SharedRegistry {
public:
    /// Returns true if the owner has gone. Relaxed: a thread that misses the end uses the registry
    /// a little longer, which is safe until its own dropUser().
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
        // Release and acquire, so that the work of all users happens before the destruction.
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
