#pragma once

#include <sluice/base/send_result.hpp>
#include <sluice/queue/blocking_queue.hpp>
#include <sluice/queue/mpmc_lanes.hpp>
#include <sluice/queue/mpmc_ring.hpp>
#include <sluice/queue/mpsc_lanes.hpp>
#include <sluice/queue/mpsc_ring.hpp>
#include <sluice/queue/overwrite_ring.hpp>
#include <sluice/queue/queue_traits.hpp>
#include <sluice/queue/segment_queue.hpp>
#include <sluice/queue/spsc_ring.hpp>
#include <sluice/wait/park.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

namespace sluice {

/// Found by GoogleTest, so that a failure names the result.
inline void PrintTo(SendResult result, std::ostream* out) {
    *out << (result == SendResult::ok ? "ok" : result == SendResult::full ? "full" : "closed");
}

}  // namespace sluice

namespace sluice::test {

/// Traits of a queue under test. Segments are tiny, so that every test crosses many of them.
template <class PlatformType = StdPlatform, class IndexType = QueueTraits::Index,
          std::uint64_t First = 0>
struct TestTraits : SegmentQueueTraits {
    using Platform = PlatformType;
    using Index = IndexType;
    static constexpr std::uint64_t firstPosition = First;
    static constexpr std::size_t segmentBytes = 1;
    static constexpr std::size_t minSegmentSlots = 3;
    static constexpr std::size_t keptBytes = 1048576;
};

// A shape tells how to make one of the queues, and which properties tests may expect.
// ------------------------

struct SpscRingShape {
    template <class T, std::size_t Capacity, class Traits>
    using Queue = SpscRing<T, Capacity, Traits>;
    template <class Q>
    static Q make(std::size_t) {
        return Q();
    }
    static constexpr const char* name = "SpscRing";
    static constexpr bool manyProducers = false;
    /// Each producer has a handle with a capacity of its own.
    static constexpr bool hasHandles = false;
    /// The producer that fills a slot sees the consumer's writes before the slot was freed.
    static constexpr bool orderedReuse = true;
    static constexpr bool isBlocking = false;
    /// The consumer can look at the oldest message before it takes it out.
    static constexpr bool hasFront = true;
    /// Handlers see the message in its slot.
    static constexpr bool handledInPlace = true;
    /// The largest capacity with positions of 8 bits.
    static constexpr std::size_t largestInAByte = 64;
};

struct DynamicSpscRingShape : SpscRingShape {
    template <class T, std::size_t, class Traits>
    using Queue = SpscRing<T, dynamicCapacity, Traits>;
    template <class Q>
    static Q make(std::size_t capacity) {
        return Q(capacity);
    }
    static constexpr const char* name = "DynamicSpscRing";
};

struct MpscRingShape : SpscRingShape {
    template <class T, std::size_t Capacity, class Traits>
    using Queue = MpscRing<T, Capacity, Traits>;
    static constexpr const char* name = "MpscRing";
    static constexpr bool manyProducers = true;
};

struct DynamicMpscRingShape : DynamicSpscRingShape {
    template <class T, std::size_t, class Traits>
    using Queue = MpscRing<T, dynamicCapacity, Traits>;
    static constexpr const char* name = "DynamicMpscRing";
    static constexpr bool manyProducers = true;
};

struct MpmcRingShape : MpscRingShape {
    template <class T, std::size_t Capacity, class Traits>
    using Queue = MpmcRing<T, Capacity, Traits>;
    static constexpr const char* name = "MpmcRing";
    static constexpr bool hasFront = false;
};

struct DynamicMpmcRingShape : DynamicMpscRingShape {
    template <class T, std::size_t, class Traits>
    using Queue = MpmcRing<T, dynamicCapacity, Traits>;
    static constexpr const char* name = "DynamicMpmcRing";
    static constexpr bool hasFront = false;
};

/// An OverwriteRing that is full at its capacity, so that one producer drops nothing.
template <class Ring>
class RefusingRing : public Ring {
public:
    using Ring::Ring;
    template <class U>
    SendResult tryPush(U&& value) {
        return tryEmplace(std::forward<U>(value));
    }
    template <class... Args>
    SendResult tryEmplace(Args&&... args) {
        return Ring::isClosed() || Ring::sizeApprox() < Ring::capacity()
                   ? Ring::tryEmplace(std::forward<Args>(args)...)
                   : SendResult::full;
    }
};

template <bool Many, class Base>
struct ProducersTraits : Base {
    static constexpr bool manyProducers = Many;
};

template <bool Many>
struct OverwriteRingShape : SpscRingShape {
    template <class T, std::size_t Capacity, class Traits>
    using Queue = RefusingRing<OverwriteRing<T, Capacity, ProducersTraits<Many, Traits>>>;
    static constexpr const char* name = Many ? "OverwriteRing" : "OverwriteRingOfOneProducer";
    static constexpr bool hasFront = false;
    static constexpr bool handledInPlace = false;
    static constexpr std::size_t largestInAByte = 31;
};

struct MpscLanesShape : DynamicSpscRingShape {
    template <class T, std::size_t, class Traits>
    using Queue = MpscLanes<T, Traits>;
    static constexpr const char* name = "MpscLanes";
    static constexpr bool manyProducers = true;
    static constexpr bool hasFront = false;
    static constexpr bool hasHandles = true;
};

struct MpmcLanesShape : MpscLanesShape {
    template <class T, std::size_t, class Traits>
    using Queue = MpmcLanes<T, Traits>;
    static constexpr const char* name = "MpmcLanes";
};

struct SegmentQueueShape : DynamicSpscRingShape {
    template <class T, std::size_t, class Traits>
    using Queue = SegmentQueue<T, Traits>;
    static constexpr const char* name = "SegmentQueue";
    static constexpr bool manyProducers = true;
    static constexpr bool orderedReuse = false;
};

template <class Inner>
struct BlockingShape : Inner {
    template <class T, std::size_t Capacity, class Traits>
    using Queue = BlockingQueue<typename Inner::template Queue<T, Capacity, Traits>,
                                BasicPark<typename Traits::Platform>,
                                BasicBatchPacing<typename Traits::Platform>>;
    template <class Q>
    static Q make(std::size_t capacity) {
        if constexpr (!std::is_base_of_v<DynamicSpscRingShape, Inner>) {
            return Q();
        } else {
            return Q(capacity);
        }
    }
    static constexpr bool isBlocking = true;
};

/// Lets GoogleTest name the instances of a typed suite.
struct ShapeNames {
    template <class Shape>
    static std::string GetName(int) {
        return Shape::isBlocking ? std::string("Blocking") + Shape::name : Shape::name;
    }
};

// One interface for all queues.
// ----------------------------------------------------------------------

/// The handle of a producer, for a queue without handles.
template <class Queue>
class DirectProducer {
public:
    explicit DirectProducer(Queue& queue) noexcept : queue_(&queue) {}

    template <class U>
    SendResult tryPush(U&& value) {
        return queue_->tryPush(std::forward<U>(value));
    }
    template <class... Args>
    SendResult tryEmplace(Args&&... args) {
        return queue_->tryEmplace(std::forward<Args>(args)...);
    }
    template <class U>
    SendResult push(U&& value) {
        return queue_->push(std::forward<U>(value));
    }
    template <class U, class Time>
    SendResult pushFor(U&& value, Time atMost) {
        return queue_->pushFor(std::forward<U>(value), atMost);
    }

private:
    Queue* queue_;
};

/// A queue of some shape, with the same members for each shape. No member waits; native() may.
template <class Shape, class T, std::size_t Capacity, class Traits = TestTraits<>>
class TestQueue {
public:
    using Queue = typename Shape::template Queue<T, Capacity, Traits>;

    TestQueue() : queue_(Shape::template make<Queue>(Capacity)) {}

    /// Each producing thread calls it once and keeps the result.
    auto producer() {
        if constexpr (Shape::hasHandles) {
            return queue_.producer();
        } else {
            return DirectProducer<Queue>(queue_);
        }
    }

    [[nodiscard]] std::optional<T> tryPop() { return queue_.tryPop(); }

    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t max = unlimited) {
        if constexpr (Shape::isBlocking) {
            return queue_.consumeFor(std::chrono::nanoseconds(0), handler, max);
        } else {
            return queue_.consume(handler, max);
        }
    }

    void close() { queue_.close(); }
    [[nodiscard]] bool isClosed() const { return queue_.isClosed(); }
    [[nodiscard]] bool isDrained() const { return queue_.isDrained(); }
    [[nodiscard]] std::size_t sizeApprox() const { return queue_.sizeApprox(); }
    [[nodiscard]] std::size_t capacity() const { return queue_.capacity(); }

    Queue& native() noexcept { return queue_; }

private:
    Queue queue_;
};

/// Calls function(capacity) for one slot, for a power of two, and for a capacity that rings round
/// up.
template <class Function>
void forEachCapacity(Function function) {
    function(std::integral_constant<std::size_t, 1>());
    function(std::integral_constant<std::size_t, 2>());
    function(std::integral_constant<std::size_t, 5>());
}

}  // namespace sluice::test
