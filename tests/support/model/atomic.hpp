#pragma once

#include "execution.hpp"

#include <atomic>
#include <cstring>
#include <type_traits>

namespace sluice::model {

/// The std::atomic of ModelPlatform: each operation is a step of the execution. There are no
/// default orders, because the library always passes them.
template <class T>
class Atomic {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(Word));
    using Order = std::memory_order;

public:
    using value_type = T;
    static constexpr bool is_always_lock_free = true;

    Atomic() noexcept : Atomic(T{}) {}
    // constexpr, because constructors of the headers need it; it is called at run time only.
    constexpr Atomic(T value) noexcept : id_(execution().create(toWord(value))) {}
    ~Atomic() { execution().destroy(id_); }
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;

    T load(Order order, Site site = Site::here()) const noexcept {
        return toValue(execution().load(id_, order, site));
    }

    void store(T value, Order order, Site site = Site::here()) noexcept {
        execution().store(id_, toWord(value), order, site);
    }

    T exchange(T value, Order order, Site site = Site::here()) noexcept {
        return update([value](T) { return value; }, order, site);
    }

    bool compare_exchange_weak(T& expected, T desired, Order success, Order failure,
                               Site site = Site::here()) noexcept {
        return compareExchange(expected, desired, true, success, failure, site);
    }

    bool compare_exchange_strong(T& expected, T desired, Order success, Order failure,
                                 Site site = Site::here()) noexcept {
        return compareExchange(expected, desired, false, success, failure, site);
    }

    T fetch_add(T by, Order order, Site site = Site::here()) noexcept {
        return update([by](T value) { return static_cast<T>(value + by); }, order, site);
    }

    T fetch_sub(T by, Order order, Site site = Site::here()) noexcept {
        return update([by](T value) { return static_cast<T>(value - by); }, order, site);
    }

    T fetch_or(T bits, Order order, Site site = Site::here()) noexcept {
        return update([bits](T value) { return static_cast<T>(value | bits); }, order, site);
    }

    T fetch_and(T bits, Order order, Site site = Site::here()) noexcept {
        return update([bits](T value) { return static_cast<T>(value & bits); }, order, site);
    }

    LocationId id() const noexcept { return id_; }

private:
    static Word toWord(T value) noexcept {
        Word word = 0;
        std::memcpy(&word, &value, sizeof value);
        return word;
    }

    static T toValue(Word word) noexcept {
        T value;
        std::memcpy(&value, &word, sizeof value);
        return value;
    }

    template <class Change>
    T update(Change change, Order order, Site site) noexcept {
        return toValue(execution().update(
            id_, [&change](Word word) { return toWord(change(toValue(word))); }, order, site));
    }

    bool compareExchange(T& expected, T desired, bool isWeak, Order success, Order failure,
                         Site site) noexcept {
        Word word = toWord(expected);
        const bool done =
            execution().compareExchange(id_, word, toWord(desired), isWeak, success, failure, site);
        expected = toValue(word);
        return done;
    }

    LocationId id_;
};

}  // namespace sluice::model
