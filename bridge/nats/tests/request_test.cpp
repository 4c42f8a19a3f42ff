#include "notes.hpp"
#include "station.hpp"
#include "support/watchdog.hpp"

#include <nats/nats.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

bool runRequestGuide(const std::string& url);

namespace sluice::nats {
namespace {

using namespace std::chrono_literals;
using namespace test;

const NatsRoute where{"where"};
using Answered = Reply<Position>;

/// The error of a reply, or the answer.
template <class Answer>
std::string textOf(const Reply<Answer>& reply) {
    return reply ? "answer" : toString(reply.error());
}
template <class Answer>
std::string textOf(std::future<Reply<Answer>>&& reply) {
    return textOf(reply.get());
}

void expectBalanced(const NatsStatistics& s) {
    EXPECT_EQ(s.requests, s.answered + s.timedOut + s.noResponder + s.failedRequests);
    EXPECT_EQ(s.openRequests, 0U);
}

/// A program that doubles the robot of a position.
struct Doubler {
    explicit Doubler(const NatsServer& server) : Doubler(optionsFor(server)) {}
    explicit Doubler(const NatsOptions& options) : station(options) {
        station.bridge.serve<Position, Position>(where, [this](const Position& question) {
            ++calls;
            if (question.robot < 0) {
                throw std::runtime_error("a robot below 0");
            }
            return Position{2 * question.robot, question.x};
        });
    }
    /// Processes the bus until the reply is ready.
    template <class Answer>
    Reply<Answer> serve(std::future<Reply<Answer>>&& reply) {
        await([&] {
            (void)station.bus->process();
            return reply.wait_for(0ms) == std::future_status::ready;
        });
        return reply.get();
    }
    void awaitQuestions(std::size_t count) const {
        await([&] { return station.bus->sizeApprox() >= count; });
    }

    Station station;
    int calls = 0;
};

class RequestTest : public testing::Test {
protected:
    const Watchdog watchdog_{[](std::FILE*) {}};
    NatsServer server_;
};

TEST_F(RequestTest, TheGuideWorks) {
    EXPECT_TRUE(runRequestGuide(server_.url()));
}

TEST_F(RequestTest, EachPriorityIsAnswered) {
    Doubler doubler(server_);
    Station asker(server_);
    auto client = asker.bridge.client<Position, Position>(where);
    for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
        const auto reply = doubler.serve(client.request({4, 0.5}, patience, priority));
        ASSERT_EQ(textOf(reply), "answer");
        EXPECT_EQ(reply->robot, 8);
        EXPECT_EQ(reply->x, 0.5);
        EXPECT_EQ(doubler.station.priorities.back(), priority);
    }
    EXPECT_EQ(asker.bridge.statistics().answered, 3U);
    expectBalanced(asker.bridge.statistics());
    EXPECT_EQ(doubler.station.bridge.statistics().questions, 3U);
    EXPECT_EQ(doubler.station.bridge.statistics().answers, 3U);
}

// The client's bus and the server's bus are the same, and its consumer publishes the answer.
TEST_F(RequestTest, AHandlerAsksItsOwnBridgeAndPublishesTheAnswer) {
    Station station(server_);
    station.bridge.serve<Picture, Position>({"picture"},
                                            [](const Picture&, const TestBus::Header& header) {
                                                return Position{header.origin != 0 ? 7 : 0, 0.0};
                                            });
    auto client = station.bridge.client<Picture, Position>({"picture"});
    const auto asking = station.bus->subscribe<Picture>([&](const Picture&, const auto& header) {
        if (header.origin == 0) {
            client.request(Picture{}, patience, [&](Answered&& reply) {
                (void)station.bus->publish(Position{reply ? reply->robot : -1, 0.0});
            });
        }
    });
    ASSERT_EQ(station.bus->publish(Picture{}), SendResult::ok);
    station.consume(1);
    EXPECT_EQ(station.seen, std::vector<int>{7});
}

TEST_F(RequestTest, WithoutAServingProgramTheErrorIsImmediate) {
    Station asker(server_);
    auto client = asker.bridge.client<Position, Position>(where);
    EXPECT_EQ(textOf(client.request({}, 24h)), "noResponder");
    EXPECT_EQ(asker.bridge.statistics().noResponder, 1U);
    expectBalanced(asker.bridge.statistics());
}

TEST_F(RequestTest, ARequestWithoutAnswerEndsAtItsDeadlineAndItsHandlerDoesNotRun) {
    Doubler doubler(server_);
    Station asker(server_);
    auto client = asker.bridge.client<Position, Position>(where);
    EXPECT_EQ(textOf(client.request({1, 0.0}, 0ms)), "timedOut");
    EXPECT_EQ(textOf(client.request({1, 0.0}, std::chrono::hours::min())), "timedOut");
    auto late = client.request({1, 0.0}, 100ms);
    auto later = client.request({2, 0.0}, std::chrono::hours::max());
    doubler.awaitQuestions(2);
    EXPECT_EQ(textOf(std::move(late)), "timedOut");
    std::this_thread::sleep_for(100ms);  // the deadline of the server may be this much later
    const auto reply = doubler.serve(std::move(later));
    ASSERT_EQ(textOf(reply), "answer");
    EXPECT_EQ(reply->robot, 4);
    EXPECT_EQ(doubler.calls, 1);
    EXPECT_EQ(doubler.station.bridge.statistics().declined, 1U);
    EXPECT_EQ(asker.bridge.statistics().timedOut, 3U);
    expectBalanced(asker.bridge.statistics());
}

TEST_F(RequestTest, AHandlerThatThrowsIsARefusal) {
    Doubler doubler(server_);
    Station asker(server_);
    auto client = asker.bridge.client<Position, Position>(where);
    EXPECT_EQ(textOf(doubler.serve(client.request({-1, 0.0}, patience))), "refused");
    EXPECT_EQ(doubler.station.bus->statistics().total().failed, 1U);
    EXPECT_EQ(textOf(doubler.serve(client.request({1, 0.0}, patience))), "answer");
}

TEST_F(RequestTest, TheNumberOfOpenRequestsHasALimit) {
    NatsOptions options = optionsFor(server_);
    options.maxRequests = 2;
    Doubler doubler(options);
    Station asker(options);
    auto client = asker.bridge.client<Position, Position>(where);
    auto first = client.request({1, 0.0}, patience);
    auto second = client.request({2, 0.0}, patience);
    EXPECT_EQ(textOf(client.request({3, 0.0}, patience)), "full");
    EXPECT_EQ(asker.bridge.statistics().openRequests, 2U);
    doubler.awaitQuestions(2);
    Station other(options);
    EXPECT_EQ(textOf(other.bridge.client<Position, Position>(where).request({4, 0.0}, patience)),
              "full");
    EXPECT_EQ(textOf(doubler.serve(std::move(first))), "answer");
    EXPECT_EQ(textOf(doubler.serve(std::move(second))), "answer");
}

// The bus loses the question, but has another message.
TEST_F(RequestTest, AQuestionThatTheBusLosesNeedsNoPlaceAfterItsDeadline) {
    NatsOptions options = optionsFor(server_);
    options.maxRequests = 1;
    Doubler doubler(options);
    Station asker(options);
    auto client = asker.bridge.client<Position, Position>(where);
    auto lost = client.request({1, 0.0}, 50ms);
    doubler.awaitQuestions(1);
    (void)doubler.station.bus->discard();
    ASSERT_EQ(doubler.station.bus->publish(Picture{}), SendResult::ok);
    EXPECT_EQ(textOf(std::move(lost)), "timedOut");
    std::future<Answered> next;
    const auto isRefused = [&next] { return next.wait_for(0ms) == std::future_status::ready; };
    await([&] {
        next = client.request({2, 0.0}, patience);
        await([&] { return isRefused() || doubler.station.bus->sizeApprox() == 2; });
        return !isRefused();  // the deadline of the server is a little later
    });
    EXPECT_EQ(textOf(doubler.serve(std::move(next))), "answer");
}

TEST_F(RequestTest, QuestionsThatTheBusLosesEndWithTheNextQuestion) {
    NatsOptions options = optionsFor(server_);
    options.maxRequests = 2;
    Doubler doubler(options);
    Station asker(server_);
    auto client = asker.bridge.client<Position, Position>(where);
    for (const int count : {1, 2}) {  // the next question finds a place, or none
        std::vector<std::future<Answered>> lost;
        for (int i = 0; i < count; ++i) {
            lost.push_back(client.request({1, 0.0}, 24h));
        }
        doubler.awaitQuestions(lost.size());
        (void)doubler.station.bus->discard();
        EXPECT_EQ(textOf(doubler.serve(client.request({2, 0.0}, patience))), "answer");
        for (auto& each : lost) {
            EXPECT_EQ(textOf(std::move(each)), "full");
        }
    }
    const NatsStatistics s = doubler.station.bridge.statistics();
    EXPECT_EQ(s.questions, s.answers + s.declined);
}

// The program numbers the senders of its own messages, too.
TEST_F(RequestTest, ALocalMessageIsNotAnswered) {
    Doubler doubler(server_);
    Station asker(server_);
    auto client = asker.bridge.client<Position, Position>(where);
    auto reply = client.request({1, 0.0}, patience);
    doubler.awaitQuestions(1);
    std::uint32_t sender = 0;
    const auto repeating =
        doubler.station.bus->subscribe<Position>([&](const Position&, const auto& header) {
            sender = header.origin != 0 ? header.sender : sender;
        });
    ASSERT_EQ(textOf(doubler.serve(std::move(reply))), "answer");
    PublishOptions options;
    options.priority = Priority::high;
    options.sender = sender + 1;
    auto next = client.request({2, 0.0}, patience);
    doubler.awaitQuestions(1);
    ASSERT_EQ(doubler.station.bus->publish(Position{500, 0.0}, options), SendResult::ok);
    const auto answer = doubler.serve(std::move(next));
    ASSERT_EQ(textOf(answer), "answer");
    EXPECT_EQ(answer->robot, 4);
}

TEST_F(RequestTest, AFullBusAndAClosedBusAreErrors) {
    Doubler doubler(server_);
    Station asker(server_);
    auto client = asker.bridge.client<Position, Position>(where);
    while (doubler.station.bus->publish(Position{}) == SendResult::ok) {
    }
    EXPECT_EQ(textOf(client.request({}, patience)), "full");
    doubler.station.bus->close();
    EXPECT_EQ(textOf(client.request({}, patience)), "refused");
}

TEST_F(RequestTest, AServingBridgeThatClosesRefusesTheQuestionsThatWait) {
    Doubler doubler(server_);
    Station asker(server_);
    auto client = asker.bridge.client<Position, Position>(where);
    auto reply = client.request({}, patience);
    doubler.awaitQuestions(1);
    EXPECT_TRUE(doubler.station.bridge.close(patience));
    EXPECT_EQ(textOf(std::move(reply)), "refused");
    (void)doubler.station.bus->process();
    EXPECT_EQ(doubler.calls, 0);
    EXPECT_EQ(textOf(client.request({}, patience)), "noResponder");
}

TEST_F(RequestTest, ABridgeThatClosesEndsItsRequests) {
    const Doubler doubler(server_);
    Station asker(server_);
    auto client = asker.bridge.client<Position, Position>(where);
    auto reply = client.request({}, patience);
    EXPECT_TRUE(asker.bridge.close(patience));
    EXPECT_EQ(textOf(std::move(reply)), "closed");
    EXPECT_EQ(textOf(client.request({}, patience)), "closed");
    EXPECT_EQ(asker.bridge.statistics().failedRequests, 2U);
    expectBalanced(asker.bridge.statistics());
}

// The question or the answer of the client is a type whose fields have no names, and differ.
TEST_F(RequestTest, AnotherTypeIsAnErrorAndOneLine) {
    Notes notes;
    NatsOptions options = optionsFor(server_);
    options.observer = &notes;
    Doubler doubler(options);
    Station asker(server_);
    Station another(server_);
    auto otherQuestion = asker.bridge.client<Picture, Position>(where);
    EXPECT_EQ(textOf(otherQuestion.request({}, patience)), "otherSchema");
    auto otherVersion = another.bridge.client<Position, Position>({"where", 2});
    EXPECT_EQ(textOf(otherVersion.request({}, patience)), "otherSchema");
    auto otherAnswer = another.bridge.client<Position, Picture>(where);
    EXPECT_EQ(textOf(doubler.serve(otherAnswer.request({}, patience))), "otherSchema");
    EXPECT_EQ(doubler.calls, 1);
    EXPECT_EQ(notes.count("nats: where.medium: questions of another version or type arrive"), 1);
}

TEST_F(RequestTest, AQuestionOrAnAnswerThatIsTooLargeIsAnError) {
    NatsOptions options = optionsFor(server_);
    options.maxMessageSize = 500;
    Station server(options);
    server.bridge.serve<Position, Picture>(where, [](const Position&) { return Picture{}; });
    Station asker(optionsFor(server_));
    auto client = asker.bridge.client<Position, Picture>(where);
    auto reply = client.request({}, patience);
    await([&] { return server.bus->process() != 0; });
    EXPECT_EQ(textOf(std::move(reply)), "tooLarge");
    auto picture = server.bridge.client<Picture, Position>({"picture"});
    EXPECT_EQ(textOf(picture.request({}, patience)), "tooLarge");
}

/// A program without a bridge.
struct Stranger {
    explicit Stranger(const NatsServer& server) {
        EXPECT_EQ(natsConnection_ConnectTo(&connection, server.url().c_str()), NATS_OK);
    }
    Stranger(const Stranger&) = delete;
    Stranger& operator=(const Stranger&) = delete;
    ~Stranger() { natsConnection_Destroy(connection); }
    natsConnection* connection = nullptr;
};

TEST_F(RequestTest, GarbageIsAnsweredAndAnImporterTakesNoQuestion) {
    Doubler doubler(server_);
    doubler.station.bridge.importType<Position>(where);
    const Stranger stranger(server_);
    natsMsg* answer = nullptr;
    ASSERT_EQ(
        natsConnection_RequestString(&answer, stranger.connection, "where.high", "garbage", 20'000),
        NATS_OK);
    wire::Envelope envelope;
    ASSERT_EQ(wire::decodeEnvelope(reinterpret_cast<const unsigned char*>(natsMsg_GetData(answer)),
                                   static_cast<std::size_t>(natsMsg_GetDataLength(answer)),
                                   envelope),
              wire::EnvelopeError::none);
    EXPECT_EQ(envelope.sequence, static_cast<std::uint64_t>(RequestError::otherSchema));
    natsMsg_Destroy(answer);
    ASSERT_EQ(natsConnection_PublishString(stranger.connection, "where.low", "no reply subject"),
              NATS_OK);
    await([&] { return doubler.station.bridge.statistics().declined == 2; });
    Station asker(server_);
    auto client = asker.bridge.client<Position, Position>(where);
    EXPECT_EQ(textOf(doubler.serve(client.request({}, patience))), "answer");
    EXPECT_EQ(doubler.station.seen.size(), 1U);
    await([&] { return doubler.station.bridge.statistics().otherSchema == 1; });
}

// Only the client's bridge ends a request as `closed`.
TEST_F(RequestTest, AServerCannotSayThatTheClientIsClosed) {
    const Stranger stranger(server_);
    natsSubscription* questions = nullptr;
    ASSERT_EQ(natsConnection_Subscribe(
                  &questions, stranger.connection, "where.medium",
                  [](natsConnection* connection, natsSubscription*, natsMsg* question, void*) {
                      wire::Envelope envelope;
                      envelope.type = nats::detail::answerTypeOf(where);
                      envelope.sequence = static_cast<std::uint64_t>(RequestError::closed);
                      std::array<unsigned char, wire::envelopeSize> bytes{};
                      wire::encodeEnvelope(envelope, bytes.data(), 0);
                      (void)natsConnection_Publish(connection, natsMsg_GetReply(question),
                                                   bytes.data(), static_cast<int>(bytes.size()));
                      natsMsg_Destroy(question);
                  },
                  nullptr),
              NATS_OK);
    ASSERT_EQ(natsConnection_Flush(stranger.connection), NATS_OK);
    Station asker(server_);
    auto client = asker.bridge.client<Position, Position>(where);
    EXPECT_EQ(textOf(client.request({}, patience)), "refused");
    natsSubscription_Destroy(questions);
}

// Each question has two answers, and the first one is garbage.
TEST_F(RequestTest, ASecondAnswerIsCountedAsLate) {
    const Stranger stranger(server_);
    natsSubscription* questions = nullptr;
    ASSERT_EQ(natsConnection_Subscribe(
                  &questions, stranger.connection, "where.medium",
                  [](natsConnection* connection, natsSubscription*, natsMsg* question, void*) {
                      for (int i = 0; i < 2; ++i) {
                          (void)natsConnection_PublishString(connection, natsMsg_GetReply(question),
                                                             "garbage");
                      }
                      natsMsg_Destroy(question);
                  },
                  nullptr),
              NATS_OK);
    ASSERT_EQ(natsConnection_Flush(stranger.connection), NATS_OK);
    Station asker(server_);
    auto client = asker.bridge.client<Position, Position>(where);
    EXPECT_EQ(textOf(client.request({}, patience)), "otherSchema");
    await([&] { return asker.bridge.statistics().lateReplies == 1; });
    natsSubscription_Destroy(questions);
}

TEST_F(RequestTest, OneOfSeveralServingProgramsReceivesAQuestion) {
    Doubler first(server_);
    Doubler second(server_);
    Station asker(server_);
    auto client = asker.bridge.client<Position, Position>(where);
    std::vector<std::future<Answered>> replies;
    for (int i = 0; i < 40; ++i) {
        replies.push_back(client.request({i, 0.0}, patience));
    }
    await([&] {
        (void)first.station.bus->process();
        (void)second.station.bus->process();
        return asker.bridge.statistics().openRequests == 0;
    });
    for (int i = 0; i < 40; ++i) {
        const auto reply = replies[static_cast<std::size_t>(i)].get();
        ASSERT_TRUE(reply);
        EXPECT_EQ(reply->robot, 2 * i);
    }
    EXPECT_EQ(first.calls + second.calls, 40);
    EXPECT_EQ(asker.bridge.statistics().lateReplies, 0U);
}

// The question of the first request is never sent, because its deadline passes before.
TEST_F(RequestTest, RequestsSurviveARestartOfTheServer) {
    Doubler doubler(server_);
    Station asker(server_);
    auto client = asker.bridge.client<Position, Position>(where);
    EXPECT_EQ(textOf(doubler.serve(client.request({1, 0.0}, patience))), "answer");
    server_.kill();
    await([&] { return asker.bridge.state(Priority::medium) == LinkState::disconnected; });
    EXPECT_EQ(textOf(client.request({2, 0.0}, 50ms)), "timedOut");
    server_.start();
    await([&] { return doubler.station.bridge.flush(1s) && asker.bridge.flush(1s); });
    EXPECT_EQ(textOf(doubler.serve(client.request({3, 0.0}, patience))), "answer");
    EXPECT_EQ(doubler.station.bridge.statistics().questions, 2U);
    EXPECT_EQ(asker.bridge.statistics().lateReplies, 0U);
}

TEST_F(RequestTest, RequestsSurviveARestartOfTheProgram) {
    auto doubler = std::make_unique<Doubler>(server_);
    auto asker = std::make_unique<Station>(server_);
    for (int round = 0; round < 3; ++round) {
        auto client = asker->bridge.client<Position, Position>(where);
        EXPECT_EQ(textOf(doubler->serve(client.request({1, 0.0}, patience))), "answer");
        if (round == 0) {
            doubler = std::make_unique<Doubler>(server_);
        } else {
            asker = std::make_unique<Station>(server_);
        }
    }
}

// The server of NATS is stopped, and a write of libnats may take an hour.
TEST_F(RequestTest, ARequestEndsAtItsDeadlineAlthoughTheServerReadsNothing) {
    NatsOptions options = optionsFor(server_);
    options.writeTimeout = 1h;
    options.sendBuffer = 32 << 20U;
    Doubler doubler(optionsFor(server_));
    Station asker(options);
    auto client = asker.bridge.client<Position, Position>(where);
    auto outlet = asker.bridge.outlet<Picture>({"picture"});
    server_.stop();
    for (int i = 0; i < 8000; ++i) {  // more than the socket keeps
        (void)outlet.send(Picture{});
    }
    EXPECT_EQ(textOf(client.request({1, 0.0}, 50ms)), "timedOut");
    server_.resume();
    EXPECT_EQ(textOf(doubler.serve(client.request({2, 0.0}, patience))), "answer");
    EXPECT_EQ(doubler.calls, 1);
}

TEST_F(RequestTest, AWrongRouteIsOneLine) {
    const NatsServer withStreams(NatsServer::withStreams);
    Station station(durableOptionsFor(withStreams, "station"));
    const auto serve = [&](const NatsRoute& route) {
        return failureOf([&] {
            station.bridge.serve<Position, Position>(route, [](const Position& p) { return p; });
        });
    };
    EXPECT_EQ(serve(where), "no failure");
    EXPECT_EQ(serve(where), "nats: the bridge serves where already");
    const NatsRoute durable{"durable", 1, Profile::durable};
    const std::string line =
        "nats: durable: requests need the core profile, and the route has durable";
    EXPECT_EQ(serve(durable), line);
    EXPECT_EQ(failureOf([&] { (void)station.bridge.client<Position, Position>(durable); }), line);
    EXPECT_EQ(failureOf([&] { (void)station.bridge.client<Picture, Position>(where); }),
              "nats: the subject where has two types in this bridge");
}

TEST_F(RequestTest, ManyThreadsAskWhileTheProgramsClose) {
    Doubler doubler(server_);
    auto asker = std::make_unique<Station>(server_);
    auto client = asker->bridge.client<Position, Position>(where);
    constexpr int threadCount = 3;
    std::atomic<int> answers{0};
    std::atomic<int> ends{0};
    std::atomic<int> asked{0};
    std::array<std::thread, threadCount> threads;
    for (std::thread& thread : threads) {
        thread = std::thread([&] {
            for (std::string result; result != "closed";) {
                ++asked;
                client.request({1, 0.0}, 100us, [&](Answered&&) { ++ends; });
                result = textOf(client.request({2, 0.0}, patience));
                answers += result == "answer" ? 1 : 0;
            }
        });
    }
    await([&] {
        (void)doubler.station.bus->process();
        return answers >= 300;
    });
    std::thread closing([&] { EXPECT_TRUE(asker->bridge.close(patience)); });
    await([&] {
        (void)doubler.station.bus->process();
        return asker->bridge.state(Priority::low) == LinkState::closed;
    });
    closing.join();
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(ends, asked);
    expectBalanced(asker->bridge.statistics());
    const NatsStatistics s = doubler.station.bridge.statistics();
    EXPECT_EQ(s.questions, s.answers + s.declined + doubler.station.bus->sizeApprox());
}

}  // namespace
}  // namespace sluice::nats
