#pragma once

#include "support/model/expectations.hpp"

#include <sluice/base/send_result.hpp>

// Scenarios that the model tests of several queues share.

namespace sluice::model {

/// Pushes as soon as there is room.
template <class Queue>
void push(Queue& queue, Ledger& ledger, int number) {
    while (queue.tryEmplace(number, ledger) != SendResult::ok) {
        ModelPlatform::pause();
    }
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
