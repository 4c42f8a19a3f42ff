#pragma once

#include <sluice/event/detail/comparing.hpp>

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

namespace sluice {

struct EmptyAnyStorage {
    EmptyAnyStorage() noexcept = default;

    template <class T>
    EmptyAnyStorage(const T&) noexcept {}
};

/// An event identifier of any type: one dispatcher accepts numbers, texts and enumerators.
///
///     sluice::EventDispatcher<sluice::AnyHashableId, void()> dispatcher;
///     dispatcher.appendListener(3, [] { std::puts("three"); });
///     dispatcher.appendListener(std::string("open"), [] { std::puts("open"); });
///     dispatcher.dispatch(Key::enter);
///
/// An AnyId keeps the digest Digester<T>()(value) and a Storage made from the value. Two AnyIds are
/// equal if digest and Storage are equal. If Storage has no ==, only the digests are compared for
/// equality. If Storage has no <, only the digests are compared for order.
///
/// With the default EmptyAnyStorage, values with equal digests, such as 3 and 3L, are the same
/// event. For untrusted identifiers, choose a Storage that compares values, such as
/// std::variant<int, X>.
template <template <class> class Digester = std::hash, class Storage = EmptyAnyStorage>
class AnyId {
    template <class T>
    static constexpr bool digests =
        std::is_default_constructible_v<Digester<T>> && std::is_invocable_v<Digester<T>, const T&>;

public:
    using DigestType = decltype(std::declval<Digester<int>>()(0));

    AnyId() : digest_(), value_() {}

    /// Implicit, so that dispatch() accepts plain values.
    template <class T, std::enable_if_t<!std::is_same_v<T, AnyId>, int> = 0>
    AnyId(const T& value) : digest_(digestOf(value)), value_(value) {}

    [[nodiscard]] DigestType getDigest() const { return digest_; }
    [[nodiscard]] const Storage& getValue() const noexcept { return value_; }

    [[nodiscard]] friend bool operator==(const AnyId& a, const AnyId& b) {
        if constexpr (detail::hasEqual<Storage>) {
            return a.digest_ == b.digest_ && a.value_ == b.value_;
        } else {
            return a.digest_ == b.digest_;
        }
    }
    [[nodiscard]] friend bool operator!=(const AnyId& a, const AnyId& b) { return !(a == b); }

    [[nodiscard]] friend bool operator<(const AnyId& a, const AnyId& b) {
        if constexpr (detail::hasLess<Storage>) {
            return a.digest_ < b.digest_ || (a.digest_ == b.digest_ && a.value_ < b.value_);
        } else {
            return a.digest_ < b.digest_;
        }
    }

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
