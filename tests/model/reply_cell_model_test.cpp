#include "model/exchange.hpp"

#include "support/testing.hpp"

// A request and its future as shipped, under the model checker.

namespace sluice::model {
namespace {

void replyArrives() {
    Exchange exchange;
    parallel([&] { exchange.reply(); },
             [&] {
                 const auto reply = exchange.future.get();
                 check(reply.hasValue() && (*reply)->get() == 7, "the reply with what it names");
             });
}

void cancellationArrives() {
    Exchange exchange;
    parallel(
        [&] {
            exchange.value.set(7);
            exchange.request.reset();
        },
        [&] {
            const auto reply = exchange.future.get();
            check(!reply.hasValue() && reply.error() == RequestError::cancelled, "cancelled");
            check(exchange.value.get() == 7, "what came before the cancellation");
        });
}

/// The later one of the two threads frees the cell.
void futureIsGivenUp() {
    Exchange exchange;
    parallel([&] { exchange.reply(); },
             [&] { Asked::Future givenUp = std::move(exchange.future); });
}

struct Bell : detail::Waker {
    Bell()
        : Waker([](Waker& waker) noexcept {
              auto& bell = static_cast<Bell&>(waker);
              bell.rings.set(bell.rings.get() + 1);
          }) {}
    Plain<int> rings;
};

/// A waker is told once, and by nobody after detach().
void wakerIsToldOrDetached() {
    Exchange exchange;
    Bell bell;
    parallel([&] { exchange.reply(); },
             [&] {
                 bell.rings.set(1);
                 if (exchange.future.attach(bell)) {
                     const bool isEarly = exchange.future.detach(bell);
                     check(bell.rings.get() == (isEarly ? 1 : 2), "told once, or not at all");
                     bell.rings.set(0);
                 }
             });
}

TEST(ReplyCellModelTest, RepliesAndCancellationsArrive) {
    EXPECT_TRUE(holds(replyArrives));
    EXPECT_TRUE(holds(cancellationArrives));
    EXPECT_TRUE(holds(futureIsGivenUp));
    EXPECT_TRUE(holds(wakerIsToldOrDetached));
}

TEST(ReplyCellModelTest, EveryOrderIsNeeded) {
    EXPECT_TRUE(survive(
        {}, ordersOf("request.hpp", {},
                     {replyArrives, cancellationArrives, futureIsGivenUp, wakerIsToldOrDetached})));
}

}  // namespace
}  // namespace sluice::model
