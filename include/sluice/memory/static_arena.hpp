#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/cell.hpp>
#include <sluice/memory/detail/assertion_text.hpp>
#include <sluice/memory/detail/memory_checkers.hpp>
#include <sluice/memory/detail/unit_bitmap.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace sluice {

/// Builds objects at chosen offsets of a buffer that is part of the arena itself. It checks their
/// size, alignment and lifetime, and uses no heap. The arena may be a static variable, lie on the
/// stack, or be put into a section of its own by the linker.
///
///     static sluice::StaticArena<256> arena;
///     const auto order = arena.emplaceAt<Order, 0>(Order{4, 2.5});  // at the beginning
///     const auto price = arena.tryEmplace<double>(1.5);             // at the first free place
///
/// Use it if a few objects of different types must live in memory that you name. Use ObjectPool<T>
/// for many objects of one type, and for objects that threads share.
///
/// Threads: one thread at a time. The arena and its handles have no synchronisation. Threads may
/// share an object in an arena like any other object, but not its handle.
///
/// Units: the buffer is divided into units of Align bytes. An object begins at a unit and keeps all
/// units that it lies in until it is destroyed. The arena has one bit per unit, in every build, so
/// that the layout of an arena does not depend on NDEBUG.
///
/// Exceptions: those of the constructors; then the units are free again. Shutdown: all objects must
/// have been destroyed before their arena, which is asserted.
///
/// Tests: tests/unit/memory/static_arena_test.cpp.
template <std::size_t Bytes, std::size_t Align>
class StaticArena;

/// The only owner of one object in a StaticArena, or of nothing. It can be moved and not copied,
/// and is three pointers wide. It destroys its object exactly once, and gives the units back to the
/// arena.
template <class T>
class [[nodiscard]] Placed {
public:
    Placed() noexcept = default;
    Placed(Placed&& other) noexcept
        : object_(std::exchange(other.object_, nullptr)),
          arena_(other.arena_),
          release_(other.release_) {}
    Placed& operator=(Placed&& other) noexcept {
        if (this != &other) {
            const Placed old(std::move(*this));  // its object may own `other`
            object_ = std::exchange(other.object_, nullptr);
            arena_ = other.arena_;
            release_ = other.release_;
        }
        return *this;
    }
    Placed(const Placed&) = delete;
    Placed& operator=(const Placed&) = delete;
    ~Placed() { destroy(); }

    /// Destroys the object now, then gives its units back. Does nothing when there is no object.
    void destroy() noexcept {
        if (T* const object = std::exchange(object_, nullptr)) {
            // Read first, because the object may own this handle.
            const Release release = release_;
            void* const arena = arena_;
            object->~T();
            release(arena, object);
        }
    }

    [[nodiscard]] explicit operator bool() const noexcept { return object_ != nullptr; }

    /// Null when there is no object.
    [[nodiscard]] T* get() const noexcept { return object_; }

    [[nodiscard]] T& operator*() const noexcept {
        SLUICE_ASSERT(object_ != nullptr, "this handle has no object: test it before you use it");
        return *object_;
    }
    T* operator->() const noexcept { return std::addressof(**this); }

private:
    template <std::size_t, std::size_t>
    friend class StaticArena;

    using Release = void (*)(void* arena, const T* object) noexcept;

    Placed(T* object, void* arena, Release release) noexcept
        : object_(object), arena_(arena), release_(release) {}

    T* object_ = nullptr;
    void* arena_ = nullptr;
    Release release_ = nullptr;
};

/// A buffer of `Bytes` bytes, aligned to `Align`, which is also the size of its units. An arena of
/// static storage duration is initialised before the program runs, and is all zero: it adds nothing
/// to the image.
template <std::size_t Bytes, std::size_t Align = alignof(std::max_align_t)>
class StaticArena {
    static_assert(Bytes > 0, "StaticArena<Bytes, Align>: Bytes must be at least 1");
    static_assert(Align > 0 && (Align & (Align - 1)) == 0,
                  "StaticArena<Bytes, Align>: Align must be a power of two");
    static_assert(Bytes % Align == 0, "StaticArena<Bytes, Align>: Bytes must be a multiple of "
                                      "Align; round it up");

    static constexpr std::size_t unitCount = Bytes / Align;
    static constexpr std::size_t unitsIn(std::size_t bytes) noexcept {
        return bytes / Align + (bytes % Align != 0 ? 1 : 0);
    }

public:
    constexpr StaticArena() noexcept : storage_() {}
    StaticArena(const StaticArena&) = delete;
    StaticArena& operator=(const StaticArena&) = delete;

    /// All objects must have been destroyed, by the end of their handles or by destroy().
    ~StaticArena() {
        SLUICE_ASSERT(objects_ == 0,
                      detail::AssertionText("objects that outlive their StaticArena: ", objects_,
                                            "; destroy their handles before the arena")
                          .text);
        // The memory goes back to the owner of the arena, such as the stack.
        detail::openMemory(storage_.bytes, Bytes);
    }

    /// Builds a T(args...), or T{args...} for an aggregate, `Offset` bytes from the beginning.
    ///
    /// It does not compile unless the T lies within the arena and begins at a unit. An offset whose
    /// units are taken fails an assertion. Without assertions nothing is built, and the handle is
    /// empty.
    template <class T, std::size_t Offset, class... Args>
    Placed<T> emplaceAt(Args&&... args) noexcept(detail::nothrowBuildable<T, Args...>()) {
        checkType<T>();
        static_assert(Offset <= Bytes && sizeof(T) <= Bytes - Offset,
                      "emplaceAt<T, Offset>: the T ends beyond the arena; choose a lower Offset or "
                      "more Bytes");
        static_assert(Offset % Align == 0,
                      "emplaceAt<T, Offset>: Offset must be a multiple of the arena's Align");
        constexpr std::size_t first = Offset / Align;
        const bool isFree = units_.areFree(first, first + unitsIn(sizeof(T)));
        SLUICE_ASSERT(isFree, "emplaceAt: an object is there already; destroy it first, or choose "
                              "another Offset");
        return isFree ? build<T>(first, std::forward<Args>(args)...) : Placed<T>();
    }

    /// As emplaceAt(), at the lowest offset where enough units are free. If there is no such
    /// offset, the handle is empty, and the arguments are untouched. Cost: at most one look for
    /// each 64 units.
    template <class T, class... Args>
    Placed<T> tryEmplace(Args&&... args) noexcept(detail::nothrowBuildable<T, Args...>()) {
        checkType<T>();
        static_assert(sizeof(T) <= Bytes, "tryEmplace<T>: the arena is too small for any T");
        const std::size_t first = units_.find(unitsIn(sizeof(T)));
        return first != unitCount ? build<T>(first, std::forward<Args>(args)...) : Placed<T>();
    }

    /// The beginning of the buffer. The program may read it; only the arena builds objects there.
    [[nodiscard]] const void* data() const noexcept { return storage_.bytes; }

    [[nodiscard]] static constexpr std::size_t capacity() noexcept { return Bytes; }

    [[nodiscard]] std::size_t objects() const noexcept { return objects_; }

private:
    /// Raw, so that an arena on the stack is not filled. The char allows constant initialisation.
    union Storage {
        constexpr Storage() noexcept : none(0) {}
        char none;
        alignas(Align) std::byte bytes[Bytes];
    };

    /// Gives the units back if the constructor throws.
    struct Reservation {
        StaticArena& arena;
        std::size_t first;
        std::size_t size;
        bool isKept = false;
        ~Reservation() {
            if (!isKept) {
                arena.release(first, size);
            }
        }
    };

    template <class T>
    static constexpr void checkType() noexcept {
        static_assert(std::is_object_v<T> && !std::is_array_v<T>,
                      "StaticArena: T must be a single object; wrap an array in std::array");
        static_assert(std::is_same_v<T, std::remove_cv_t<T>>,
                      "StaticArena: T must not be const or volatile");
        static_assert(std::is_nothrow_destructible_v<T>,
                      "StaticArena: the destructor of T must not throw");
        static_assert(alignof(T) <= Align,
                      "StaticArena: T needs a stricter alignment than the arena's Align");
    }

    template <class T, class... Args>
    Placed<T> build(std::size_t first, Args&&... args) {
        units_.take(first, first + unitsIn(sizeof(T)));
        ++objects_;
        std::byte* const address = storage_.bytes + first * Align;
        detail::openMemory(address, sizeof(T));
        Reservation reservation{*this, first, sizeof(T)};
        T& object = detail::buildAt<T>(address, std::forward<Args>(args)...);
        reservation.isKept = true;
        return Placed<T>(std::addressof(object), this, &StaticArena::template releaseObject<T>);
    }

    template <class T>
    static void releaseObject(void* arena, const T* object) noexcept {
        auto& self = *static_cast<StaticArena*>(arena);
        const auto* const address = reinterpret_cast<const std::byte*>(object);
        self.release(static_cast<std::size_t>(address - self.storage_.bytes) / Align, sizeof(T));
    }

    void release(std::size_t first, std::size_t size) noexcept {
        detail::closeMemory(storage_.bytes + first * Align, size);
        units_.release(first, first + unitsIn(size));
        --objects_;
    }

    Storage storage_;
    detail::UnitBitmap<unitCount> units_;
    std::size_t objects_ = 0;
};

}  // namespace sluice
