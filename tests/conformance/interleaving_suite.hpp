#pragma once

#include "support/interrupting_platform.hpp"
#include "support/queue_shapes.hpp"

#include "support/testing.hpp"

namespace sluice::test {

/// A small queue with two producers' ends (of which a single-producer queue uses the first only)
/// and the books about it. Values below 100 come from the first producer, others from the second.
template <class Shape>
class InterleavingScene {
    using Queue = TestQueue<Shape, int, 2, TestTraits<InterruptingPlatform>>;
    using Producer = decltype(std::declval<Queue&>().producer());

public:
    explicit InterleavingScene(int messages) {
        for (int i = 0; i < messages; ++i) {
            push(i);
        }
        results.clear();
    }

    void push(int value) { pushTo(first_, value); }
    void pushSecond(int value) { pushTo(second_, value); }
    void pop() {
        if (const std::optional<int> value = queue.tryPop()) {
            delivered.push_back(*value);
        }
    }
    void consume() {
        queue.consume([this](int& value) { delivered.push_back(value); });
    }
    void closeAndLook() {
        queue.close();
        saidDrained = queue.isDrained();
    }
    /// The consumer and the second producer go on for more than a lap.
    void overtake() {
        for (int i = 0; i < 5; ++i) {
            pop();
            if (Shape::manyProducers) {
                pushSecond(100 + i);
            }
        }
    }

    /// All that was accepted comes out, per producer in its order.
    void expectNothingLost() {
        consume();
        consume();
        EXPECT_EQ(ofProducer(1, delivered), ofProducer(1, accepted));
        EXPECT_EQ(ofProducer(2, delivered), ofProducer(2, accepted));
        EXPECT_EQ(queue.sizeApprox(), 0U);
    }

    Queue queue;
    std::vector<int> accepted;
    std::vector<int> delivered;
    std::vector<SendResult> results;
    bool saidDrained = false;

private:
    void pushTo(Producer& producer, int value) {
        results.push_back(producer.tryPush(value));
        if (results.back() == SendResult::ok) {
            accepted.push_back(value);
        }
    }

    static std::vector<int> ofProducer(int number, const std::vector<int>& values) {
        std::vector<int> chosen;
        for (const int value : values) {
            if ((value < 100) == (number == 1)) {
                chosen.push_back(value);
            }
        }
        return chosen;
    }

    Producer first_ = queue.producer();
    Producer second_ = queue.producer();
};

/// One operation with another one in front of each of its accesses to shared memory in turn: all
/// interleavings in which one thread is stopped once and others go on for a while. One thread.
template <class Shape>
class QueueInterleaving : public testing::Test {};
TYPED_TEST_SUITE_P(QueueInterleaving);

TYPED_TEST_P(QueueInterleaving, PushInterruptedByTheConsumer) {
    using Scene = InterleavingScene<TypeParam>;
    for (int before = 0; before <= 2; ++before) {
        const std::size_t accesses = interruptEverywhere(
            [before] { return std::make_unique<Scene>(before); },
            [](Scene& scene) { scene.push(50); }, [](Scene& scene) { scene.consume(); },
            [&](Scene& scene) {
                EXPECT_EQ(scene.results.size(), 1U);
                if (before < 2) {
                    EXPECT_EQ(scene.results.front(), SendResult::ok) << before << " before";
                }
                scene.expectNothingLost();
            });
        EXPECT_GT(accesses, 0U);
    }
}

TYPED_TEST_P(QueueInterleaving, PushInterruptedByAnotherProducer) {
    using Scene = InterleavingScene<TypeParam>;
    if constexpr (TypeParam::manyProducers) {
        for (int before = 0; before <= 1; ++before) {
            const std::size_t accesses = interruptEverywhere(
                [before] { return std::make_unique<Scene>(before); },
                [](Scene& scene) { scene.push(50); }, [](Scene& scene) { scene.pushSecond(100); },
                [&](Scene& scene) {
                    const bool bothFit = TypeParam::hasHandles || before == 0;
                    EXPECT_EQ(scene.accepted.size(),
                              static_cast<std::size_t>(before) + (bothFit ? 2U : 1U));
                    scene.expectNothingLost();
                });
            EXPECT_GT(accesses, 0U);
        }
    }
}

TYPED_TEST_P(QueueInterleaving, PushIsOvertakenByALap) {
    // Never more than one message beside the one being pushed: full would be wrong.
    using Scene = InterleavingScene<TypeParam>;
    for (int before = 0; before <= 1; ++before) {
        interruptEverywhere(
            [before] { return std::make_unique<Scene>(before); },
            [](Scene& scene) { scene.push(50); }, [](Scene& scene) { scene.overtake(); },
            [&](Scene& scene) {
                EXPECT_EQ(scene.results.back(), SendResult::ok) << before << " before";
                scene.expectNothingLost();
            });
    }
}

TYPED_TEST_P(QueueInterleaving, PushInterruptedByClose) {
    using Scene = InterleavingScene<TypeParam>;
    for (int before = 0; before <= 2; ++before) {
        interruptEverywhere([before] { return std::make_unique<Scene>(before); },
                            [](Scene& scene) { scene.push(50); },
                            [](Scene& scene) { scene.closeAndLook(); },
                            [&](Scene& scene) {
                                if (before < 2) {
                                    EXPECT_NE(scene.results.front(), SendResult::full);
                                }
                                const bool accepted = scene.results.front() == SendResult::ok;
                                EXPECT_FALSE(scene.saidDrained && (accepted || before != 0))
                                    << "it said drained, with " << before << " before, accepted "
                                    << accepted;
                                EXPECT_FALSE(scene.queue.isDrained() && (accepted || before != 0));
                                scene.expectNothingLost();
                                EXPECT_TRUE(scene.queue.isDrained());
                            });
    }
}

TYPED_TEST_P(QueueInterleaving, PopInterruptedByAProducer) {
    using Scene = InterleavingScene<TypeParam>;
    for (int before = 0; before <= 2; ++before) {
        const std::size_t accesses = interruptEverywhere(
            [before] { return std::make_unique<Scene>(before); }, [](Scene& scene) { scene.pop(); },
            [](Scene& scene) { scene.push(50); },
            [&](Scene& scene) {
                if (before < 2) {
                    EXPECT_EQ(scene.results.front(), SendResult::ok);
                }
                EXPECT_TRUE(before == 0 || !scene.delivered.empty());
                scene.expectNothingLost();
            });
        EXPECT_GT(accesses, 0U);
    }
}

TYPED_TEST_P(QueueInterleaving, ConsumeInterruptedByAProducer) {
    using Scene = InterleavingScene<TypeParam>;
    for (int before = 0; before <= 2; ++before) {
        const std::size_t accesses = interruptEverywhere(
            [before] { return std::make_unique<Scene>(before); },
            [](Scene& scene) { scene.consume(); },
            [](Scene& scene) {
                scene.push(50);
                scene.push(51);
                scene.queue.close();
                scene.push(52);
                EXPECT_FALSE(scene.queue.isDrained());
            },
            [&](Scene& scene) {
                EXPECT_GE(scene.delivered.size(), static_cast<std::size_t>(before));
                scene.expectNothingLost();
                EXPECT_TRUE(scene.queue.isDrained());
            });
        EXPECT_GT(accesses, 0U);
    }
}

TYPED_TEST_P(QueueInterleaving, IsDrainedIsTrueForGood) {
    using Scene = InterleavingScene<TypeParam>;
    const auto asks = [](Scene& scene) { scene.saidDrained = scene.queue.isDrained(); };
    const auto check = [](Scene& scene) {
        const std::size_t count = scene.delivered.size();
        scene.consume();
        EXPECT_TRUE(!scene.saidDrained || scene.delivered.size() == count)
            << "a message came after it said drained";
        scene.expectNothingLost();
    };
    for (int before = 0; before <= 2; ++before) {
        interruptEverywhere([before] { return std::make_unique<Scene>(before); }, asks,
                            [](Scene& scene) {
                                scene.push(50);
                                scene.queue.close();
                            },
                            check);
        interruptEverywhere([before] { return std::make_unique<Scene>(before); }, asks,
                            [](Scene& scene) {
                                scene.pop();
                                scene.push(50);
                                scene.pop();
                                scene.push(51);
                                scene.queue.close();
                            },
                            check);
        interruptEverywhere([before] { return std::make_unique<Scene>(before); }, asks,
                            [](Scene& scene) {
                                scene.queue.close();
                                scene.pop();
                            },
                            check);
    }
}

TYPED_TEST_P(QueueInterleaving, SizeStaysWithinItsBounds) {
    using Scene = InterleavingScene<TypeParam>;
    for (int before = 0; before <= 2; ++before) {
        std::size_t size = 0;
        const std::size_t accesses =
            interruptEverywhere([before] { return std::make_unique<Scene>(before); },
                                [&](Scene& scene) { size = scene.queue.sizeApprox(); },
                                [](Scene& scene) {
                                    for (int i = 0; i < 5; ++i) {
                                        scene.pop();
                                        scene.push(50 + i);
                                    }
                                },
                                [&](Scene& scene) {
                                    EXPECT_LE(size, scene.queue.capacity());
                                    scene.expectNothingLost();
                                });
        EXPECT_GT(accesses, 0U);
    }
}

REGISTER_TYPED_TEST_SUITE_P(QueueInterleaving, PushInterruptedByTheConsumer,
                            PushInterruptedByAnotherProducer, PushIsOvertakenByALap,
                            PushInterruptedByClose, PopInterruptedByAProducer,
                            ConsumeInterruptedByAProducer, IsDrainedIsTrueForGood,
                            SizeStaysWithinItsBounds);

}  // namespace sluice::test
