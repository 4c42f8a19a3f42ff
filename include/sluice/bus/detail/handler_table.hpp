#pragma once

#include <sluice/base/counter.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/bus/detail/consumer_state.hpp>
#include <sluice/bus/subscription.hpp>
#include <sluice/fixed/fixed_function.hpp>
#include <sluice/fixed/fixed_vector.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>

namespace sluice::detail {

/// The handlers of one type of message, in a table of fixed size, called in the order in which they
/// were added.
///
/// The consumer calls from a copy of the list, and renews the copy when the table has changed. So
/// no handler runs under a lock. If a handler adds or removes handlers, only later messages see the
/// change.
///
/// A slot that is being filled counts as ending, until its callable is there.
///
/// Invariants: each subscription has a generation of its own, so no subscription is mistaken for an
/// earlier one in its slot. A free slot is reserved under the lock, and then filled. A callable is
/// destroyed when its slot is ending and no call of it runs or can begin.
///
/// Edges: E1 change: table and callable written, lock released .. lock taken -> the consumer copies
/// the list. The version only tells the consumer when to do that. The change happens before each
/// message that is published after it, so the consumer finds the new version. E2 end: state
/// written, heavy fence, running read -- against -- running written, light fence, state read:
/// either the consumer sees that the handler has ended, or the remover sees that it runs. E3 done:
/// handler's last act -> running release .. running acquire -> callable destroyed. E4 over: handler
/// that has ended itself has returned and is destroyed -> generation release .. generation acquire
/// -> another thread that ends it too goes on.
///
/// Tests: tests/unit/bus/subscription_test.cpp, tests/stress/bus_stress_test.cpp,
/// tests/model/handler_table_model_test.cpp.
template <class Signature, class Traits>
class HandlerTable;

template <class... Args, class Traits>
class HandlerTable<void(Args...), Traits> {
    using Platform = typename Traits::Platform;
    using Lock = BasicSpinLock<Platform>;
    using Consumer = ConsumerState<Platform, typename Traits::Wait>;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using Callable = FixedFunction<void(Args...), Traits::handlerSize>;

    /// Names one subscription, also when a later one has taken its slot.
    struct Id {
        std::size_t slot = 0;
        CounterWord generation = 0;  ///< 0 is none
    };

    /// Adds a handler. The generation is 0 if the table is full.
    Id add(Callable&& callable) {
        Slot* const slot = reserve();
        if (slot == nullptr) {
            return {};
        }
        slot->callable = std::move(callable);  // not under the lock: it is the user's code
        const std::lock_guard<Lock> guard(lock_);
        lastGeneration_ = lastGeneration_ + 1 == ending ? 1 : lastGeneration_ + 1;
        const CounterWord generation = lastGeneration_;
        slot->generation.store(generation, std::memory_order_relaxed);  // relaxed: E1 is the lock
        (void)order_.pushBack(Entry{slot, generation});  // it has an entry for each slot
        version_.add(1);
        return {static_cast<std::size_t>(slot - slots_.data()), generation};
    }

    /// Ends a subscription. When it returns, the handler does not run and will not run again. One
    /// exception: if the handler calls it, directly or not, the subscription ends when the handler
    /// returns. With `ownHandler`, the calls of others change nothing.
    UnsubscribeResult remove(Id id, UnsubscribeCaller caller, Consumer& consumer) {
        Slot& slot = slots_[id.slot];
        // Relaxed: this thread stored it.
        const bool isItself =
            consumer.isHere() && consumer.handler.load(std::memory_order_relaxed) == &slot;
        if (caller == UnsubscribeCaller::ownHandler && !isItself) {
            return UnsubscribeResult::refused;
        }
        if (!beginEnd(slot, id)) {
            const auto isOver = [&] { return !isEnding(slot, id); };
            if (isItself && !isOver()) {
                return UnsubscribeResult::atReturn;
            }
            consumer.await(isOver);  // the handler may have ended itself and still run
            return UnsubscribeResult::alreadyOver;
        }
        if (isItself) {
            slot.endsWithCall = true;
            return UnsubscribeResult::atReturn;
        }
        if (!consumer.isHere()) {
            Platform::Fence::heavy();  // E2
            consumer.await([&] {
                return consumer.handler.load(std::memory_order_acquire) != &slot;  // E3
            });
        }
        finish(slot);
        Platform::Fence::light();
        consumer.tellIfAwaited();
        return UnsubscribeResult::done;
    }

    /// Ends all subscriptions and refuses new ones. The destructor of the bus calls it.
    void endAll() noexcept {
        isOver_ = true;
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            Slot& slot = slots_[i];
            // Relaxed: no other thread uses the bus.
            const CounterWord generation = slot.generation.load(std::memory_order_relaxed);
            if (generation < ending && beginEnd(slot, {i, generation})) {
                // The subscription ends before its captures are destroyed, which may own it.
                const Callable last = std::move(slot.callable);
                finish(slot);
            }
        }
    }

    [[nodiscard]] std::size_t size() const noexcept {
        const std::lock_guard<Lock> guard(lock_);
        return order_.size();
    }

    /// Calls each handler. If one throws, calls failed(exception) and goes on with the next. For
    /// the consumer.
    template <class Failed>
    void callAll(Consumer& consumer, const Failed& failed, Args... args) noexcept {
        if (version_.get() != seenVersion_) {
            renew();
        }
        const Entry* entry = mine_.begin();
        for (std::size_t left = mine_.size(); left != 0; --left, ++entry) {
            Slot& slot = *entry->slot;
            // Release: a thread that waits for the previous handler acquires this store.
            consumer.handler.store(&slot, std::memory_order_release);  // E3
            Platform::Fence::light();                                  // E2
            consumer.tellIfAwaited();  // the previous handler has ended
            // Relaxed: E1 has brought the callable, and E2's fence orders this load.
            if (slot.generation.load(std::memory_order_relaxed) == entry->generation) {
                call(slot.callable, failed, args...);
                if (__builtin_expect(slot.endsWithCall, 0)) {
                    slot.endsWithCall = false;
                    finish(slot);
                }
            }
        }
        consumer.handler.store(nullptr, std::memory_order_release);  // E3
    }

private:
    // The generation of a slot is `free`, the number of its subscription, or that number with the
    // mark `ending`. While the slot is being filled, it is `ending` without a number.
    static constexpr CounterWord free = 0;
    static constexpr CounterWord ending = CounterWord{1}
                                          << (std::numeric_limits<CounterWord>::digits - 1);

    struct Slot {
        Atomic<CounterWord> generation{free};
        bool endsWithCall = false;  ///< set by the consumer when the handler ends itself
        Callable callable;
    };
    struct Entry {
        Slot* slot;
        CounterWord generation;
    };
    using Order = FixedVector<Entry, Traits::maxHandlers>;

    /// Reserves a free slot for the caller; null if there is none.
    Slot* reserve() noexcept {
        const std::lock_guard<Lock> guard(lock_);
        for (Slot& slot : slots_) {
            // Relaxed, both: under the lock.
            if (!isOver_ && slot.generation.load(std::memory_order_relaxed) == free) {
                slot.generation.store(ending, std::memory_order_relaxed);
                return &slot;
            }
        }
        return nullptr;
    }

    /// Out of line, like finish(), so that the loop over the handlers has more registers.
    [[gnu::cold, gnu::noinline]] void renew() {
        const std::lock_guard<Lock> guard(lock_);
        seenVersion_ = version_.get();
        mine_ = order_;
    }

    template <class Failed>
    static void call(Callable& callable, [[maybe_unused]] const Failed& failed, Args... args) {
#if defined(__cpp_exceptions)
        try {
            callable(args...);
        } catch (...) {
            failed(std::current_exception());
        }
#else
        callable(args...);
#endif
    }

    bool beginEnd(Slot& slot, Id id) {
        const std::lock_guard<Lock> guard(lock_);
        // Relaxed, both: written under the lock; E2's fence orders it for the consumer.
        if (id.generation == 0 ||
            slot.generation.load(std::memory_order_relaxed) != id.generation) {
            return false;
        }
        slot.generation.store(id.generation | ending, std::memory_order_relaxed);
        order_.eraseOrdered(std::find_if(order_.begin(), order_.end(), [&slot](const Entry& entry) {
            return entry.slot == &slot;
        }));
        version_.add(1);
        return true;
    }

    /// Whether the subscription's end has begun and its callable still exists.
    static bool isEnding(const Slot& slot, Id id) noexcept {
        return slot.generation.load(std::memory_order_acquire) == (id.generation | ending);  // E4
    }

    /// Destroys the callable, outside of the lock, and frees its slot.
    [[gnu::cold, gnu::noinline]] void finish(Slot& slot) {
        slot.callable.reset();
        const std::lock_guard<Lock> guard(lock_);
        slot.generation.store(free, std::memory_order_release);  // E4
    }

    mutable Lock lock_;
    std::array<Slot, Traits::maxHandlers> slots_;
    Order order_;
    CounterWord lastGeneration_ = 0;
    bool isOver_ = false;                    ///< set by the destructor of the bus
    SingleWriterCounter<Platform> version_;  ///< changes of the table; written under the lock

    // Used by the consumer alone.
    std::uint64_t seenVersion_ = 0;
    Order mine_;
};

}  // namespace sluice::detail
