#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace [[gnu::visibility("default")]] sluice {

namespace detail {

/// Whether buildAt<T>(place, args...) cannot throw.
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
T& buildAt(void* place, Args&&... args) noexcept(nothrowBuildable<T, Args...>()) {
    if constexpr (std::is_constructible_v<T, Args&&...>) {
        return *::new (place) T(std::forward<Args>(args)...);
    } else {
        return *::new (place) T{std::forward<Args>(args)...};
    }
}

}  // namespace detail

/// Raw storage for one T, correctly aligned also for over-aligned types, which does not remember
/// whether a T lives in it: the owner does.
///
/// Use it for the slots of a ring or a pool. Use std::optional when one byte for the state does not
/// matter.
///
/// A Cell is trivially constructible and destructible: leaving it uninitialised costs nothing, an
/// array of Cells of static storage duration lies in .bss, and a T that still lives in a Cell when
/// the Cell goes away is not destroyed. Copying the Cell itself would copy bytes, not a T, and is
/// therefore forbidden. A Cell adds no synchronisation of its own.
///
/// A class that holds an array of Cells and wants a constexpr constructor (so that its statics are
/// ready before any dynamic initialisation) puts the array into a union next to a `char` and
/// initialises the `char`.
template <class T>
class Cell {
    static_assert(std::is_object_v<T> && !std::is_array_v<T>, "Cell<T>: T must be a single object");
    static_assert(std::is_same_v<T, std::remove_cv_t<T>>, "Cell<T>: T must not be const/volatile");

public:
    Cell() = default;
    Cell(const Cell&) = delete;
    Cell& operator=(const Cell&) = delete;

    /// Builds a T; none may live here yet. Arguments are forwarded as T(args...), or as T{args...}
    /// for an aggregate that has no such constructor. If that throws, no T lives here.
    template <class... Args>
    T& construct(Args&&... args) noexcept(detail::nothrowBuildable<T, Args...>()) {
        return detail::buildAt<T>(storage_, std::forward<Args>(args)...);
    }

    /// The T that lives here. Undefined when there is none.
    T& get() noexcept { return *std::launder(reinterpret_cast<T*>(storage_)); }
    const T& get() const noexcept { return *std::launder(reinterpret_cast<const T*>(storage_)); }

    /// Ends the life of the T that lives here; costs nothing for trivially destructible types.
    void destroy() noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            get().~T();
        }
    }

    /// Writes into the cache lines of a Cell in which no T lives any more, so that they belong to
    /// the caller's processor alone. To be called by the thread that has read the T, before
    /// another one constructs the next T here.
    ///
    /// Why: a line that one processor has written and another one has read is in both caches. The
    /// next write then waits for the right to write, and no prefetch shortens that. A line that the
    /// reader has written travels back whole, and the processor fetches it ahead. Measured:
    /// docs/decisions/rings.md. Cost: two stores up to 65 bytes, one more for each further line; of
    /// a larger T than four lines, the first line alone, since messages of several types may share
    /// the Cell and the small ones use no more.
    void ownLines() noexcept {
        volatile unsigned char* const bytes = storage_;  // volatile: no thread reads these bytes
        bytes[0] = 0;
        if constexpr (sizeof(T) > 1 && sizeof(T) <= 4 * lineSize) {
            for (std::size_t i = lineSize; i < sizeof(T) - 1; i += lineSize) {
                bytes[i] = 0;
            }
            bytes[sizeof(T) - 1] = 0;
        }
    }

private:
    static constexpr std::size_t lineSize = 64;  // in larger lines it writes more often than needed

    alignas(T) unsigned char storage_[sizeof(T)];
};

}  // namespace sluice
