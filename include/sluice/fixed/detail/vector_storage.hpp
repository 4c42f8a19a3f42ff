#pragma once

#include <sluice/base/cell.hpp>
#include <sluice/fixed/detail/size_for.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// The bytes of N elements, and the number of elements that live.
template <class T, std::size_t N>
class VectorBytes {
protected:
    // The union lets a constexpr constructor leave the elements alone.
    constexpr VectorBytes() noexcept : none_(0), size_(0) {}

    // No std::launder, because with it g++ vectorises no loop over v[i]. It is not needed:
    // placement new has built each element at this address and with this type.
    T* elements() noexcept { return reinterpret_cast<T*>(bytes_); }
    const T* elements() const noexcept { return reinterpret_cast<const T*>(bytes_); }

    std::size_t count() const noexcept { return size_; }

    /// Builds an element at the end. There must be room. If it throws, nothing has changed.
    template <class... Args>
    void build(Args&&... args) {
        buildAt<T>(bytes_ + size_ * sizeof(T), std::forward<Args>(args)...);
        ++size_;
    }

    /// Destroys the elements from `remaining` on, the last one first.
    void shrinkTo(std::size_t remaining) noexcept {
        if constexpr (std::is_trivially_destructible_v<T>) {
            size_ = static_cast<SizeFor<N>>(remaining);
        } else {
            while (size_ > remaining) {
                --size_;
                elements()[size_].~T();
            }
        }
    }

private:
    union {
        char none_;
        alignas(T) unsigned char bytes_[N * sizeof(T)];
    };
    SizeFor<N> size_;
};

/// Adds copying, moving and destruction. If T is trivially copyable, the vector is so, too.
template <class T, std::size_t N, bool ByBytes = std::is_trivially_copyable_v<T>>
class VectorStorage : protected VectorBytes<T, N> {};

/// For any other T: copies, moves and destroys the elements one by one.
template <class T, std::size_t N>
class VectorStorage<T, N, false> : protected VectorBytes<T, N> {
protected:
    constexpr VectorStorage() noexcept = default;

    // Both delegate, so that the destructor runs if an element throws.
    VectorStorage(const VectorStorage& other) : VectorStorage() { copyFrom(other); }
    VectorStorage(VectorStorage&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
        : VectorStorage() {
        moveFrom(other);
    }

    VectorStorage& operator=(const VectorStorage& other) {
        if (this != &other) {
            if constexpr (std::is_nothrow_copy_constructible_v<T>) {
                this->shrinkTo(0);
                copyFrom(other);
            } else {
                VectorStorage copy(other);
                this->shrinkTo(0);
                moveFrom(copy);
            }
        }
        return *this;
    }
    VectorStorage&
    operator=(VectorStorage&& other) noexcept(std::is_nothrow_move_constructible_v<T>) {
        if (this != &other) {
            this->shrinkTo(0);
            moveFrom(other);
        }
        return *this;
    }

    ~VectorStorage() { this->shrinkTo(0); }

private:
    void copyFrom(const VectorStorage& other) {
        for (std::size_t i = 0; i < other.count(); ++i) {
            this->build(other.elements()[i]);
        }
    }
    void moveFrom(VectorStorage& other) {
        for (std::size_t i = 0; i < other.count(); ++i) {
            this->build(std::move(other.elements()[i]));
        }
        other.shrinkTo(0);
    }
};

/// An empty base that takes away copying or moving if T has none.
template <bool Copyable, bool Movable>
struct EnableCopy {};
template <>
struct EnableCopy<false, true> {
    EnableCopy() = default;
    EnableCopy(const EnableCopy&) = delete;
    EnableCopy(EnableCopy&&) = default;
    EnableCopy& operator=(const EnableCopy&) = delete;
    EnableCopy& operator=(EnableCopy&&) = default;
};
template <>
struct EnableCopy<false, false> {
    EnableCopy() = default;
    EnableCopy(const EnableCopy&) = delete;
    EnableCopy& operator=(const EnableCopy&) = delete;
};

}  // namespace sluice::detail
