#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/on_exit.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/bus/bus.hpp>
#include <sluice/fixed/fixed_function.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace sluice {

/// The newest value of a topic, handled by the consumer of a bus. A new value replaces an unhandled
/// value, so publish() needs no slot of the bus. get() returns the newest value even after it has
/// been handled.
///
///     sluice::LastValue<Position, Sky> position(sky, [](const Position& now) { draw(now); });
///     (void)position.publish(Position{3, 4});  // any thread
///     sky.run();                               // the consumer; also process(), and so on
///     const auto now = position.get();         // any thread: a std::optional<Position>
///
/// Order: process*() handles messages first, and then all new values. run() and runWith() handle
/// new values after at most 64 messages. A message of high priority may wait for the handlers of
/// all values. If a visitor throws, the next process*() handles values before messages.
///
/// Thread safety: any thread and any handler may call publish() and get(), which copy the value
/// under a spin lock. A thread preempted during the copy blocks other callers. Constructors and
/// destructors of T, and interrupt handlers, must not use the LastValue. While a thread constructs
/// or destroys a LastValue, no other thread may consume from its bus. A handler must not destroy
/// its own LastValue. The bus must outlive the LastValue.
///
/// Errors: publish() fails only if the bus is closed. An accepted value is not handled if a newer
/// value replaces it, or if stop() or discard() is called first. Exceptions of the handler
/// propagate to the caller of process(). A value whose handler threw is not handled again, and the
/// next process() handles other LastValues first. If a constructor of T throws, nothing changes.
template <class T, class OfBus>
class LastValue;
template <class T, class List, class Traits>
class LastValue<T, Bus<List, Traits>> : detail::BusValue {
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                  "LastValue<T>: moving and destroying a T must not throw");
    using OfBus = Bus<List, Traits>;
    using Lock = BasicSpinLock<typename Traits::Platform>;

public:
    using Handler = FixedFunction<void(const T&), Traits::handlerSize>;

    LastValue(OfBus& bus, Handler handler)
        : BusValue{&handleAll, bus.values_}, bus_(bus), handler_(std::move(handler)) {
        SLUICE_ASSERT(static_cast<bool>(handler_), "the handler of a LastValue is empty");
        const Change change(bus);
        bus.values_ = this;
    }
    ~LastValue() {
        if (handled_ != none) {  // the handler has called std::exit(), and this object is static
            Traits::Platform::runsHandlers() = false;  // handleNew() asserts if the handler returns
        }
        const Change change(bus_);
        *linkTo(this) = next;
        handleNew(true);
        bus_.notifyWaiters();  // drain() may be waiting for this value
    }

    /// Makes `value` the newest value. If the bus is closed, `value` is left untouched.
    template <class U = T, std::enable_if_t<std::is_convertible_v<U&&, T>, int> = 0>
    SendResult publish(U&& value) {
        {
            const std::lock_guard<Lock> guard(lock_);
            if (!isCounted()) {
                return SendResult::closed;
            }
            T fresh(std::forward<U>(value));  // may throw
            if (newest_ == handled_) {
                newest_ = 1 - newest_;
            }
            slots_[newest_].emplace(std::move(fresh));
            isNew_ = true;
        }
        bus_.waiting().notifyAll();
        return SendResult::ok;
    }

    /// Returns a copy of the newest value, or nullopt before the first publish().
    [[nodiscard]] std::optional<T> get() const {
        const std::lock_guard<Lock> guard(lock_);
        return slots_[newest_];
    }

private:
    // Happens-before edges (proof: docs/algorithms/bus.md):
    //   E1 value: publish -> handler/get.
    //   E2 handled: handler -> Bus::isDrained.
    //   E3 close: Bus::close -> Bus::isDrained.

    static constexpr std::size_t none = 2;

    /// Asserts that no other thread consumes while the list of LastValues changes.
    struct Change {
        explicit Change(OfBus& bus) {
            if (!bus.consumer_.isHere()) {  // a handler's thread already has the consumer role
                role.emplace(bus.consumerRole_,
                             "a LastValue is constructed or destroyed while another thread "
                             "consumes: do that before run(), or in a handler");
            }
        }
        std::optional<typename OfBus::RoleCheck::Scope> role;
    };

    /// Counts this LastValue once in valueCount_ of the bus. Returns false if the bus is closed.
    bool isCounted() noexcept {
        unsigned seen = bus_.valueCount_.load(std::memory_order_relaxed);  // value only
        while ((seen & OfBus::closed) == 0 && !isCounted_) {
            isCounted_ = bus_.valueCount_.compare_exchange_weak(  // value only
                seen, seen + OfBus::oneValue, std::memory_order_relaxed, std::memory_order_relaxed);
        }
        return (seen & OfBus::closed) == 0;
    }

    /// Returns the link of the bus's list that points to `value`, or the last link for nullptr.
    BusValue** linkTo(const BusValue* value) noexcept {
        BusValue** link = &bus_.values_;
        while (*link != value) {
            link = &(*link)->next;
        }
        return link;
    }

    static void handleAll(BusValue& first, bool isForgotten) {
        static_cast<LastValue&>(first).handleNew(isForgotten);
        if (first.next != nullptr) {
            first.next->handleAll(*first.next, isForgotten);
        }
    }
    void handleNew(bool isForgotten) {
        {
            const std::lock_guard<Lock> guard(lock_);
            if (!std::exchange(isCounted_, false)) {
                return;
            }
            const bool isHandled =
                std::exchange(isNew_, false) && !isForgotten && !bus_.isStopped();
            handled_ = isHandled ? newest_ : none;
        }
        bool hasThrown = handled_ != none;
        const detail::OnExit end{[&] {
            if (hasThrown) {  // moves to the end of the list, behind the other LastValues
                *linkTo(this) = std::exchange(next, nullptr);
                *linkTo(nullptr) = this;
            }
            const std::lock_guard<Lock> guard(lock_);
            handled_ = none;
            bus_.valueCount_.fetch_sub(OfBus::oneValue, std::memory_order_release);  // E2 handled
        }};
        if (handled_ != none) {
            handler_(std::as_const(*slots_[handled_]));
            hasThrown = false;
            SLUICE_ASSERT(HandlerThread<typename Traits::Platform>::isHere(),
                          "a LastValue is destroyed by its own handler");
        }
    }

    OfBus& bus_;
    Handler handler_;
    mutable Lock lock_;  ///< guards the members below
    std::size_t newest_ = 0;
    std::size_t handled_ = none;  ///< the slot that the running handler reads, or none
    bool isNew_ = false;
    bool isCounted_ = false;  ///< true while valueCount_ of the bus includes this value
    std::array<std::optional<T>, 2> slots_;
};

}  // namespace sluice
