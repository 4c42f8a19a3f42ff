#pragma once

#include <sluice/event/detail/list/callback_node.hpp>

#include <cstddef>
#include <functional>
#include <utility>

namespace sluice::detail {

/// Names one callback of one list. It is true while the callback is in the list. A program may
/// keep, copy and use it after the end of the callback or the list. Like a std::weak_ptr, it keeps
/// the memory of the node, but not the callback.
///
/// Threads: one thread at a time uses a handle; each thread may use a copy of its own. Copying
/// costs one atomic increment.
template <class Node>
class CallbackHandle {
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

    /// Returns this handle, or an empty one if the callback has been removed.
    [[nodiscard]] CallbackHandle lock() const noexcept {
        return expired() ? CallbackHandle() : *this;
    }

    /// Removes the callback from its list. Returns false if it has been removed before. Any thread
    /// may call it, but not while another thread destroys, moves or swaps the list.
    bool remove() const {
        return !expired() && node_->owner.load(std::memory_order_relaxed)->remove(*this);
    }

    // The rest of std::weak_ptr's vocabulary; std::owner_less<> orders handles.

    template <class Other>
    bool owner_before(  // NOLINT(readability-identifier-naming)
        const CallbackHandle<Other>& other) const noexcept {
        return std::less<const void*>()(node_, other.node_);
    }
    /// 1 while the callback is in the list, otherwise 0.
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

private:
    template <class Other>
    friend class CallbackHandle;
    template <class Callback, class Threading>
    friend class CallbackChain;
    template <class Callback, class Threading>
    friend class ChainCore;

    /// Takes over one reference.
    explicit CallbackHandle(Node* node) noexcept : node_(node) {}

    Node* node_ = nullptr;
};

}  // namespace sluice::detail
