#pragma once

#include <sluice/event/detail/dispatch/comparing.hpp>

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

namespace sluice {

/// Keeps nothing of the value.
struct EmptyAnyStorage {
    EmptyAnyStorage() noexcept = default;

    template <class T>
    EmptyAnyStorage(const T&) noexcept {}
};

/// An event identifier of any type. One dispatcher takes numbers, texts and enumerators.
///
///     sluice::EventDispatcher<sluice::AnyHashableId, void()> dispatcher;
///     dispatcher.appendListener(3, [] { std::puts("three"); });
///     dispatcher.appendListener(std::string("open"), [] { std::puts("open"); });
///     dispatcher.dispatch(Key::enter);
///
/// An AnyId keeps the digest Digester<T>()(value), and a Storage made from the value. It works as a
/// key of std::unordered_map and std::map.
///
/// Two AnyIds are equal if they have the same digest and equal Storages. A Storage without ==
/// counts as equal, and one without < as not less. So with EmptyAnyStorage, the default, two values
/// with one digest are one event. This is intended for 3 and 3L, but it also happens to two strings
/// with the same hash. To prevent this, use AnyValueId (any_value_storage.hpp), which keeps and
/// compares the values.
///
/// Threads: a plain value. Errors: exceptions of the digester or the storage. Cost: one digest at
/// construction, and no allocation with EmptyAnyStorage. A comparison compares digests first.
///
/// Tests: tests/unit/eventpp/any_id_test.cpp.
template <template <class> class Digester = std::hash, class Storage = EmptyAnyStorage>
class AnyId {
    template <class T>
    static constexpr bool digests =
        std::is_default_constructible_v<Digester<T>> && std::is_invocable_v<Digester<T>, const T&>;

public:
    using DigestType = decltype(std::declval<Digester<int>>()(0));

    /// The digest is DigestType(), the Storage is empty.
    AnyId() : digest_(), value_() {}

    /// Implicit, so that dispatch() can be called with a value.
    template <class T, std::enable_if_t<!std::is_same_v<T, AnyId>, int> = 0>
    AnyId(const T& value) : digest_(digestOf(value)), value_(value) {}

    [[nodiscard]] DigestType getDigest() const { return digest_; }
    [[nodiscard]] const Storage& getValue() const noexcept { return value_; }

private:
    template <class T>
    static DigestType digestOf(const T& value) {
        static_assert(digests<T>, "AnyId: the Digester cannot digest this type; specialise it, or "
                                  "pass a std::string instead of a literal");
        if constexpr (digests<T>) {
            return Digester<T>()(value);
        } else {
            return DigestType();
        }
    }

    DigestType digest_;
    Storage value_;
};

template <template <class> class Digester, class Storage>
[[nodiscard]] bool operator==(const AnyId<Digester, Storage>& a,
                              const AnyId<Digester, Storage>& b) {
    return a.getDigest() == b.getDigest() && detail::equalIfComparable(a.getValue(), b.getValue());
}

template <template <class> class Digester, class Storage>
[[nodiscard]] bool operator!=(const AnyId<Digester, Storage>& a,
                              const AnyId<Digester, Storage>& b) {
    return !(a == b);
}

/// Ordered by digest, then by Storage.
template <template <class> class Digester, class Storage>
[[nodiscard]] bool operator<(const AnyId<Digester, Storage>& a, const AnyId<Digester, Storage>& b) {
    if (a.getDigest() < b.getDigest()) {
        return true;
    }
    return a.getDigest() == b.getDigest() && detail::lessIfComparable(a.getValue(), b.getValue());
}

using AnyHashableId = AnyId<>;

}  // namespace sluice

template <template <class> class Digester, class Storage>
struct std::hash<sluice::AnyId<Digester, Storage>> {
    std::size_t operator()(const sluice::AnyId<Digester, Storage>& id) const noexcept {
        using Digest = typename sluice::AnyId<Digester, Storage>::DigestType;
        if constexpr (std::is_convertible_v<Digest, std::size_t>) {
            return static_cast<std::size_t>(id.getDigest());
        } else {
            return std::hash<Digest>()(id.getDigest());
        }
    }
};
