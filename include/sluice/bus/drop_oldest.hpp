#pragma once

// Include this header for a bus whose traits have Overflow::dropOldest.

#include <sluice/base/on_exit.hpp>
#include <sluice/base/ring_storage.hpp>
#include <sluice/bus/bus.hpp>
#include <sluice/queue/mpmc_ring.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace sluice::detail {

template <class Queued, class Traits>
struct MovableMessage : Queued {
    /// Moves the message and its header out of `other`, and destroys the moved-from message.
    void moveFrom(MovableMessage& other) noexcept {
        static_cast<MessageHeader<Traits>&>(*this) = other.header();
        other.visit([this](auto& message) noexcept {
            using Message = std::decay_t<decltype(message)>;
            if constexpr (std::is_nothrow_move_constructible_v<Message>) {  // avoids more errors
                this->template build<Message>(std::move(message));
            }
        });
        other.destroy();
    }
};

/// A ring with a quota of `Room` messages. Publishers drop the oldest messages beyond the quota.
///
/// A publisher commits its message before it drops an old message. The consumer moves each message
/// out of the ring before the handler runs, so a slow handler occupies no slot. If a thread is
/// preempted while removing a message, publishers that need this message's slot receive `full`.
///
/// Thread safety: any thread may publish and drop; only one thread may call consumeWhile().
template <class T, std::size_t Room, class Traits>
class DropOldestRing : public MpmcRing<T, 2 * Room, Traits> {
    using Ring = MpmcRing<T, 2 * Room, Traits>;

public:
    // ---- Publishers

    [[nodiscard]] auto tryReserve(One one = {}) { return Ring::tryReserve(one); }
    [[nodiscard]] auto tryReserve(std::size_t most) {
        return Ring::tryReserve(std::min(most, Room));
    }

    /// While the ring has more than `Room` messages, passes the oldest to drop(T&). Returns true if
    /// the head of the ring has moved, perhaps only past empty slots.
    template <class Drop>
    bool dropExcess(const Drop& drop) {
        // Once isExcess(position) is true, it stays true, because the tail never moves back.
        const auto isExcess = [this](auto position) {
            return RingPositions<typename Traits::Index>::distance(position, this->tail()) > Room;
        };
        const auto before = this->head();
        (void)this->consumeIf(isExcess, drop, unlimited);
        return this->head() != before;
    }

    // ---- The consumer

    /// Like MpscRing::consumeWhile().
    template <class Handler, class GoOn>
    std::size_t consumeWhile(Handler&& handler, std::size_t max, GoOn&& goOn) {
        T message;
        const auto take = [&](T& oldest) {
            message.moveFrom(oldest);
            isTaken_.store(true, std::memory_order_relaxed);  // E1 taken
        };
        const std::size_t most = std::min(max, Room);
        std::size_t count = 0;
        for (bool isMore = true; isMore && count < most && this->consume(take, 1) != 0;) {
            ++count;
            {
                const OnExit gone{
                    [this] { isTaken_.store(false, std::memory_order_release); }};  // E2 gone
                handler(message);
            }
            isMore = goOn();
        }
        return count;
    }

    /// Returns true if the ring contains a message; the message being handled does not count.
    [[nodiscard]] bool hasSecond() const noexcept { return this->hasArrival(); }
    [[nodiscard]] auto arrival() const noexcept {
        return [this]() noexcept { return this->hasArrival(); };
    }

    // ---- Any thread

    [[nodiscard]] bool isDrained() const noexcept {
        return Ring::isDrained() && !isTaken_.load(std::memory_order_acquire);  // E2 gone
    }
    /// The number of messages, without the message being handled. A slot that stays empty because a
    /// constructor threw counts until the consumer skips it.
    [[nodiscard]] std::size_t sizeExact() const noexcept {
        return std::min(Ring::sizeExact(), Room);
    }

private:
    // Happens-before edges (proof: docs/algorithms/bus.md), besides those of MpmcRing:
    //   E1 taken: consumeWhile -> isDrained.
    //   E2 gone: consumeWhile -> isDrained.

    /// True while the consumer handles a message that it has moved out of the ring.
    typename Traits::Platform::template Atomic<bool> isTaken_{false};
};

template <class T, std::size_t Room, class Traits>
struct RingFor<RingKind::dropOldest, T, Room, Traits> {
    using Type = DropOldestRing<MovableMessage<T, Traits>, Room, Traits>;

    template <Priority P, class Bus>
    static bool dropExcess(Bus& bus) {
        const bool hasPassed = bus.template ring<P>().dropExcess([&](T& queued) noexcept {
            bus.counts_.sawUsed(Room);
            bus.counts_.template count<P, PublishOutcome::dropped>(queued.typeIndex(), 1);
            bus.template trace<P>(TraceStep::dropped, queued);
            queued.destroy();
        });
        if (hasPassed) {
            bus.notifyWaiters();  // a slot is free, and the bus may be drained
        }
        return hasPassed;
    }
};

}  // namespace sluice::detail
