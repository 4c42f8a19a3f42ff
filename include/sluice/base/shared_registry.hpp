#pragma once

#include <atomic>
#include <cstddef>

namespace [[gnu::visibility("default")]] sluice {
namespace detail {

/// A reference-counted registry that may outlive its owner. The owner and each thread with a slot
/// are users; the last user's dropUser() destroys the registry.
template <class Registry, class Platform>
class SharedRegistry {
public:
    /// A thread may use an abandoned registry until the thread calls dropUser().
    [[nodiscard]] bool isAbandoned() const noexcept {
        return isAbandoned_.load(std::memory_order_relaxed);  // value only
    }

protected:
    ~SharedRegistry() = default;

    /// The owner calls markAbandoned() before its dropUser().
    void markAbandoned() noexcept { isAbandoned_.store(true, std::memory_order_relaxed); }

    void addUser() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }  // value only
    void dropUser() noexcept {
        // The last user must see all other users' writes before it destroys the registry.
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
