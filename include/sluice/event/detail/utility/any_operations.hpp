#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace sluice::detail {

/// How AnyData treats the object it holds.
struct AnyOperations {
    std::size_t size;
    bool onHeap;
    void (*moveConstruct)(void* to,
                          void* from) noexcept;  // null on the heap: there the pointer moves
    void (*destroy)(void* object) noexcept;
};

template <class T>
void moveConstructAny(void* to, void* from) noexcept {
    ::new (to) T(std::move(*static_cast<T*>(from)));
}

template <class T>
void destroyAny(void* object) noexcept {
    static_cast<T*>(object)->~T();
}

template <class T>
void deleteAny(void* object) noexcept {
    delete static_cast<T*>(object);
}

template <class T, bool OnHeap>
constexpr AnyOperations makeAnyOperations() noexcept {
    if constexpr (OnHeap) {
        return {sizeof(T), true, nullptr, &deleteAny<T>};
    } else {
        return {sizeof(T), false, &moveConstructAny<T>, &destroyAny<T>};
    }
}

/// The address of the table is also the identity of the type. Nobody writes to it, but it is not
/// const: linkers that fold identical code fold identical constants, too, and would make two types
/// one; they leave alone what can be written.
template <class T, bool OnHeap>
inline AnyOperations anyOperations = makeAnyOperations<T, OnHeap>();

}  // namespace sluice::detail
