#pragma once

#include <sluice/base/spin_lock.hpp>
#include <sluice/queue/segment_queue.hpp>

#include <cstddef>
#include <utility>

namespace sluice {

/// The messages that were queued at a takeAll(). Its destructor destroys the messages that are
/// left. It must not outlive the queue.
template <class T, class Traits>
class SegmentQueue<T, Traits>::Batch {
public:
    Batch() noexcept = default;
    Batch(Batch&& other) noexcept
        : queue_(std::exchange(other.queue_, nullptr)),
          reader_(other.reader_),
          positions_(std::exchange(other.positions_, 0)) {}
    Batch& operator=(Batch&& other) noexcept {
        Batch taken(std::move(other));
        std::swap(queue_, taken.queue_);
        std::swap(reader_, taken.reader_);
        std::swap(positions_, taken.positions_);
        return *this;
    }
    ~Batch() {
        if (queue_ != nullptr) {
            consume([](T&) noexcept {});
            reader_.end(queue_->recycler());
            queue_->batches_.fetch_sub(1, std::memory_order_release);
        }
    }

    /// Hands the messages that are left, at most `max`, to handler(T&), oldest first. A message is
    /// destroyed when its handler returns or throws. Waits for a producer that is still
    /// constructing the next message. Returns the number of messages.
    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t max = unlimited) {
        std::size_t count = 0;
        while (positions_ != 0 && count < max) {
            Slot& slot = reader_.slot(queue_->recycler());
            if (waitUntilSettled(slot.state)) {
                ++count;
                const Passed passed{*this, &slot.cell};
                handler(slot.cell.get());
            } else {
                const Passed nothing{*this, nullptr};
            }
        }
        return count;
    }

    /// The number of messages that are left. Messages whose constructor may still throw count.
    [[nodiscard]] std::size_t size() const noexcept { return positions_; }

private:
    friend class SegmentQueue;

    Batch(SegmentQueue& queue, const Cursor& reader, std::size_t positions) noexcept
        : queue_(&queue), reader_(reader), positions_(positions) {
        // Relaxed: the decrement releases, and the check acquires.
        queue.batches_.fetch_add(1, std::memory_order_relaxed);
    }

    struct Passed {
        Batch& batch;
        typename Segment::Cell* cell;
        ~Passed() {
            if (cell != nullptr) {
                cell->destroyAndOwnLines();
            }
            batch.reader_.advance();
            --batch.positions_;
        }
    };

    /// Waits for the producer of the slot. Returns false if the constructor of the message threw.
    bool waitUntilSettled(const Atomic<unsigned char>& word) const noexcept {
        BasicBackoff<Platform> backoff;
        for (;;) {
            const unsigned char state = word.load(std::memory_order_acquire);  // E1 publish
            if (reader_.isFilled(state) || reader_.isSkipped(state)) {
                return reader_.isFilled(state);
            }
            backoff.wait();
        }
    }

    SegmentQueue* queue_ = nullptr;
    Cursor reader_;
    std::size_t positions_ = 0;
};

}  // namespace sluice
