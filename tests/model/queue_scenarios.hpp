#pragma once

#include "support/model/expectations.hpp"

#include <sluice/base/send_result.hpp>

#include <array>
#include <cstddef>

// Scenarios that the model tests of several queues share.

namespace sluice::model {

inline Options weaker() {
    Options options;
    options.budget.weakSteps = 2;
    return options;
}

/// Pushes as soon as there is room.
template <class Queue>
void push(Queue& queue, Ledger& ledger, int number) {
    while (queue.tryEmplace(number, ledger) != SendResult::ok) {
        ModelPlatform::pause();
    }
}

/// Consumes so many messages, as they come.
template <class Queue, class Handler>
void consume(Queue& queue, std::size_t count, Handler handler) {
    while (count != 0) {
        const std::size_t consumed = queue.consume(handler, count);
        if (consumed == 0) {
            ModelPlatform::pause();
        }
        count -= consumed;
    }
}

inline constexpr auto readIt = [](const Message& message) { (void)message.number(); };

/// Numbers of a first producer are 0, 1, ..., of a second one 10, 11, ...
struct InOrder {
    std::array<int, 2> next{0, 10};
    void operator()(Message& message) {
        const int number = message.number();
        check(number == next[number < 10 ? 0 : 1]++, "each producer's order is kept");
    }
};

/// The second push needs the slot of the first one, and its position has wrapped.
template <class SmallQueue>
void twoProducersOneSlot() {
    Ledger ledger;
    SmallQueue queue;
    parallel([&] { push(queue, ledger, 0); }, [&] { push(queue, ledger, 10); },
             [&] { consume(queue, 2, InOrder()); });
}

/// There is room for two messages, so two producers succeed, however slow a thread is.
template <class Queue>
void neverFullWithoutReason() {
    Ledger ledger;
    Queue queue;
    const auto pushOne = [&] {
        check(queue.tryEmplace(0, ledger) == SendResult::ok, "there is room");
    };
    parallel(pushOne, pushOne, [&] { (void)queue.consume(readIt, 1); });
}

/// A thread that knows of the room finds it. So does everybody who sees that thread's push.
template <class Queue>
void roomThatAnotherPushKnewOf() {
    Ledger ledger;
    Queue queue;
    Atomic<int> hasRoom{0};
    parallel(
        [&] {
            push(queue, ledger, 0);
            await(hasRoom);
            check(queue.tryEmplace(1, ledger) == SendResult::ok, "there is room");
        },
        [&] {
            consume(queue, 1, readIt);
            hasRoom.store(1, release);
        },
        [&] { check(queue.tryEmplace(10, ledger) == SendResult::ok, "there is room"); });
}

/// A consumer that is told of a message finds it, although another consumer moves the head.
template <class Queue>
void messageThatIsKnownOf() {
    Ledger ledger;
    Queue queue;
    Atomic<int> isPushed{0};
    push(queue, ledger, 0);
    parallel(
        [&] {
            push(queue, ledger, 1);
            isPushed.store(1, release);
        },
        [&] { check(queue.consume(readIt, 1) == 1, "the first, or the second"); },
        [&] {
            await(isPushed);
            check(queue.consume(readIt, 1) == 1, "the second, or the first");
        });
}

/// The queue is never empty: the second thread pushes a message before it takes another one.
template <class Queue>
void neverEmptyAsTheOtherConsumerKnows() {
    Ledger ledger;
    Queue queue;
    push(queue, ledger, 0), push(queue, ledger, 1);
    parallel([&] { check(queue.consume(readIt, 1) == 1, "one of the three"); },
             [&] {
                 consume(queue, 1, readIt);
                 if (queue.tryEmplace(2, ledger) == SendResult::ok) {
                     (void)queue.consume(readIt, 1);
                 }
             });
}

/// The end is seen when both consumers' handlers have returned.
template <class Queue>
void drainedMeansHandled() {
    Ledger ledger;
    Queue queue;
    Plain<int> handled[2];
    push(queue, ledger, 0), push(queue, ledger, 1);
    const auto take = [&] {
        (void)queue.consume([&](Message& message) { handled[message.number()].set(1); }, 1);
    };
    parallel(take, take, [&] {
        queue.close();
        if (queue.isDrained()) {
            check(handled[0].get() == 1 && handled[1].get() == 1, "by both");
        }
    });
    check(queue.isDrained(), "the queue is empty");
}

/// A thread that sees the queue closed sees what was done before close().
template <class Queue>
void closedTellsWhyIn(Queue& queue) {
    Plain<int> reason;
    parallel(
        [&] {
            reason.set(1);
            queue.close();
        },
        [&] {
            if (queue.isClosed()) {
                check(reason.get() == 1, "written before close()");
            }
        });
}
template <class Queue>
void closedTellsWhy() {
    Queue queue;
    closedTellsWhyIn(queue);
}

/// A producer that counts its message as removed sees what the handler did.
template <class Queue>
void sizeTellsThatAHandlerIsDoneIn(Queue& queue, Ledger& ledger) {
    Plain<int> handled;
    parallel(
        [&] {
            push(queue, ledger, 0);
            if (queue.sizeApprox() == 0) {
                check(handled.get() == 1, "the handler has been here");
            }
        },
        [&] { (void)queue.consume([&](Message&) { handled.set(1); }); },
        [&] { check(queue.sizeApprox() <= 1, "at most what was pushed"); });
}
template <class Queue>
void sizeTellsThatAHandlerIsDone() {
    Ledger ledger;  // outlives the message that may be left in the queue
    Queue queue;
    sizeTellsThatAHandlerIsDoneIn(queue, ledger);
}

}  // namespace sluice::model
