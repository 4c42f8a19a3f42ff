#include "support/model/expectations.hpp"

#include "../src/answer_word.hpp"

#include <gtest/gtest.h>

namespace sluice::model {
namespace {

using nats::detail::Answer;
using Word = nats::detail::BasicAnswerWord<ModelPlatform>;

/// The messages that a lane has sent, for a server that answers each one. The connection orders: an
/// answer comes after the sending, and after all that the lane did before.
struct Wire {
    ModelPlatform::Atomic<int> sent{0};

    void send() { sent.store(sent.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
    void await(int count) {
        while (sent.load(std::memory_order_acquire) < count) {
            ModelPlatform::pause();
        }
    }
};

/// As the lane's thread does it: sends, sends again when the server refused, until it is done.
Answer sendUntilDone(Word& word, Wire& wire, std::uint64_t position) {
    bool isFirst = true;
    while (!word.isDone(position)) {
        if ((isFirst || word.answerTo(position) == Answer::again) && word.beginTry(position)) {
            wire.send();
            isFirst = false;
        }
        ModelPlatform::pause();
    }
    return word.answerTo(position);
}

void refusedMessageIsSentAgain() {
    Word word;
    Wire wire;
    Answer answer = Answer::waiting;
    parallel([&] { answer = sendUntilDone(word, wire, 1); },
             [&] {
                 wire.await(1);
                 word.settle(1, Answer::again);
                 wire.await(2);
                 word.settle(1, Answer::stored);
             });
    check(answer == Answer::stored, "the answer to the second try is seen");
    check(wire.sent.load(std::memory_order_relaxed) == 2, "a refusal is one more try");
}

// The slot holds message 1, then message 2. A second answer to message 1 comes at any time.
void lateAnswerToAnEarlierMessage() {
    Word word;
    Wire wire;
    Answer answer = Answer::waiting;
    parallel(
        [&] {
            (void)sendUntilDone(word, wire, 1);
            answer = sendUntilDone(word, wire, 2);
        },
        [&] {
            wire.await(1);
            word.settle(1, Answer::stored);
            wire.await(2);
            word.settle(2, Answer::stored);
        },
        [&] {
            wire.await(1);
            word.settle(1, Answer::never);
        });
    check(answer == Answer::stored, "message 2 has the answer to message 2");
    check(wire.sent.load(std::memory_order_relaxed) == 2, "each message is sent once");
}

// The answer to the first try comes while the lane's thread begins the second one.
void answerToAnEarlierTry() {
    Word word;
    Wire wire;
    check(word.beginTry(1), "a new message is sent");
    bool isSentAgain = false;
    parallel([&] { isSentAgain = word.beginTry(1); }, [&] { word.settle(1, Answer::stored); });
    check(word.answerTo(1) == Answer::stored, "the answer is not overwritten");
    check(!word.beginTry(1), "a stored message is not sent again");
    (void)isSentAgain;
}

void firstOfTwoAnswersStays() {
    Word word;
    check(word.beginTry(1), "a new message is sent");
    Answer seen = Answer::waiting;
    parallel([&] { word.settle(1, Answer::stored); }, [&] { word.settle(1, Answer::never); },
             [&] { seen = word.answerTo(1); });
    const Answer last = word.answerTo(1);
    check(word.isDone(1), "the message is done");
    check(seen == Answer::waiting || seen == last, "an answer does not change");
}

TEST(AnswerWordModelTest, AnswersBelongToTheirMessage) {
    EXPECT_TRUE(holds(refusedMessageIsSentAgain));
    EXPECT_TRUE(holds(lateAnswerToAnEarlierMessage));
    EXPECT_TRUE(holds(answerToAnEarlierTry));
    EXPECT_TRUE(holds(firstOfTwoAnswersStays));
}

}  // namespace
}  // namespace sluice::model
