#pragma once

#include <utility>

namespace sluice {

/// Removes one listener when it goes out of scope.
///
///     sluice::ScopedConnection connection(dispatcher.appendListener(3, onThree));
///
/// Use it for one listener, as a member of the object that the listener uses. Use ScopedRemover for
/// all the listeners that a part of a program adds to one dispatcher.
///
/// It needs no reference to the list, and may outlive it. It must not be destroyed while another
/// thread destroys, moves or swaps the list. It does not wait for a call that is running on another
/// thread: see removeAndWait(). One thread at a time uses it.
template <class Handle>
class [[nodiscard]] ScopedConnection {
public:
    ScopedConnection() noexcept = default;
    explicit ScopedConnection(Handle handle) noexcept : handle_(std::move(handle)) {}
    ScopedConnection(ScopedConnection&& other) noexcept
        : handle_(std::exchange(other.handle_, Handle())) {}
    ScopedConnection& operator=(ScopedConnection other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~ScopedConnection() { (void)disconnect(); }

    /// Removes the listener now. Returns false if it was removed before.
    bool disconnect() { return std::exchange(handle_, Handle()).remove(); }

    /// Keeps the listener in the list, and returns its handle. This object is then empty.
    [[nodiscard]] Handle release() noexcept { return std::exchange(handle_, Handle()); }

    [[nodiscard]] const Handle& handle() const noexcept { return handle_; }

private:
    Handle handle_;
};

}  // namespace sluice
