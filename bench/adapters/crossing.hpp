#pragma once

/// \file
/// Allocate here, free there: as a queue, so that the rounds of queues measure it.

#include "harness/run/message.hpp"

#include <sluice/queue/mpsc_lanes.hpp>
#include <sluice/queue/spsc_ring.hpp>

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

namespace sluice::bench {

/// The pointers travel in our rings, alike for all allocators: one ring, or one lane per producer.
template <class Pointer>
class OneRing {
    using Ring = SpscRing<Pointer, dynamicCapacity>;

public:
    OneRing(std::size_t capacity, std::size_t) : ring_(capacity) {}
    struct Lane {
        Ring& ring;
        bool tryPush(Pointer& pointer) {
            return ring.tryPush(std::move(pointer)) == SendResult::ok;
        }
    };
    Lane lane() { return {ring_}; }
    template <class Handler>
    std::size_t consume(Handler&& handler) {
        return ring_.consume(handler);
    }

private:
    Ring ring_;
};

template <class Pointer>
class LaneEach {
    using Lanes = MpscLanes<Pointer>;

public:
    LaneEach(std::size_t capacity, std::size_t producers)
        : lanes_(std::max<std::size_t>(1, capacity / producers)) {}
    struct Lane {
        typename Lanes::Producer lane;
        bool tryPush(Pointer& pointer) {
            return lane.tryPush(std::move(pointer)) == SendResult::ok;
        }
    };
    Lane lane() { return {lanes_.producer()}; }
    template <class Handler>
    std::size_t consume(Handler&& handler) {
        return lanes_.consume(handler);
    }

private:
    Lanes lanes_;
};

/// A queue whose producers put each message into a block of its own, and whose consumer reads it
/// there and frees the block.
template <class Allocator, class Transport>
class Crossing {
    using Text = Message<64>;

public:
    Crossing(std::size_t capacity, std::size_t producers)
        : allocator_(capacity + producers), transport_(capacity, producers) {}
    Crossing(const Crossing&) = delete;
    Crossing& operator=(const Crossing&) = delete;
    ~Crossing() {
        (void)transport_.consume([this](std::byte*& block) { allocator_.deallocate(block); });
    }

    class Producer {
    public:
        explicit Producer(Crossing& owner)
            : allocator_(owner.allocator_), lane_(owner.transport_.lane()) {}
        Producer(Producer&& other) noexcept
            : allocator_(other.allocator_),
              lane_(std::move(other.lane_)),
              pending_(std::exchange(other.pending_, nullptr)) {}
        ~Producer() {
            if (pending_ != nullptr) {
                allocator_.deallocate(pending_);
            }
        }

        /// A block that found no room waits for the next try, which is with the same message.
        bool tryPush(const Text& message) {
            if (pending_ == nullptr) {
                pending_ = allocator_.allocate();
                if (pending_ == nullptr) {
                    return false;
                }
                ::new (static_cast<void*>(pending_)) Text(message);
            }
            if (!lane_.tryPush(pending_)) {
                return false;
            }
            pending_ = nullptr;
            return true;
        }

    private:
        Allocator& allocator_;
        typename Transport::Lane lane_;
        std::byte* pending_ = nullptr;
    };

    struct Consumer {
        Crossing& owner;
        template <class Handler>
        std::size_t poll(Handler&& handler) {
            return owner.transport_.consume([&](std::byte*& block) {
                handler(*std::launder(reinterpret_cast<const Text*>(block)));
                owner.allocator_.deallocate(block);
            });
        }
    };

    Producer producer() { return Producer(*this); }
    Consumer consumer() { return {*this}; }

private:
    Allocator allocator_;
    Transport transport_;
};

}  // namespace sluice::bench
