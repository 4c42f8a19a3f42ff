#pragma once

#include <sluice/fixed/fixed_function.hpp>

#include <type_traits>
#include <utility>

namespace sluice {

/// Removes one listener in the destructor of the ScopedConnection.
///
///     sluice::ScopedConnection connection(dispatcher.appendListener(3, onThree));
///
/// Make the connection a member of the object that listens. Use ScopedRemover for many listeners.
///
/// A ScopedConnection may outlive the list. Only one thread at a time may use a ScopedConnection.
/// Do not destroy the connection while another thread destroys, moves or swaps the list. The
/// destructor does not wait for a listener that runs on another thread: see removeAndWait().
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

    /// Removes the listener. Returns false if the listener is already removed.
    bool disconnect() { return std::exchange(handle_, Handle()).remove(); }

    /// Empties this object and returns the handle of the listener, which stays in the list.
    [[nodiscard]] Handle release() noexcept { return std::exchange(handle_, Handle()); }

    [[nodiscard]] const Handle& handle() const noexcept { return handle_; }

private:
    Handle handle_;
};

/// A ScopedConnection for any list, dispatcher or queue, independent of the handle's type.
///
///     class Display {
///         sluice::AnyScopedConnection onChange_{model().changes.append([this] { draw(); })};
///     };
///
/// Thread safety and lifetime are those of ScopedConnection. Never allocates memory.
class [[nodiscard]] AnyScopedConnection {
public:
    AnyScopedConnection() noexcept = default;
    template <class Handle,
              class = std::enable_if_t<!std::is_same_v<std::decay_t<Handle>, AnyScopedConnection>>>
    AnyScopedConnection(Handle&& handle)
        : disconnect_([connection = ScopedConnection(std::decay_t<Handle>(std::forward<Handle>(
                           handle)))]() mutable { return connection.disconnect(); }) {}

    /// Removes the listener. Returns false if there is no listener, or if it is already removed.
    bool disconnect() {
        FixedFunction<bool()> last(std::move(disconnect_));  // last() may destroy this object
        return last != nullptr && last();
    }

private:
    FixedFunction<bool()> disconnect_;
};

}  // namespace sluice
