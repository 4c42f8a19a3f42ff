#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/role_check.hpp>
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

/// The newest value of a topic, published beside a bus. A new value replaces an unhandled one, so
/// publish() needs no free slot in the bus. The last value is always handled, and kept afterwards.
///
///     sluice::LastValue<Position, Sky> position(sky, [](const Position& now) { draw(now); });
///     (void)position.publish(Position{3, 4});  // any thread
///     sluice::run(sky, position);              // the consumer, in place of sky.run()
///     const auto now = position.get();         // any thread: a std::optional<Position>
///
/// A consumer with its own loop calls process() after Bus::process(), and again when the bus is
/// drained. The loop waits with `bus.waitUntil(deadline, [&] { return position.hasNew(); })`.
///
/// Thread safety: any thread may call publish(), get() and hasNew(); only one thread at a time may
/// call process(). The handler may call all members except process(), and must not call drain() of
/// the bus. publish() and get() copy under a spin lock, so a preempted thread blocks others.
/// Functions of T must not use the LastValue. Interrupt handlers must not use a LastValue. The bus
/// must outlive the LastValue. Join all threads that use the LastValue before destroying it.
///
/// Errors: publish() fails only if the bus is closed. Each accepted value is handled or replaced,
/// but stop() discards the last one. Exceptions of the handler leave process(). A throwing
/// constructor of T changes nothing.
template <class T, class OfBus>
class LastValue;
template <class T, class List, class Traits>
class LastValue<T, Bus<List, Traits>> {
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                  "LastValue<T>: moving and destroying a T must not throw");
    using OfBus = Bus<List, Traits>;
    using Platform = typename Traits::Platform;
    using Lock = BasicSpinLock<Platform>;

public:
    using Handler = FixedFunction<void(const T&), Traits::handlerSize>;

    LastValue(OfBus& bus, Handler handler) : bus_(bus), handler_(std::move(handler)) {
        SLUICE_ASSERT(static_cast<bool>(handler_), "the handler of a LastValue is empty");
    }

    /// Makes `value` the newest one. Returns `ok`, or `closed` without touching the argument.
    template <class U = T>
    SendResult publish(U&& value) {
        {
            const std::lock_guard<Lock> guard(lock_);
            if (bus_.isClosed()) {
                return SendResult::closed;
            }
            T fresh(std::forward<U>(value));  // may throw
            if (newest_ == handled_) {
                newest_ = 1 - newest_;
            }
            slots_[newest_].emplace(std::move(fresh));
            isNew_.store(true, std::memory_order_relaxed);  // relaxed: E2
        }
        bus_.waiting().notifyAll();
        return SendResult::ok;
    }

    /// A copy of the newest value, whether handled or not; empty before the first publish().
    [[nodiscard]] std::optional<T> get() const {
        const std::lock_guard<Lock> guard(lock_);
        return slots_[newest_];
    }

    /// Returns true if process() would call the handler.
    [[nodiscard]] bool hasNew() const noexcept {
        return isNew_.load(std::memory_order_relaxed);  // relaxed: E2
    }

    /// Passes a new value to the handler. Returns false if no value is new or the bus is stopped.
    bool process() {
        std::size_t index = 0;
        {
            const std::lock_guard<Lock> guard(lock_);
            SLUICE_ASSERT(handled_ == none, "process() in the handler, or on a second thread");
            // Relaxed, both: under the lock.
            if (handled_ != none || !isNew_.load(std::memory_order_relaxed)) {
                return false;
            }
            isNew_.store(false, std::memory_order_relaxed);
            if (bus_.isStopped()) {
                return false;
            }
            index = handled_ = newest_;
        }
        const HandlerThread<Platform> handling;
        const EndOfHandler end{*this};
        handler_(std::as_const(*slots_[index]));
        return true;
    }

private:
    // Invariant: while the handler reads one slot, publishers write the other one. Two slots
    // suffice, because an unhandled value is overwritten.
    //
    // E1 value: the publisher writes the slot before it releases the lock; the handler and get()
    // read the slot after taking the lock. E2 wake-up, like Bus::waitUntil(): the publisher sets
    // isNew_, issues a light fence and reads the announcement, while the waiting consumer announces
    // itself, issues a heavy fence and reads isNew_. process() reads isNew_ under the lock.
    //
    // Each accepted value is handled or replaced, because publish() checks isClosed() under the
    // lock. The last process() of a drained bus finds the value of a publish() that locked earlier;
    // one that locks later returns `closed`.

    static constexpr std::size_t none = 2;

    struct EndOfHandler {
        LastValue& value;
        ~EndOfHandler() {
            const std::lock_guard<Lock> guard(value.lock_);
            value.handled_ = none;
        }
    };

    OfBus& bus_;
    Handler handler_;
    mutable Lock lock_;
    std::size_t newest_ = 0;
    std::size_t handled_ = none;  ///< the handler's slot while it runs
    typename Platform::template Atomic<bool> isNew_{false};
    std::array<std::optional<T>, 2> slots_;
};

/// Like bus.run(), but also processes the last values, each at least once per 64 messages.
template <class List, class Traits, class... Ts>
void run(Bus<List, Traits>& bus, LastValue<Ts, Bus<List, Traits>>&... values) {
    using Clock = typename Bus<List, Traits>::Clock;
    constexpr std::size_t most = 64;
    const typename Traits::Pacing pacing;
    while (!bus.isDrained()) {
        std::size_t count = bus.process(most);
        ((count += std::size_t{values.process()}), ...);
        if (count == 0) {
            (void)bus.waitUntil(Clock::time_point::max(), [&] { return (values.hasNew() || ...); });
        } else if (count < most) {
            pacing.polled(count);
        }
    }
    (static_cast<void>(values.process()), ...);
}

}  // namespace sluice
