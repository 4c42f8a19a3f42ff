#include "model/queue_scenarios.hpp"

#include <sluice/queue/segment_queue.hpp>

#include "support/testing.hpp"
#include <memory_resource>

// SegmentQueue as shipped, under the model checker, with segments of one slot: each message links a
// new segment, and each one passed gives a segment back.

namespace sluice::model {
namespace {

struct SegmentTraits : ModelTraits {
    static constexpr std::size_t segmentBytes = 1;
    static constexpr std::size_t minSegmentSlots = 1;
    static constexpr std::size_t keptBytes = 1048576;
};

/// Segments come from memory that is not used again within an execution, so that the checker
/// notices the use of a segment that has been given back.
struct Queue : SegmentQueue<Message, SegmentTraits> {
    explicit Queue(std::pmr::memory_resource& memory, std::size_t limit = unlimited)
        : SegmentQueue(limit, &memory) {}
};
using Memory = std::pmr::monotonic_buffer_resource;

void offer(Queue& queue, Ledger& ledger, int number) {
    if (queue.tryEmplace(number, ledger) == SendResult::ok) {
        ++ledger.accepted;
    }
}

/// Numbers of a first producer are 0, 1, ..., of a second one 10, 11, ...
struct InOrder {
    Ledger& ledger;
    std::array<int, 2> next{0, 10};
    void operator()(Message& message) {
        const int number = message.number();
        check(number == next[number < 10 ? 0 : 1]++, "each producer's order is kept");
        ++ledger.delivered;
    }
};

void twoProducers() {
    Ledger ledger;
    Memory memory;
    Queue queue(memory);
    InOrder handler{ledger};
    parallel([&] { offer(queue, ledger, 0); }, [&] { offer(queue, ledger, 10); },
             [&] { (void)queue.consume(handler); });
    (void)queue.consume(handler);
    check(ledger.accepted == 2 && ledger.delivered == 2, "nothing is refused or lost");
}

/// Segments go from the consumer back to the producer.
void reuse() {
    Ledger ledger;
    Memory memory;
    Queue queue(memory);
    InOrder handler{ledger};
    offer(queue, ledger, 0);
    offer(queue, ledger, 1);
    parallel([&] { offer(queue, ledger, 2), offer(queue, ledger, 3); },
             [&] { (void)queue.consume(handler), (void)queue.consume(handler); });
    (void)queue.consume(handler);
    check(ledger.delivered == 4, "nothing is lost");
}

/// With a limit, room that is known of is found.
void limit() {
    Ledger ledger;
    Memory memory;
    Queue queue(memory, 1);
    Atomic<int> hasRoom{0};
    parallel(
        [&] {
            check(queue.tryEmplace(0, ledger) == SendResult::ok, "there is room");
            const SendResult second = queue.tryEmplace(1, ledger);
            if (hasRoom.load(acquire) == 1) {
                check(second == SendResult::ok || queue.tryEmplace(1, ledger) == SendResult::ok,
                      "there is room again");
            }
        },
        [&] {
            if (queue.consume([](Message&) {}, 1) == 1) {
                hasRoom.store(1, release);
            }
        });
}

void closeWhilePushing() {
    Ledger ledger;
    Memory memory;
    Queue queue(memory);
    Plain<int> handled;
    Plain<int> reason;
    bool hasEnded = false;
    parallel(
        [&] {
            offer(queue, ledger, 0);
            reason.set(1);
            queue.close();
        },
        [&] {
            (void)queue.consume([&](Message&) { handled.set(++ledger.delivered); });
            hasEnded = queue.isDrained();
        },
        [&] {
            if (queue.isDrained()) {
                check(handled.get() == 1 && reason.get() == 1, "all that happened is visible");
            }
        });
    check(!hasEnded || ledger.delivered == 1, "nothing follows the end");
}

void closedTellsWhy() {
    Memory memory;
    Queue queue(memory);
    closedTellsWhyIn(queue);
}

/// A producer that sees its message gone also sees the handler's writes.
void sizeTellsThatAHandlerIsDone() {
    Memory memory;
    Ledger ledger;
    Queue queue(memory);
    sizeTellsThatAHandlerIsDoneIn(queue, ledger);
}

TEST(SegmentQueueModelTest, LosesNothing) {
    EXPECT_TRUE(holds(twoProducers));
    EXPECT_TRUE(holds(limit));
}

TEST(SegmentQueueModelTest, UsesSegmentsAgain) {
    EXPECT_TRUE(holds(reuse));
}

TEST(SegmentQueueModelTest, DeliversWhatWasAcceptedBeforeTheEnd) {
    EXPECT_TRUE(holds(closeWhilePushing));
    EXPECT_TRUE(holds(closedTellsWhy));
}

TEST(SegmentQueueModelTest, SizesStayWithinBounds) {
    EXPECT_TRUE(holds(sizeTellsThatAHandlerIsDone));
}

TEST(SegmentQueueModelTest, EveryOrderIsNeededButAFew) {
    // sizeApprox() may read head instead of tail. The link of a segment (E4) is visible by way of
    // tail, which is stored after it.
    const std::vector<std::string> expected{"linkFreeSegment: store release -> relaxed",
                                            "oldest: load acquire -> relaxed",
                                            "sizeApprox: load acquire -> relaxed"};
    const Scenarios scenarios{closedTellsWhy, sizeTellsThatAHandlerIsDone, closeWhilePushing,
                              reuse};
    EXPECT_TRUE(survive(expected, ordersOf("segment_queue.hpp", options({1, 1}), scenarios)));
}

}  // namespace
}  // namespace sluice::model
