#pragma once

#include <sluice/base/counter.hpp>
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

/// The thread that consumes a bus, and the handler that it calls.
template <class Platform>
class ConsumerState {
public:
    /// Returns true if the calling thread is consuming.
    [[nodiscard]] bool isHere() const noexcept {
        return thread_.load(std::memory_order_relaxed) == Platform::thisThread();
    }
    /// Returns true if the calling thread was the last to consume, so that it would wait for
    /// itself. Also true if no thread has consumed, unless publishers may wait then.
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

    /// The hazard: the slot of the handler that runs or is about to; null otherwise.
    typename Platform::template Atomic<const void*> handler{nullptr};

private:
    static constexpr std::size_t anyThread = ~std::size_t{0};

    // Relaxed: a thread finds its own value only if it wrote it.
    typename Platform::template Atomic<const void*> thread_{nullptr};  ///< null: none consumes
    /// The number of the thread that consumed last; 0 or `anyThread` if none has.
    typename Platform::template Atomic<std::size_t> lastNumber_{0};
};

/// The handlers of one message type, in the order of their subscription. The consumer calls them
/// from its own copy of the list, without a lock. A change affects only later messages.
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

    /// Identifies a subscription, also when a later one has taken its slot.
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
        slot->generation.store(generation, std::memory_order_release);  // E4; E1 is the lock
        order_.entries[order_.count++] = {slot, generation};  // it has an entry for each slot
        version_.add(1);
        return {static_cast<std::size_t>(slot - slots_.data()), generation};
    }

    /// Ends a subscription, or takes one step of it: see Subscription.
    UnsubscribeResult remove(Id id, UnsubscribeStep step, Consumer& consumer) {
        Slot& slot = slots_[id.slot];
        if (step == UnsubscribeStep::destroyCaptures) {
            finish(slot);
            return UnsubscribeResult::done;
        }
        // Relaxed: this thread stored it.
        const bool isItself =
            consumer.isHere() && consumer.handler.load(std::memory_order_relaxed) == &slot;
        if (step == UnsubscribeStep::ownHandler && !isItself) {
            return UnsubscribeResult::refused;
        }
        const bool isFirst = beginEnd(slot, id);
        // Over once the callable is destroyed, or a later subscription has the slot.
        const auto isOver = [&] {
            return slot.generation.load(std::memory_order_acquire) !=  // E4
                   (id.generation | ending);
        };
        if (isItself && (isFirst || !isOver())) {
            if (isFirst) {
                slot.endsWithCall = true;
            }
            return UnsubscribeResult::atReturn;
        }
        if (!isFirst && step != UnsubscribeStep::keepCaptures) {
            await(isOver);  // the handler may have ended itself and still run
            return UnsubscribeResult::alreadyOver;
        }
        if (!consumer.isHere()) {
            Platform::Fence::heavy();  // E2
            await([&] {
                return consumer.handler.load(std::memory_order_acquire) != &slot ||  // E3
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

    /// Ends all subscriptions and refuses new ones, in the destructor of the bus.
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
        return order_.count;
    }

    /// Calls each handler, and failed(exception) if one throws, or none() without a handler. For
    /// the consumer.
    template <class Failed, class None>
    [[gnu::always_inline]] void callAll(Consumer& consumer, const Failed& failed, const None& none,
                                        Args... args) noexcept {
        if (version_.get() != seenVersion_) {
            renew();
        }
        if (mine_.count == 0) {
            none();
            return;
        }
        callOne(mine_.entries[0], consumer, failed, args...);
        if (__builtin_expect(mine_.count != 1, 0)) {
            callOthers(consumer, failed, args...);
        }
        consumer.handler.store(nullptr, std::memory_order_release);  // E3
    }

private:
    // A hazard pointer: the consumer announces the handler's slot, and calls the handler only if
    // the slot still has its generation. The remover marks the generation as ending, and polls
    // until the announcement has changed.
    //
    // E1 change: table and callable written, lock released .. lock taken -> copied by the consumer.
    // The version only triggers the copy; the change happens before each message published after
    // it. E2 end: generation marked, heavy fence, announcement read -- against -- announcement
    // written, light fence, generation read: the consumer skips the handler, or the remover waits.
    // E3 done: handler returned -> announcement release .. acquire -> callable destroyed.
    // E4 over: callable destroyed by a handler that ended itself -> generation release .. acquire
    // -> another remover of the same subscription returns. The remover may acquire a later
    // generation of the slot, so each store of a generation is a release.
    //
    // A slot's generation: `free` -> `ending` while it is filled -> the subscription's unique
    // number -> number | ending -> `free`.
    static constexpr CounterWord free = 0;
    static constexpr CounterWord ending = CounterWord{1}
                                          << (std::numeric_limits<CounterWord>::digits - 1);

    struct Slot {
        Atomic<CounterWord> generation{free};
        bool endsWithCall = false;  ///< the handler has ended itself; for the consumer
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
            // Relaxed: under the lock.
            if (!isOver_ && slot.generation.load(std::memory_order_relaxed) == free) {
                slot.generation.store(ending, std::memory_order_release);  // E4
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
    [[gnu::always_inline]] void callOne(const Entry& entry, Consumer& consumer,
                                        [[maybe_unused]] const Failed& failed, Args... args) {
        Slot& slot = *entry.slot;
        // Release: a thread that awaits the end of the previous handler acquires it.
        consumer.handler.store(&slot, std::memory_order_release);  // E3
        Platform::Fence::light();                                  // E2
        // Relaxed: E1 has brought the callable, and E2's fence orders this load.
        if (slot.generation.load(std::memory_order_relaxed) == entry.generation) {
#if defined(__cpp_exceptions)
            try {
                slot.callable(args...);
            } catch (...) {
                failed(std::current_exception());
            }
#else
            slot.callable(args...);
#endif
            if (__builtin_expect(slot.endsWithCall, 0)) {
                slot.endsWithCall = false;
                finish(slot);
            }
        }
    }

    /// Out of line, so that the common case, one handler, is compiled without a loop.
    template <class Failed>
    [[gnu::noinline]] void callOthers(Consumer& consumer, const Failed& failed, Args... args) {
        for (std::size_t i = 1; i < mine_.count; ++i) {
            callOne(mine_.entries[i], consumer, failed, args...);
        }
    }

    /// Polls, so that the consumer need not notify after each handler. A handler seldom runs when
    /// it is removed.
    template <class IsTrue>
    static void await(const IsTrue& isTrue) {
        for (BasicBackoff<Platform> backoff; !isTrue();) {
            backoff.wait();
        }
    }

    bool beginEnd(Slot& slot, Id id) {
        const std::lock_guard<Lock> guard(lock_);
        // Relaxed: written under the lock.
        if (id.generation == 0 ||
            slot.generation.load(std::memory_order_relaxed) != id.generation) {
            return false;
        }
        // E4; E2's fence orders it for the consumer.
        slot.generation.store(id.generation | ending, std::memory_order_release);
        Entry* const first = order_.entries.data();
        Entry* const last = first + order_.count;
        (void)std::remove_if(first, last,
                             [&slot](const Entry& entry) { return entry.slot == &slot; });
        --order_.count;
        version_.add(1);
        return true;
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
    bool isOver_ = false;                    ///< set by endAll()
    SingleWriterCounter<Platform> version_;  ///< changes of the table; written under the lock

    // Used by the consumer alone.
    std::uint64_t seenVersion_ = 0;
    Order mine_;
};

}  // namespace sluice::detail
