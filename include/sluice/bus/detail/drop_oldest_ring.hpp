#pragma once

#include <sluice/base/ring_positions.hpp>
#include <sluice/queue/mpmc_ring.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace sluice::detail {

/// The ring of a priority whose publishers make room by dropping the oldest message: they consume
/// it. It has the functions of MpscRing that the bus uses.
///
/// A publisher drops after its own message is there, so a newer message follows each dropped one. A
/// publisher that finds no slot drops only messages that other publishers have yet to drop.
///
/// The consumer moves each message out before its handler runs. So a slow handler keeps no slot,
/// and publishers go on dropping. T has moveFrom(T&), which also destroys the source.
///
/// Threads: publishing and consume() by any thread; consumeWhile() by one thread.
///
/// Progress: as MpmcRing. A thread that is stopped while it takes a message out costs the others
/// the room of one message. The ring has twice as many slots as the room. When publishers reach the
/// slot of that thread again, they get `full`. Messages beyond the room are those whose publishers
/// have not dropped others yet.
///
/// Edges: those of MpmcRing. E1 taken: message taken -> passed release .. passed acquire -> taken
/// read: so isDrained() misses no message between ring and handler. E2 gone: handler returned ->
/// taken release .. taken acquire -> a thread that sees the message gone.
///
/// Tests: tests/unit/bus/drop_oldest_ring_test.cpp, tests/model/bus_model_test.cpp.
template <class T, std::size_t Room, class Traits>
class DropOldestRing : public MpmcRing<T, 2 * Room, Traits> {
    using Ring = MpmcRing<T, 2 * Room, Traits>;

public:
    // ---- Publishers

    [[nodiscard]] auto tryReserve() { return Ring::tryReserve(); }
    [[nodiscard]] auto tryReserve(std::size_t most) {
        return Ring::tryReserve(std::min(most, Room));
    }

    /// Hands the oldest messages to drop(T&) while the ring holds more than the room. Returns
    /// whether the head has moved, also if only past skipped slots.
    template <class Drop>
    bool dropExcess(const Drop& drop) {
        // Stays true until the message is taken, because the tail only grows.
        const auto isExcess = [this](auto position) {
            return RingPositions<typename Traits::Index>::distance(position, this->tail()) > Room;
        };
        const auto before = this->head();
        (void)this->consumeIf(isExcess, drop, unlimited);
        return this->head() != before;
    }

    // ---- The consumer

    /// As MpscRing::consumeWhile().
    template <class Handler, class GoOn>
    std::size_t consumeWhile(Handler&& handler, std::size_t max, GoOn&& goOn) {
        T message;
        const auto take = [&](T& oldest) {
            message.moveFrom(oldest);
            isTaken_.store(true, std::memory_order_relaxed);  // E1 taken: the ring releases it
        };
        const std::size_t most = std::min(max, Room);
        std::size_t count = 0;
        for (bool isMore = true; isMore && count < most && this->consume(take, 1) != 0;) {
            ++count;
            {
                const Handling handling{isTaken_};
                handler(message);
            }
            isMore = goOn();
        }
        return count;
    }

    /// As in MpscRing. The oldest message has been taken out, so the next one is the second.
    [[nodiscard]] bool hasSecond() const noexcept { return this->hasArrival(); }
    [[nodiscard]] auto arrival() const noexcept {
        return [this]() noexcept { return this->hasArrival(); };
    }

    // ---- Anybody

    [[nodiscard]] bool isDrained() const noexcept {
        return Ring::isDrained() && !isTaken_.load(std::memory_order_acquire);  // E2 gone
    }
    /// The message that is being handled counts.
    [[nodiscard]] std::size_t sizeExact() const noexcept {
        const std::size_t queued = Ring::sizeExact();
        const std::size_t taken = isTaken_.load(std::memory_order_acquire) ? 1 : 0;  // E2 gone
        return std::min(queued + taken, Room);
    }

private:
    struct Handling {
        typename Traits::Platform::template Atomic<bool>& isTaken;
        ~Handling() { isTaken.store(false, std::memory_order_release); }  // E2 gone
    };

    /// Whether the consumer holds a message that it has taken out; written by the consumer.
    typename Traits::Platform::template Atomic<bool> isTaken_{false};
};

}  // namespace sluice::detail
