#pragma once

#include <sluice/base/assert.hpp>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {

struct AnyOperations {
    std::size_t size;
    bool onHeap;
    void (*moveConstruct)(void* to, void* from) noexcept;  // null if onHeap
    void (*destroy)(void* object) noexcept;
};

template <class T, bool OnHeap>
constexpr AnyOperations makeAnyOperations() noexcept {
    if constexpr (OnHeap) {
        return {sizeof(T), true, nullptr,
                [](void* object) noexcept { delete static_cast<T*>(object); }};
    } else {
        return {
            sizeof(T), false,
            [](void* to, void* from) noexcept { ::new (to) T(std::move(*static_cast<T*>(from))); },
            [](void* object) noexcept { static_cast<T*>(object)->~T(); }};
    }
}

/// The address of anyOperations<T> identifies the type T. anyOperations is not const, because a
/// linker may fold identical constants, which would make two types equal.
template <class T, bool OnHeap>
inline AnyOperations anyOperations = makeAnyOperations<T, OnHeap>();

}  // namespace detail

/// Holds one value of any type, as the argument of events of unrelated types. An AnyData converts
/// implicitly to the type that a listener takes.
///
///     using Data = sluice::AnyData<sluice::maxSizeOf<Connected, Closed>()>;
///     sluice::EventDispatcher<int, void(const Data&)> dispatcher;
///     dispatcher.appendListener(1, [](const Connected& event) { greet(event.peer); });
///     dispatcher.dispatch(1, Connected{"north"});
///
/// A const AnyData gives mutable access, like a pointer. Types are not checked: call isType()
/// first, or derive the type from the event. Debug builds assert that an object is present and
/// at least as large as the requested type. An object's destructor must not assign to its AnyData.
///
/// An object of up to MaxSize bytes (at least two pointers) is stored inside the AnyData. Larger
/// objects, over-aligned objects, and objects whose move may throw are stored on the heap.
template <std::size_t MaxSize>
class AnyData {
    static_assert(MaxSize > 0, "AnyData: MaxSize must be at least 1");

    template <class T>
    using Bare = std::remove_cv_t<std::remove_reference_t<T>>;

    static constexpr std::size_t minCapacity = 2 * sizeof(void*);
    static constexpr std::size_t capacity = MaxSize < minCapacity ? minCapacity : MaxSize;

    template <class T>
    static constexpr bool onHeap = sizeof(T) > capacity || alignof(T) > alignof(std::max_align_t) ||
                                   !std::is_nothrow_move_constructible_v<T>;

    template <class T>
    static constexpr detail::AnyOperations* operationsOf = &detail::anyOperations<T, onHeap<T>>;

public:
    /// Copies or moves `object` into the AnyData. Implicit, so that dispatch() accepts any object.
    template <class T, std::enable_if_t<!std::is_same_v<Bare<T>, AnyData>, int> = 0>
    AnyData(T&& object) : operations_(operationsOf<Bare<T>>) {
        using Object = Bare<T>;
        static_assert(std::is_constructible_v<Object, T&&>,
                      "AnyData: the object must be copyable, or movable and passed as an rvalue");
        if constexpr (onHeap<Object>) {
            storage_.object = new Object(std::forward<T>(object));
        } else {
            ::new (static_cast<void*>(storage_.bytes)) Object(std::forward<T>(object));
        }
    }

    /// `other` keeps the moved-from object, unless the object is on the heap.
    AnyData(AnyData&& other) noexcept { take(other); }
    AnyData& operator=(AnyData&& other) noexcept {
        if (this != &other) {
            AnyData taken(std::move(other));  // moved first, because the old object may own `other`
            AnyData old(std::move(*this));    // destroyed last, because it may own this AnyData
            destroy();
            take(taken);
        }
        return *this;
    }

    AnyData(const AnyData&) = delete;
    AnyData& operator=(const AnyData&) = delete;
    ~AnyData() { destroy(); }

    /// T is the type of the object, or a base class that begins at the address of the object.
    template <class T>
    [[nodiscard]] const T& get() const noexcept {
        return *object<const T>();
    }

    /// The address of the object, or null after a heap object has been moved to another AnyData.
    [[nodiscard]] const void* getAddress() const noexcept { return address(); }

    /// Ignores const and references.
    template <class T>
    [[nodiscard]] bool isType() const noexcept {
        return operations_ == operationsOf<Bare<T>>;
    }

    template <class T>
    operator T&() const noexcept {
        return *object<T>();
    }
    template <class T>
    operator T*() const noexcept {
        return static_cast<T*>(address());
    }

private:
    union Storage {
        Storage() noexcept : object(nullptr) {}

        void* object;
        alignas(std::max_align_t) std::byte bytes[capacity];
    };

    void take(AnyData& other) noexcept {
        operations_ = other.operations_;
        if (operations_ == nullptr) {
            return;
        }
        if (operations_->onHeap) {
            storage_.object = other.storage_.object;
            other.operations_ = nullptr;
        } else {
            operations_->moveConstruct(storage_.bytes, other.storage_.bytes);
        }
    }

    void destroy() noexcept {
        if (operations_ != nullptr) {
            operations_->destroy(address());
        }
    }

    void* address() const noexcept {
        if (operations_ == nullptr) {
            return nullptr;
        }
        return operations_->onHeap ? storage_.object : storage_.bytes;
    }

    template <class T>
    T* object() const noexcept {
        SLUICE_ASSERT(operations_ != nullptr, "this AnyData was moved from and holds nothing");
        SLUICE_ASSERT(sizeof(T) <= operations_->size,
                      "the object in this AnyData is smaller than the type asked for: ask isType");
        return static_cast<T*>(address());
    }

    const detail::AnyOperations* operations_ = nullptr;
    mutable Storage storage_;
};

template <class... Ts>
[[nodiscard]] constexpr std::size_t maxSizeOf() noexcept {
    static_assert(sizeof...(Ts) > 0, "maxSizeOf: name at least one type");
    std::size_t largest = 0;
    ((largest = sizeof(Ts) > largest ? sizeof(Ts) : largest), ...);
    return largest;
}

}  // namespace sluice
