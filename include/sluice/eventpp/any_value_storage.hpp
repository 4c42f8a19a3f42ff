#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/event/detail/dispatch/comparing.hpp>
#include <sluice/eventpp/any_id.hpp>

#include <functional>
#include <memory>
#include <type_traits>

namespace sluice {

/// A Storage of AnyId that keeps the value, so that two values with one digest are two events.
///
///     sluice::EventDispatcher<sluice::AnyValueId, void()> dispatcher;
///     dispatcher.appendListener(std::string("open"), [] { std::puts("open"); });
///     dispatcher.appendListener(3, [] { std::puts("three"); });
///     dispatcher.dispatch(3L);  // calls no listener
///
/// Values of different types are never equal: 3 and 3L are two events.
///
/// Use it if an identifier comes from outside (names, keys) and a collision of hashes must not
/// deliver an event to the wrong listener. Use AnyHashableId if the values are known.
///
/// Threads: a plain value. Copies share one immutable value and may go to other threads. Errors:
/// std::bad_alloc. A type needs ==. It needs < only for an ordered map, which debug builds check.
/// Cost: one allocation for each value, none for a copy.
///
/// Tests: tests/unit/eventpp/any_value_storage_test.cpp.
class AnyValueStorage {
public:
    /// Holds no value. It is equal to other empty ones, and less than all others.
    AnyValueStorage() noexcept = default;

    template <class T, std::enable_if_t<!std::is_same_v<T, AnyValueStorage>, int> = 0>
    AnyValueStorage(const T& value)
        : value_(std::make_shared<const T>(value)), type_(&operations<T>) {
        static_assert(detail::hasEqual<T>, "AnyValueStorage: the type needs operator ==");
    }

    /// The value if it is exactly a T, otherwise null.
    template <class T>
    [[nodiscard]] const T* get() const noexcept {
        return type_ == &operations<T> ? static_cast<const T*>(value_.get()) : nullptr;
    }

    friend bool operator==(const AnyValueStorage& a, const AnyValueStorage& b) {
        return a.type_ == b.type_ &&
               (a.type_ == nullptr || a.type_->equal(a.value_.get(), b.value_.get()));
    }
    friend bool operator!=(const AnyValueStorage& a, const AnyValueStorage& b) { return !(a == b); }

    /// Types are ordered by address. The order stays the same while the program runs.
    friend bool operator<(const AnyValueStorage& a, const AnyValueStorage& b) {
        if (a.type_ != b.type_) {
            return std::less<const Operations*>()(a.type_, b.type_);
        }
        return a.type_ != nullptr && a.type_->less(a.value_.get(), b.value_.get());
    }

private:
    struct Operations {
        bool (*equal)(const void* a, const void* b);
        bool (*less)(const void* a, const void* b);
    };

    template <class T>
    static bool equalValues(const void* a, const void* b) {
        return *static_cast<const T*>(a) == *static_cast<const T*>(b);
    }

    template <class T>
    static bool lessValues(const void* a, const void* b) {
        SLUICE_ASSERT(detail::hasLess<T>, "the type in this AnyValueStorage has no operator <: use "
                                          "a hashed map");
        return detail::lessIfComparable(*static_cast<const T*>(a), *static_cast<const T*>(b));
    }

    // Not const, because its address identifies the type: see any_data.hpp.
    template <class T>
    static inline Operations operations{&equalValues<T>, &lessValues<T>};

    std::shared_ptr<const void> value_;
    const Operations* type_ = nullptr;
};

/// An identifier of any type that std::hash knows. It compares the values, not only the hashes.
using AnyValueId = AnyId<std::hash, AnyValueStorage>;

}  // namespace sluice
