#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/memory/detail/misuse.hpp>

#include <bitset>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace sluice {

template <class T>
struct ArenaDeleter {
    void operator()(T* object) const noexcept {
        // Copied, because ~T() may destroy the ArenaPtr that contains this deleter.
        const ArenaDeleter self = *this;
        object->~T();
        self.release(self.arena, object);
    }

    void* arena = nullptr;
    void (*release)(void* arena, const void* object) noexcept = nullptr;
};

/// A pointer that owns one object of a StaticArena, or null.
template <class T>
using ArenaPtr = std::unique_ptr<T, ArenaDeleter<T>>;

/// A buffer in which objects are constructed at chosen offsets, without a heap.
///
///     static sluice::StaticArena<256> arena;
///     const auto order = arena.emplaceAt<Order, 0>(Order{4, 2.5});  // at the beginning
///     const auto price = arena.tryEmplace<double>(1.5);             // at the first free place
///
/// Use StaticArena for a few objects of different types in memory that you place, such as a linker
/// section. Use ObjectPool<T> for many objects of one type, or for several threads.
///
/// Thread safety: only one thread at a time may use the arena and its pointers.
///
/// Errors: emplacing an object in occupied memory fails an assertion; release builds return an
/// empty pointer. The arena's destructor asserts that all objects have been destroyed.
///
/// Performance: the arena has one bit for each `Align` bytes, and each call visits the bits of the
/// object. A static StaticArena adds nothing to the program image, because all its bytes are zero.
template <std::size_t Bytes, std::size_t Align = alignof(std::max_align_t)>
class StaticArena {
    static_assert(Bytes > 0, "StaticArena<Bytes, Align>: Bytes must be at least 1");
    static_assert(Align > 0 && (Align & (Align - 1)) == 0,
                  "StaticArena<Bytes, Align>: Align must be a power of two");
    static_assert(Bytes % Align == 0, "StaticArena<Bytes, Align>: Bytes must be a multiple of "
                                      "Align; round it up");

public:
    constexpr StaticArena() noexcept : storage_() {}
    StaticArena(const StaticArena&) = delete;
    StaticArena& operator=(const StaticArena&) = delete;

    ~StaticArena() {
        SLUICE_ASSERT(objects_ == 0,
                      detail::AssertionText("objects that outlive their StaticArena: ", objects_,
                                            "; destroy their pointers before the arena")
                          .text);
        detail::openMemory(storage_.bytes, Bytes);  // later objects may use the memory
    }

    /// Constructs T(args...), or T{args...} for an aggregate, `Offset` bytes from the beginning.
    /// The T must fit into the arena, and Offset must be a multiple of Align.
    template <class T, std::size_t Offset, class... Args>
    [[nodiscard]] ArenaPtr<T>
    emplaceAt(Args&&... args) noexcept(detail::nothrowBuildable<T, Args...>()) {
        checkType<T>();
        static_assert(Offset <= Bytes && sizeof(T) <= Bytes - Offset,
                      "emplaceAt<T, Offset>: the T ends beyond the arena; choose a lower Offset or "
                      "more Bytes");
        static_assert(Offset % Align == 0,
                      "emplaceAt<T, Offset>: Offset must be a multiple of the arena's Align");
        const bool isFree = takenIn(Offset / Align, placesOf<T>) == placesOf<T>;
        SLUICE_ASSERT(isFree, "emplaceAt: an object is there already; destroy it first, or choose "
                              "another Offset");
        return isFree ? build<T>(Offset / Align, std::forward<Args>(args)...) : ArenaPtr<T>();
    }

    /// Like emplaceAt(), but at the lowest free offset. Returns an empty pointer and leaves the
    /// arguments unchanged if the T fits nowhere.
    template <class T, class... Args>
    [[nodiscard]] ArenaPtr<T>
    tryEmplace(Args&&... args) noexcept(detail::nothrowBuildable<T, Args...>()) {
        checkType<T>();
        static_assert(sizeof(T) <= Bytes, "tryEmplace<T>: the arena is too small for any T");
        for (std::size_t first = 0; first + placesOf<T> <= places;) {
            const std::size_t free = takenIn(first, placesOf<T>);
            if (free == placesOf<T>) {
                return build<T>(first, std::forward<Args>(args)...);
            }
            first += free + 1;
        }
        return {};
    }

    [[nodiscard]] const void* data() const noexcept { return storage_.bytes; }
    [[nodiscard]] static constexpr std::size_t capacity() noexcept { return Bytes; }
    [[nodiscard]] std::size_t objects() const noexcept { return objects_; }

private:
    static constexpr std::size_t places = Bytes / Align;
    template <class T>
    static constexpr std::size_t placesOf = (sizeof(T) + Align - 1) / Align;

    /// The char member makes constant initialisation possible.
    union Storage {
        constexpr Storage() noexcept : none(0) {}
        char none;
        alignas(Align) std::byte bytes[Bytes];
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

    /// The number of free places from `first` up to the next occupied place, at most `count`.
    std::size_t takenIn(std::size_t first, std::size_t count) const noexcept {
        std::size_t free = 0;
        while (free != count && !taken_[first + free]) {
            ++free;
        }
        return free;
    }

    template <class T>
    void mark(std::size_t first, bool isTaken) noexcept {
        for (std::size_t i = 0; i != placesOf<T>; ++i) {
            taken_[first + i] = isTaken;
        }
    }

    template <class T, class... Args>
    ArenaPtr<T> build(std::size_t first, Args&&... args) {
        /// Frees the object's places if T's constructor throws.
        struct Guard {
            ~Guard() {
                if (address != nullptr) {
                    release<T>(&arena, address);
                }
            }
            StaticArena& arena;
            std::byte* address;
        };
        std::byte* const address = storage_.bytes + first * Align;
        mark<T>(first, true);
        ++objects_;
        detail::openMemory(address, sizeof(T));
        Guard guard{*this, address};
        T& object = detail::buildAt<T>(address, std::forward<Args>(args)...);
        guard.address = nullptr;
        return ArenaPtr<T>(std::addressof(object), {this, &StaticArena::template release<T>});
    }

    template <class T>
    static void release(void* arena, const void* object) noexcept {
        auto& self = *static_cast<StaticArena*>(arena);
        const auto offset = static_cast<const std::byte*>(object) - self.storage_.bytes;
        detail::closeMemory(object, sizeof(T));
        self.template mark<T>(static_cast<std::size_t>(offset) / Align, false);
        --self.objects_;
    }

    Storage storage_;
    std::bitset<places> taken_;
    std::size_t objects_ = 0;
};

}  // namespace sluice
