#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace [[gnu::visibility("default")]] sluice {

namespace detail {

/// Returns true if buildAt<T>(storage, args...) cannot throw.
template <class T, class... Args>
constexpr bool nothrowBuildable() noexcept {
    if constexpr (std::is_constructible_v<T, Args&&...>) {
        return std::is_nothrow_constructible_v<T, Args&&...>;
    } else {
        return noexcept(T{std::declval<Args>()...});
    }
}

/// Builds a T in raw storage: T(args...), or T{args...} for an aggregate without such a
/// constructor, which messages often are.
template <class T, class... Args>
T& buildAt(void* storage, Args&&... args) noexcept(nothrowBuildable<T, Args...>()) {
    if constexpr (std::is_constructible_v<T, Args&&...>) {
        return *::new (storage) T(std::forward<Args>(args)...);
    } else {
        return *::new (storage) T{std::forward<Args>(args)...};
    }
}

}  // namespace detail

/// Raw, aligned storage for one T. The owner knows whether a T lives in it; the Cell does not.
///
/// Use it for the slots of a ring or a pool. Use std::optional unless its state byte matters.
///
/// A Cell is trivially constructible and destructible, so an array of static Cells lies in .bss. A
/// class that holds an array of Cells has a constexpr constructor if the array is in a union with
/// an initialised `char`.
template <class T>
class Cell {
    static_assert(std::is_object_v<T> && !std::is_array_v<T>, "Cell<T>: T must be a single object");
    static_assert(std::is_same_v<T, std::remove_cv_t<T>>, "Cell<T>: T must not be const/volatile");

public:
    Cell() = default;
    Cell(const Cell&) = delete;
    Cell& operator=(const Cell&) = delete;

    /// Builds a T in the empty Cell, which stays empty if the constructor throws. See buildAt().
    template <class... Args>
    T& construct(Args&&... args) noexcept(detail::nothrowBuildable<T, Args...>()) {
        return detail::buildAt<T>(storage_, std::forward<Args>(args)...);
    }

    /// The T that lives here. Undefined if there is none.
    T& get() noexcept { return *std::launder(reinterpret_cast<T*>(storage_)); }
    const T& get() const noexcept { return *std::launder(reinterpret_cast<const T*>(storage_)); }

    /// Destroys the T that lives here.
    void destroy() noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            get().~T();
        }
    }

    /// Destroys the T, and writes into its cache lines, so that only this processor has them. Call
    /// it before another thread constructs the next T here: the line then moves back as a whole and
    /// can be prefetched. Measured: docs/decisions/rings.md. A T of more than four lines writes
    /// only the first one.
    void destroyAndOwnLines() noexcept {
        destroy();
        volatile unsigned char* const bytes = storage_;  // volatile: no thread reads these bytes
        constexpr std::size_t last = sizeof(T) <= 4 * lineSize ? sizeof(T) - lastPart : 0;
        for (std::size_t i = 0; i < last; i += lineSize) {
            bytes[i] = 0;
        }
        bytes[last] = 0;
    }

private:
    static constexpr std::size_t lineSize = 64;  // larger lines get more stores than needed
    // The number of bytes at the end of a T that are certainly in one line.
    static constexpr std::size_t lastPart = alignof(T) < lineSize ? alignof(T) : lineSize;

    alignas(T) unsigned char storage_[sizeof(T)];
};

}  // namespace sluice
