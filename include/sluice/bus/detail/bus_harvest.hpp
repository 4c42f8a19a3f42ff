#pragma once

#include <sluice/bus/detail/bus_core.hpp>

#include <algorithm>
#include <cstddef>

// The consumer's side of a BusCore: it takes messages from the rings in a batch, hands each to a
// handler, and looks at the clock and at the pressure now and then.

namespace sluice::detail {

/// A thread in the role of the consumer.
template <class MessageList, class Traits>
struct BusCore<MessageList, Traits>::Consuming {
    explicit Consuming(BusCore& b) noexcept : bus(b), role(b.consumerRole_, oneConsumer) {
        bus.consumer_.begin();
    }
    ~Consuming() {
        bus.endHarvest(*this);
        bus.consumer_.end();
    }

    BusCore& bus;
    typename RoleCheck::Scope role;
    const Handling handling;
    bool hasServed = false;
    bool hasReturned = false;   ///< false: a visitor has thrown
    std::size_t untilLook = 1;  ///< messages until the next lookAround()
};

/// A message while it is handled. The destructor counts it and destroys it.
template <class MessageList, class Traits>
template <Priority P>
struct BusCore<MessageList, Traits>::Delivery {
    Consuming& consuming;
    QueuedMessage& queued;
    bool isFailed = false;
    bool isDiscarded = false;

    /// Counts a handler that has thrown.
    void countFailure() noexcept {
        consuming.bus.counts_.count(queued.typeIndex(), P, ConsumeOutcome::failed);
    }

    [[gnu::always_inline]] ~Delivery() {
        BusCore& bus = consuming.bus;
        if (isDiscarded) {
            bus.counts_.count(queued.typeIndex(), P, ConsumeOutcome::discarded);
        } else {
            bus.counts_.count(queued.typeIndex(), P, ConsumeOutcome::delivered);
            if (isFailed) {
                countFailure();
            }
            if constexpr (Traits::timeStamp != TimeStamp::none) {
                bus.time_.handled(queued.timeStamp, P, bus.counts_);
            }
        }
        queued.destroy();
        if constexpr (looksAround) {
            if (__builtin_expect(--consuming.untilLook == 0, 0)) {
                bus.lookAround(consuming);  // the slot still counts as used
            }
        }
    }
};

/// Runs after the first message of a harvest, then after each chunk. Not earlier, because the first
/// message would wait for it. If there is no second message, it does not read the line that the
/// next publisher would have to fetch back.
template <class MessageList, class Traits>
[[gnu::noinline]] void BusCore<MessageList, Traits>::lookAround(Consuming& consuming) noexcept {
    if constexpr (Traits::statistics) {
        counts_.sawUsed(rings_.hasSecond() ? rings_.highest() : 1);
    }
    if (consuming.hasServed) {
        endChunk(chunk);
    }
    consuming.untilLook = consuming.hasServed ? chunk : chunk - 1;
    consuming.hasServed = true;
}

template <class MessageList, class Traits>
inline void BusCore<MessageList, Traits>::endChunk(std::size_t served) noexcept {
    time_.settle(served, counts_);
    notifier_.tell(rings_, observer_);
}

template <class MessageList, class Traits>
inline void BusCore<MessageList, Traits>::endHarvest(const Consuming& consuming) noexcept {
    if (consuming.hasServed) {
        emptyHarvests_ = 0;
        endChunk(chunk - consuming.untilLook);
    } else if (++emptyHarvests_ % chunk == 0) {
        // Not after each empty harvest: a consumer that polls must not slow the publishers down.
        time_.suspend();
        notifier_.tell(rings_, observer_);
    }
    waits_.arrived.notifyAll();
    waits_.drained.notifyAll();
    if (!canBlock<Traits> || !consuming.hasReturned) {
        waits_.notifyAllForRoom();
    }
}

template <class MessageList, class Traits>
template <class Handle>
inline std::size_t BusCore<MessageList, Traits>::harvest(std::size_t max, Handle&& handle) {
    SLUICE_ASSERT(!consumer_.isHere(),
                  "a handler consumes from its own bus: let it return, and consume then");
    if (consumer_.isHere() || max == 0) {  // 0 here would count as an empty poll
        return 0;
    }
    Consuming consuming(*this);
    const auto handleOne = [&](QueuedMessage & queued, auto priority)
        __attribute__((always_inline)) {
        Delivery<priority()> delivery{consuming, queued};
        handle(delivery);
    };
    const auto released = [&]([[maybe_unused]] auto priority) __attribute__((always_inline)) {
        if constexpr (canBlock<Traits>) {
            waits_.notifyOneForRoom(priority());
        }
    };
    const std::size_t count = rings_.serve(handleOne, std::min(max, slots), released);
    consuming.hasReturned = true;
    return count;
}

}  // namespace sluice::detail
