#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/fixed/detail/size_for.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {

template <class T, std::size_t N>
class VectorBytes {
protected:
    // The constexpr constructor initialises only none_, and leaves the elements uninitialised.
    constexpr VectorBytes() noexcept : none_(0), size_(0) {}

    // std::launder would keep g++ from vectorising loops over v[i]. std::launder is not needed,
    // because each element was constructed at this address with this type.
    T* elements() noexcept { return reinterpret_cast<T*>(bytes_); }
    const T* elements() const noexcept { return reinterpret_cast<const T*>(bytes_); }

    std::size_t count() const noexcept { return size_; }

    /// The vector must not be full. If T's constructor throws, the vector is unchanged.
    template <class... Args>
    void build(Args&&... args) {
        buildAt<T>(bytes_ + size_ * sizeof(T), std::forward<Args>(args)...);
        ++size_;
    }

    /// Destroys all but the first `remaining` elements, in reverse order.
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

/// VectorBytes with copying, moving and destruction. Trivially copyable if T is.
template <class T, std::size_t N, bool ByBytes = std::is_trivially_copyable_v<T>>
class VectorStorage : protected VectorBytes<T, N> {};

template <class T, std::size_t N>
class VectorStorage<T, N, false> : protected VectorBytes<T, N> {
protected:
    constexpr VectorStorage() noexcept = default;

    // Delegates, so that ~VectorStorage() runs if copying an element throws.
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

/// An empty base that disables copying or moving if T cannot be copied or moved.
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

}  // namespace detail

/// A vector of up to N elements, stored inside the object without a heap.
///
///     sluice::FixedVector<Wheel, 4> wheels;
///     const bool hasRoom = wheels.pushBack(Wheel{1});  // false: the vector is full
///     for (const Wheel& wheel : wheels) { show(wheel); }
///
/// Use std::vector if the limit is unknown, or if most vectors are nearly empty.
///
/// Insertion into a full vector returns false and leaves the argument unchanged. T may be
/// move-only, immovable (emplaceBack only), over-aligned or an aggregate. Inserting or erasing an
/// element invalidates only pointers and iterators to later elements. `v.pushBack(v[0])` is
/// allowed. Do not assign from an object that an element of the target owns.
///
/// A FixedVector is trivially copyable if and only if T is; if T is not, a move empties the source.
///
/// Errors: every exception leaves the FixedVector valid. A copy assignment that throws leaves the
/// target unchanged if moving a T cannot throw. Wrong indices and positions fail an assertion.
template <class T, std::size_t N>
class FixedVector
    : detail::VectorStorage<T, N>,
      detail::EnableCopy<std::is_copy_constructible_v<T>, std::is_move_constructible_v<T>> {
    static_assert(N > 0, "FixedVector<T, N>: N must be at least 1");
    static_assert(std::is_object_v<T> && std::is_same_v<T, std::remove_cv_t<T>>,
                  "FixedVector<T, N>: T must be a plain object type");

public:
    using value_type = T;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using const_reference = const T&;
    using iterator = T*;
    using const_iterator = const T*;

    constexpr FixedVector() noexcept = default;

    /// Calls setupError() if there are more than N items.
    FixedVector(std::initializer_list<T> items) {
        detail::requireAtMost("FixedVector: number of items", items.size(), N);
        for (const T& item : items) {
            this->build(item);
        }
    }

    [[nodiscard]] bool pushBack(const T& item) { return emplaceBack(item); }
    [[nodiscard]] bool pushBack(T&& item) { return emplaceBack(std::move(item)); }

    /// Like pushBack(), but constructs the element with T(args...), or with T{args...} for an
    /// aggregate.
    template <class... Args>
    [[nodiscard]] bool emplaceBack(Args&&... args) {
        if (full()) {
            return false;
        }
        this->build(std::forward<Args>(args)...);
        return true;
    }

    /// Inserts an element before `position`.
    template <class U = T, std::enable_if_t<std::is_convertible_v<U&&, T>, int> = 0>
    [[nodiscard]] bool insert(const_iterator position, U&& item) {
        SLUICE_ASSERT(begin() <= position && position <= end(), "pass a position of this vector");
        const difference_type index = position - begin();
        // Stores the item before elements move, because `item` may refer to an element.
        if (!emplaceBack(std::forward<U>(item))) {
            return false;
        }
        std::rotate(begin() + index, end() - 1, end());
        return true;
    }

    /// Replaces all elements by copies of [first, last), a range outside this vector. Returns false
    /// and changes nothing if the range exceeds capacity().
    template <class Iterator,
              std::enable_if_t<
                  std::is_base_of_v<std::forward_iterator_tag,
                                    typename std::iterator_traits<Iterator>::iterator_category>,
                  int> = 0>
    [[nodiscard]] bool assign(Iterator first, Iterator last) {
        if (static_cast<std::size_t>(std::distance(first, last)) > N) {
            return false;
        }
        clear();
        for (; first != last; ++first) {
            this->build(*first);
        }
        return true;
    }

    /// Removes elements from the end, or appends value-initialised elements. Returns false and
    /// changes nothing if `count` exceeds capacity().
    [[nodiscard]] bool resize(std::size_t count) {
        if (count > N) {
            return false;
        }
        while (size() < count) {
            this->build();
        }
        this->shrinkTo(count);
        return true;
    }

    void popBack() noexcept {
        SLUICE_ASSERT(!empty(), "popBack of an empty vector; ask empty() first");
        this->shrinkTo(size() - 1);
    }
    void clear() noexcept { this->shrinkTo(0); }

    /// Erases the element at `position`, or the range [first, last). Returns the position after the
    /// erased elements.
    iterator eraseOrdered(const_iterator position) {
        SLUICE_ASSERT(holds(position), "no element at this position; end() cannot be erased");
        return eraseOrdered(position, position + 1);
    }
    iterator eraseOrdered(const_iterator first, const_iterator last) {
        SLUICE_ASSERT(begin() <= first && first <= last && last <= end(),
                      "pass two positions of this vector, the earlier one first");
        T* const to = begin() + (first - begin());
        if (first != last) {  // an empty range would move each element to itself
            std::move(to + (last - first), end(), to);
            this->shrinkTo(size() - static_cast<std::size_t>(last - first));
        }
        return to;
    }
    /// A template, because eraseOrdered(0) would be ambiguous: 0 is also a null iterator.
    template <class Index, std::enable_if_t<std::is_integral_v<Index>, int> = 0>
    iterator eraseOrdered(Index index) {
        return eraseOrdered(positionOf(index));
    }

    /// Replaces an element by the last element. Returns the position of the moved element, or end()
    /// if the last element was erased.
    iterator eraseUnordered(const_iterator position) {
        SLUICE_ASSERT(holds(position), "no element at this position; end() cannot be erased");
        iterator hole = begin() + (position - begin());
        if (hole != end() - 1) {
            *hole = std::move(back());
        }
        popBack();
        return hole;
    }
    template <class Index, std::enable_if_t<std::is_integral_v<Index>, int> = 0>
    iterator eraseUnordered(Index index) {
        return eraseUnordered(positionOf(index));
    }

    [[nodiscard]] std::size_t size() const noexcept { return this->count(); }
    [[nodiscard]] static constexpr std::size_t capacity() noexcept { return N; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] bool full() const noexcept { return size() == N; }

    [[nodiscard]] T* data() noexcept { return this->elements(); }
    [[nodiscard]] const T* data() const noexcept { return this->elements(); }
    [[nodiscard]] iterator begin() noexcept { return data(); }
    [[nodiscard]] const_iterator begin() const noexcept { return data(); }
    [[nodiscard]] iterator end() noexcept { return data() + size(); }
    [[nodiscard]] const_iterator end() const noexcept { return data() + size(); }

    [[nodiscard]] T& operator[](std::size_t index) noexcept {
        return const_cast<T&>(std::as_const(*this)[index]);
    }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept {
        SLUICE_ASSERT(index < size(), "index beyond the elements; compare it with size() first");
        return data()[index];
    }

    /// Like operator[], but release builds check the index, too.
    [[nodiscard]] T& at(std::size_t index) noexcept {
        return const_cast<T&>(std::as_const(*this).at(index));
    }
    [[nodiscard]] const T& at(std::size_t index) const noexcept {
        if (index >= size()) {
            failAssertion({"index < size()",
                           "index beyond the elements; compare it with size() first", __FILE__,
                           __LINE__});
        }
        return data()[index];
    }

    [[nodiscard]] T& front() noexcept { return (*this)[0]; }
    [[nodiscard]] const T& front() const noexcept { return (*this)[0]; }
    [[nodiscard]] T& back() noexcept { return (*this)[size() - 1]; }
    [[nodiscard]] const T& back() const noexcept { return (*this)[size() - 1]; }

private:
    bool holds(const_iterator position) const noexcept {
        return begin() <= position && position < end();
    }
    template <class Index>
    const_iterator positionOf(Index index) const noexcept {
        SLUICE_ASSERT(static_cast<std::size_t>(index) < size(),
                      "index beyond the elements; compare it with size() first");
        return begin() + static_cast<std::size_t>(index);
    }
};

/// The capacities of the two vectors may differ.
template <class T, std::size_t N, std::size_t M>
[[nodiscard]] bool operator==(const FixedVector<T, N>& left, const FixedVector<T, M>& right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end());
}
template <class T, std::size_t N, std::size_t M>
[[nodiscard]] bool operator!=(const FixedVector<T, N>& left, const FixedVector<T, M>& right) {
    return !(left == right);
}

}  // namespace sluice
