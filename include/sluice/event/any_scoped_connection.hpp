#pragma once

#include <sluice/event/scoped_connection.hpp>
#include <sluice/fixed/fixed_function.hpp>

#include <type_traits>
#include <utility>

namespace sluice {

/// A ScopedConnection of any list, dispatcher or queue. So a class can have a member of this type
/// without naming the list.
///
///     class Display {
///         sluice::AnyScopedConnection onChange_{model().changes.append([this] { draw(); })};
///     };
///
/// Threads and end: as ScopedConnection. It never allocates.
class [[nodiscard]] AnyScopedConnection {
public:
    AnyScopedConnection() noexcept = default;
    template <class Handle,
              class = std::enable_if_t<!std::is_same_v<std::decay_t<Handle>, AnyScopedConnection>>>
    AnyScopedConnection(Handle&& handle)
        : disconnect_([connection = ScopedConnection(std::decay_t<Handle>(std::forward<Handle>(
                           handle)))]() mutable { return connection.disconnect(); }) {}

    AnyScopedConnection(AnyScopedConnection&&) noexcept = default;
    AnyScopedConnection& operator=(AnyScopedConnection&&) noexcept = default;
    ~AnyScopedConnection() = default;  // its ScopedConnection removes the listener

    /// Removes the listener now. Returns false if it was removed before, or if there is none.
    bool disconnect() {
        FixedFunction<bool()> last(std::move(disconnect_));  // last() may destroy this object
        return last != nullptr && last();
    }

private:
    FixedFunction<bool()> disconnect_;
};

}  // namespace sluice
