#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace sluice::detail {

/// The handles of the listeners that a ScopedRemover has added.
template <class Handle, class Mutex>
class ScopedListeners {
public:
    ScopedListeners() = default;
    ScopedListeners(const ScopedListeners&) = delete;
    ScopedListeners& operator=(const ScopedListeners&) = delete;
    ~ScopedListeners() = default;

    /// If it throws, the handle is not kept.
    void keep(const Handle& handle) {
        const std::lock_guard<Mutex> guard(mutex_);
        // Drops the handles of removed listeners before the memory grows.
        if (handles_.size() == handles_.capacity()) {
            handles_.erase(std::remove_if(handles_.begin(), handles_.end(),
                                          [](const Handle& kept) { return kept.expired(); }),
                           handles_.end());
        }
        handles_.push_back(handle);
    }

    [[nodiscard]] bool holds(const Handle& handle) {
        const std::lock_guard<Mutex> guard(mutex_);
        return std::find(handles_.begin(), handles_.end(), handle) != handles_.end();
    }

    /// Removes all listeners, also if they were moved to another list. It holds no lock, because
    /// their destructors are foreign code.
    void removeAll() {
        for (const Handle& handle : takeAll()) {
            handle.remove();
        }
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return handles_.capacity(); }

    /// No other thread may use either object.
    void swap(ScopedListeners& other) noexcept { handles_.swap(other.handles_); }

private:
    std::vector<Handle> takeAll() {
        const std::lock_guard<Mutex> guard(mutex_);
        return std::exchange(handles_, {});
    }

    Mutex mutex_;
    std::vector<Handle> handles_;
};

}  // namespace sluice::detail
