#pragma once

#include <cstddef>
#include <utility>
#include <variant>

namespace sluice::detail {

/// Names one callback of one heterogeneous list. For the rest see CallbackHandle.
///
/// `index` is the position of the callback's prototype, -1 in an empty handle. A handle whose index
/// was changed names nothing.
template <class... Handles>
class HeterHandle {
public:
    int index = -1;

    HeterHandle() noexcept = default;

    template <std::size_t I, class Handle>
    HeterHandle(std::in_place_index_t<I> place, Handle handle) noexcept
        : index(handle ? static_cast<int>(I) : -1), handle_(place, std::move(handle)) {}

    [[nodiscard]] bool expired() const noexcept {
        return std::visit([](const auto& handle) { return handle.expired(); }, handle_);
    }
    operator bool() const noexcept { return !expired(); }

    /// Returns this handle, or an empty one if the callback has been removed.
    [[nodiscard]] HeterHandle lock() const noexcept { return expired() ? HeterHandle() : *this; }

    void reset() noexcept { *this = HeterHandle(); }

    /// Removes the callback from its list. See CallbackHandle::remove().
    bool remove() const {
        return std::visit([](const auto& handle) { return handle.remove(); }, handle_);
    }

    /// The handle in the list of prototype I. Null if the callback has another prototype.
    template <std::size_t I>
    const auto* of() const noexcept {
        const auto* const handle = std::get_if<I>(&handle_);
        return index == static_cast<int>(I) ? handle : nullptr;
    }

    friend bool operator==(const HeterHandle& a, const HeterHandle& b) noexcept {
        return a.handle_ == b.handle_;
    }
    friend bool operator!=(const HeterHandle& a, const HeterHandle& b) noexcept {
        return a.handle_ != b.handle_;
    }

private:
    std::variant<Handles...> handle_;
};

}  // namespace sluice::detail
