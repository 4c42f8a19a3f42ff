#pragma once

#include <sluice/base/counter.hpp>
#include <sluice/base/on_exit.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/bus/subscription.hpp>
#include <sluice/fixed/fixed_function.hpp>

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

template <class Platform>
class ConsumerState {
public:
    /// Returns true if the calling thread is consuming from the bus.
    [[nodiscard]] bool isHere() const noexcept {
        return thread_.load(std::memory_order_relaxed) == Platform::thisThread();
    }
    /// Returns true if the calling thread consumed last. Before any thread has consumed, returns
    /// true if letPublishersWait(false) was called.
    [[nodiscard]] bool isMine() const noexcept {
        const std::size_t last = lastNumber_.load(std::memory_order_relaxed);
        return last == Platform::threadNumber() || last == anyThread;
    }
    void letPublishersWait(bool isOn) noexcept {
        lastNumber_.store(isOn ? 0 : anyThread, std::memory_order_relaxed);
    }
    void begin() noexcept {
        thread_.store(Platform::thisThread(), std::memory_order_relaxed);
        lastNumber_.store(Platform::threadNumber(), std::memory_order_relaxed);
    }
    void end() noexcept { thread_.store(nullptr, std::memory_order_relaxed); }

    /// The hazard pointer: the slot of the handler that runs or is about to run, or null.
    typename Platform::template Atomic<const void*> handler{nullptr};

private:
    static constexpr std::size_t anyThread = ~std::size_t{0};

    // Relaxed, because a thread compares thread_ with its own id, which no other thread stores.
    typename Platform::template Atomic<const void*> thread_{nullptr};  ///< null if none consumes
    /// The number of the thread that consumed last; 0 or `anyThread` if no thread has consumed.
    typename Platform::template Atomic<std::size_t> lastNumber_{0};
};

struct BusValue {
    void (*handleAll)(BusValue& first, bool isForgotten);
    BusValue* next;
};

/// The handlers of one message type, in subscription order. The consumer has its own copy of the
/// list, which it reads without a lock and renews after a change.
template <class Signature, class Traits>
class HandlerTable;

template <class... Args, class Traits>
class HandlerTable<void(Args...), Traits> {
    using Platform = typename Traits::Platform;
    using Lock = BasicSpinLock<Platform>;
    using Consumer = ConsumerState<Platform>;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using Callable = FixedFunction<void(Args...), Traits::handlerSize>;

    /// Identifies a subscription, even after another subscription has reused its slot.
    struct Id {
        std::size_t slot = 0;
        CounterWord generation = 0;  ///< 0 means no subscription
    };

    /// Adds the handler that make() returns. If the table is full, does not call make() and returns
    /// generation 0.
    template <class Make>
    Id add(const Make& make) {
        Slot* const slot = reserve();
        if (slot == nullptr) {
            return {};
        }
        bool isMade = false;
        const OnExit finishUnlessMade{[&] {
            if (!isMade) {
                finish(*slot);
            }
        }};
        slot->callable = make();  // without the lock, because make() runs user code
        isMade = true;
        const std::lock_guard<Lock> guard(lock_);
        lastGeneration_ = lastGeneration_ + 1 == ending ? 1 : lastGeneration_ + 1;
        const CounterWord generation = lastGeneration_;
        slot->generation.store(generation, std::memory_order_release);  // E4 over
        order_.entries[order_.count++] = {slot, generation};
        version_.add(1);
        return {static_cast<std::size_t>(slot - slots_.data()), generation};
    }

    UnsubscribeResult remove(Id id, UnsubscribeStep step, Consumer& consumer) {
        Slot& slot = slots_[id.slot];
        if (step == UnsubscribeStep::destroyCaptures) {
            finish(slot);
            return UnsubscribeResult::done;
        }
        if (step == UnsubscribeStep::none) {
            return slot.generation.load(std::memory_order_relaxed) == id.generation  // value only
                       ? UnsubscribeResult::refused
                       : UnsubscribeResult::alreadyOver;
        }
        const bool isItself =
            consumer.isHere() &&
            consumer.handler.load(std::memory_order_relaxed) == &slot;  // own variable
        if (step == UnsubscribeStep::ownHandler && !isItself) {
            return UnsubscribeResult::refused;
        }
        const bool isFirst = beginEnd(slot, id);
        // A subscription is over once its callable is destroyed or its slot is reused.
        const auto isOver = [&] {
            return slot.generation.load(std::memory_order_acquire) !=  // E4 over
                   (id.generation | ending);
        };
        if (isItself && (isFirst || !isOver())) {
            if (isFirst) {
                slot.endsWithCall = true;
            }
            return UnsubscribeResult::atReturn;
        }
        if (!isFirst && step != UnsubscribeStep::keepCaptures) {
            await(isOver);  // the handler may have unsubscribed itself and still run
            return UnsubscribeResult::alreadyOver;
        }
        if (!consumer.isHere()) {
            Platform::Fence::heavy();  // E2 end
            await([&] {
                return consumer.handler.load(std::memory_order_acquire) != &slot ||  // E3 done
                       isOver();
            });
        }
        if (!isFirst) {
            return UnsubscribeResult::alreadyOver;
        }
        if (step != UnsubscribeStep::keepCaptures) {
            finish(slot);
        }
        return UnsubscribeResult::done;
    }

    void endAll() noexcept {
        isOver_ = true;
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            Slot& slot = slots_[i];
            const CounterWord generation =
                slot.generation.load(std::memory_order_relaxed);  // own variable
            if (generation < ending && beginEnd(slot, {i, generation})) {
                // Frees the slot before destroying the captures, which may own a Subscription.
                const Callable last = std::move(slot.callable);
                finish(slot);
            }
        }
    }

    [[nodiscard]] std::size_t size() const noexcept {
        const std::lock_guard<Lock> guard(lock_);
        return order_.count;
    }

    /// Calls all handlers, or none() if the table is empty. Calls failed() if a handler throws.
    template <class Failed, class None>
    SLUICE_ALWAYS_INLINE void callAll(Consumer& consumer, const Failed& failed, const None& none,
                                      Args... args) noexcept {
        if (version_.get() != seenVersion_) {
            renew();
        }
        if (mine_.count == 0) {
            none();
            return;
        }
        callOne(mine_.entries[0], consumer, failed, args...);
        if (SLUICE_UNLIKELY(mine_.count != 1)) {
            callOthers(consumer, failed, args...);
        }
        consumer.handler.store(nullptr, std::memory_order_release);  // E3 done
    }

private:
    // Happens-before edges (proof: docs/algorithms/bus.md):
    //   E1 change: add -> callAll.
    //   E2 end: remove <-> callAll.
    //   E3 done: callAll -> remove.
    //   E4 over: finish -> remove.

    // A slot's generation cycles through `free`, `ending` (reserved), a number n, and n | ending.
    static constexpr CounterWord free = 0;
    static constexpr CounterWord ending = CounterWord{1}
                                          << (std::numeric_limits<CounterWord>::digits - 1);

    struct Slot {
        Atomic<CounterWord> generation{free};
        bool endsWithCall = false;  ///< the running handler has ended its own subscription
        Callable callable;
    };
    struct Entry {
        Slot* slot;
        CounterWord generation;
    };
    struct Order {
        std::array<Entry, Traits::maxHandlers> entries{};
        std::size_t count = 0;
    };

    Slot* reserve() noexcept {
        const std::lock_guard<Lock> guard(lock_);
        for (Slot& slot : slots_) {
            if (!isOver_ &&
                slot.generation.load(std::memory_order_relaxed) == free) {  // under the lock
                slot.generation.store(ending, std::memory_order_release);   // E4 over
                return &slot;
            }
        }
        return nullptr;
    }

    // renew(), callOthers() and finish() are out of line to keep the common path short.
    [[gnu::cold, gnu::noinline]] void renew() {
        const std::lock_guard<Lock> guard(lock_);
        seenVersion_ = version_.get();
        mine_ = order_;
    }

    template <class Failed>
    SLUICE_ALWAYS_INLINE void callOne(const Entry& entry, Consumer& consumer,
                                      [[maybe_unused]] const Failed& failed, Args... args) {
        Slot& slot = *entry.slot;
        consumer.handler.store(&slot, std::memory_order_release);  // E3 done, previous handler
        Platform::Fence::light();                                  // E2 end
        if (slot.generation.load(std::memory_order_relaxed) == entry.generation) {  // by E2
#if defined(__cpp_exceptions)
            try {
                slot.callable(args...);
            } catch (...) {
                failed(std::current_exception());
            }
#else
            slot.callable(args...);
#endif
            if (SLUICE_UNLIKELY(slot.endsWithCall)) {
                slot.endsWithCall = false;
                finish(slot);
            }
        }
    }

    template <class Failed>
    [[gnu::noinline]] void callOthers(Consumer& consumer, const Failed& failed, Args... args) {
        for (std::size_t i = 1; i < mine_.count; ++i) {
            callOne(mine_.entries[i], consumer, failed, args...);
        }
    }

    /// Polls isTrue(), so that the consumer need not notify a waiting thread after each handler.
    template <class IsTrue>
    static void await(const IsTrue& isTrue) {
        for (BasicBackoff<Platform> backoff; !isTrue();) {
            backoff.wait();
        }
    }

    bool beginEnd(Slot& slot, Id id) {
        const std::lock_guard<Lock> guard(lock_);
        if (id.generation == 0 ||
            slot.generation.load(std::memory_order_relaxed) != id.generation) {  // under the lock
            return false;
        }
        slot.generation.store(id.generation | ending, std::memory_order_release);  // E2, E4
        Entry* const first = order_.entries.data();
        Entry* const last = first + order_.count;
        (void)std::remove_if(first, last,
                             [&slot](const Entry& entry) { return entry.slot == &slot; });
        --order_.count;
        version_.add(1);
        return true;
    }

    /// Destroys the callable outside of the lock, and then frees its slot.
    [[gnu::cold, gnu::noinline]] void finish(Slot& slot) {
        slot.callable.reset();
        const std::lock_guard<Lock> guard(lock_);
        slot.generation.store(free, std::memory_order_release);  // E4 over
    }

    mutable Lock lock_;
    std::array<Slot, Traits::maxHandlers> slots_;
    Order order_;
    CounterWord lastGeneration_ = 0;
    bool isOver_ = false;                    ///< set by endAll()
    SingleWriterCounter<Platform> version_;  ///< number of changes; written under lock_

    // Used by the consumer alone.
    std::uint64_t seenVersion_ = 0;
    Order mine_;
};

}  // namespace sluice::detail
