#include "support/crew.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/actor/thread_pool.hpp>
#include <sluice/actor/timer.hpp>

#include "support/testing.hpp"
#include <thread>

namespace sluice {
namespace {

constexpr std::size_t posters = 3;

struct Step {
    std::uint32_t poster;
    std::uint64_t number;
};

/// Checks that it runs on one thread at a time, and that each poster's messages come in order.
class Counter : public PooledObject<Counter, Messages<Step>> {
public:
    void handle(const Step& step) {
        EXPECT_FALSE(isRunning_.exchange(true, std::memory_order_relaxed));
        EXPECT_LT(last_[step.poster], step.number + 1);
        last_[step.poster] = step.number + 1;
        ++sum;
        isRunning_.store(false, std::memory_order_relaxed);
    }
    std::uint64_t sum = 0;  // no lock: the object runs on one thread at a time

private:
    std::atomic<bool> isRunning_{false};
    std::array<std::uint64_t, posters> last_{};
};

TEST(PooledObjectStressTest, EveryAcceptedMessageIsHandledOrDiscarded) {
    const test::Watchdog watchdog([](std::FILE*) {});
    for (std::size_t round = 0; round < test::scaled(20); ++round) {
        ThreadPool pool(2);
        std::array<Counter, 4> objects;
        for (Counter& object : objects) {
            ASSERT_TRUE(object.start(pool));
        }
        std::array<std::atomic<std::uint64_t>, 4> accepted{};
        std::vector<std::thread> threads;
        for (std::uint32_t poster = 0; poster < posters; ++poster) {
            threads.emplace_back([&, poster] {
                for (std::uint64_t i = 0; i < 2000; ++i) {
                    const std::size_t chosen = i % objects.size();
                    if (objects[chosen].post(Step{poster, i}) == SendResult::ok) {
                        accepted[chosen].fetch_add(1, std::memory_order_relaxed);
                    }
                }
            });
        }
        // Some are stopped under load.
        objects[0].stop();
        (void)objects[1].stopAfterDrain(std::chrono::steady_clock::now());
        for (std::thread& thread : threads) {
            thread.join();
        }
        for (std::size_t i = 0; i < objects.size(); ++i) {
            (void)objects[i].stopAfterDrain(std::chrono::steady_clock::now() +
                                            std::chrono::hours(1));
            ASSERT_TRUE(objects[i].join());
            const auto statistics = objects[i].statistics();
            EXPECT_EQ(statistics.handled, objects[i].sum);
            EXPECT_EQ(statistics.handled + statistics.discarded, accepted[i].load());
            EXPECT_EQ(objects[i].sizeApprox(), 0U);
        }
        EXPECT_EQ(objects[2].statistics().discarded + objects[3].statistics().discarded, 0U);
    }
}

struct FourDeep : PooledTraits {
    static constexpr std::uint32_t depth = 4;
};
class Small : public PooledObject<Small, Messages<Step>, FourDeep> {
public:
    void handle(const Step& /*step*/) {}
};

// Messages of high priority have the room that is kept for them, even while others are refused.
TEST(PooledObjectStressTest, RefusedMessagesTakeNoRoom) {
    const test::Watchdog watchdog([](std::FILE*) {});
    ManualExecutor executor;
    for (std::size_t round = 0; round < test::scaled(300); ++round) {
        Small object;
        ASSERT_TRUE(object.start(executor));
        while (object.post(Step{0, 0}, Priority::low) == SendResult::ok) {
        }
        std::atomic<bool> isOver{false};
        std::atomic<std::size_t> refused{0};
        std::vector<std::thread> threads;
        for (std::uint32_t poster = 0; poster < posters; ++poster) {
            threads.emplace_back([&] {
                while (!isOver) {
                    EXPECT_NE(object.post(Step{0, 0}, Priority::low), SendResult::ok);
                    ++refused;
                }
            });
        }
        while (refused < 100) {
            EXPECT_LE(object.sizeApprox(), object.capacity());
        }
        EXPECT_EQ(object.post(Step{0, 0}, Priority::high), SendResult::ok);
        isOver = true;
        for (std::thread& thread : threads) {
            thread.join();
        }
        object.stop();
        executor.runAll();
        ASSERT_TRUE(object.join());
    }
}

// One thread starts an object while another one stops it and waits for its end.
TEST(PooledObjectStressTest, AStopThatMeetsAStartEnds) {
    const test::Watchdog watchdog([](std::FILE*) {});
    ThreadPool pool(1);
    for (std::size_t round = 0; round < test::scaled(2000); ++round) {
        Counter object;
        std::atomic<int> ready{0};
        const auto meet = [&ready] {
            ++ready;
            while (ready != 2) {
                std::this_thread::yield();
            }
        };
        bool isStarted = false;
        std::thread starter([&] {
            meet();
            isStarted = object.start(pool);
        });
        meet();
        if (round % 2 == 0) {
            object.stop();
        } else {
            (void)object.stopAfterDrain(std::chrono::steady_clock::now() + std::chrono::hours(1));
        }
        EXPECT_TRUE(object.join());
        starter.join();
        EXPECT_TRUE(object.join());
        EXPECT_TRUE(object.hasEnded());
        EXPECT_FALSE(object.start(pool)) << isStarted;
    }
}

// A hundred thousand objects in an optimised build: two threads replace them while two others post.
TEST(PooledObjectStressTest, ManyObjectsAreReplacedWhileOthersPost) {
    const test::Watchdog watchdog([](std::FILE*) {});
    struct Place {
        std::mutex mutex;
        std::shared_ptr<Running<Small>> object;
    };
    constexpr std::size_t objects = test::scaled(100000);
    ThreadPool pool(2);
    std::array<Place, 64> places;
    std::atomic<std::size_t> made{0};
    std::atomic<std::uint64_t> accepted{0};
    std::atomic<std::uint64_t> settled{0};
    const auto replace = [&](Place& place, std::shared_ptr<Running<Small>> next) {
        {
            const std::lock_guard<std::mutex> guard(place.mutex);
            place.object.swap(next);
        }
        if (next != nullptr) {
            next->stop();
            EXPECT_TRUE(next->join());
            const auto statistics = next->statistics();
            settled += statistics.handled + statistics.discarded;
        }
    };
    {
        test::Crew crew;
        for (std::size_t thread = 0; thread < 2; ++thread) {
            crew.add([&] {
                for (std::size_t i = made++; i < objects; i = made++) {
                    replace(places[i % places.size()], std::make_shared<Running<Small>>(pool));
                }
            });
            crew.add([&, thread] {
                for (std::size_t i = thread; made < objects; ++i) {
                    Place& place = places[i % places.size()];
                    std::shared_ptr<Running<Small>> object;
                    {
                        const std::lock_guard<std::mutex> guard(place.mutex);
                        object = place.object;
                    }
                    if (object != nullptr && object->post(Step{0, i}) == SendResult::ok) {
                        ++accepted;
                    }
                }
            });
        }
    }
    for (Place& place : places) {
        replace(place, nullptr);
    }
    EXPECT_EQ(settled, accepted);
}

struct Tick {};
struct Timers : PooledTraits {
    static constexpr std::size_t maxTimers = 8;
};
class Ticking : public PooledObject<Ticking, Messages<Tick>, Timers> {
public:
    void handle(const Tick& /*tick*/) { ++ticks; }
    std::uint64_t ticks = 0;
};

TEST(PooledObjectStressTest, TimersFireOnceOrAreCancelled) {
    const test::Watchdog watchdog([](std::FILE*) {});
    ThreadPool pool(2);
    std::array<Running<Ticking>, 2> objects{Running<Ticking>(pool), Running<Ticking>(pool)};
    std::array<std::atomic<std::uint64_t>, 2> armed{};
    std::array<std::atomic<std::uint64_t>, 2> cancelled{};
    std::vector<std::thread> threads;
    for (std::uint32_t seed = 0; seed < posters; ++seed) {
        threads.emplace_back([&, seed] {
            for (std::uint64_t i = 0; i < test::scaled(5000); ++i) {
                const std::size_t chosen = (i + seed) % objects.size();
                Timer timer;
                while (!timer) {  // all slots may be in use
                    timer = objects[chosen].postAfter(
                        std::chrono::microseconds(i % 3 == 0 ? 0 : i % 50), Tick{});
                }
                ++armed[chosen];
                if (i % 2 == 0) {
                    cancelled[chosen] += objects[chosen].cancel(timer) ? 1 : 0;
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (std::size_t i = 0; i < objects.size(); ++i) {
        while (objects[i].firedTimers() + cancelled[i] != armed[i]) {
            std::this_thread::yield();
        }
        EXPECT_GT(objects[i].firedTimers(), 0U);
        objects[i].stop();
        EXPECT_TRUE(objects[i].join());
        EXPECT_EQ(objects[i].ticks, objects[i].firedTimers());
    }
}

/// Waits in its handler until so many handlers have begun.
class Meeting : public PooledObject<Meeting, Messages<Step>> {
public:
    explicit Meeting(std::atomic<std::uint64_t>& begun) : begun_(begun) {}
    void handle(const Step& step) {
        ++begun_;
        while (begun_ < step.number) {
            std::this_thread::yield();
        }
    }

private:
    std::atomic<std::uint64_t>& begun_;
};

// Each task gets a thread of its own, whether the threads sleep or one of them waits for a timer.
TEST(PooledObjectStressTest, AsManyObjectsRunAtOnceAsThereAreThreads) {
    const test::Watchdog watchdog([](std::FILE*) {});
    constexpr std::size_t threads = 3;
    ThreadPool pool(threads);
    Running<Ticking> ticking(pool);
    std::atomic<std::uint64_t> begun{0};
    std::vector<std::unique_ptr<Running<Meeting>>> objects;
    for (std::size_t i = 0; i < threads; ++i) {
        objects.push_back(std::make_unique<Running<Meeting>>(pool, begun));
    }
    Timer timer;
    for (std::size_t round = 0; round < test::scaled(6000); ++round) {
        if (round % 100 == 0) {  // without a timer, with a frequent one, and with a distant one
            (void)ticking.cancel(timer);
            const std::size_t kind = round / 100 % 3;
            timer = kind == 1   ? ticking.postEvery(std::chrono::microseconds(70), Tick{})
                    : kind == 2 ? ticking.postAfter(std::chrono::hours(1), Tick{})
                                : Timer();
        }
        const std::uint64_t last = (round + 1) * threads;
        for (const auto& object : objects) {
            ASSERT_EQ(object->post(Step{0, last}), SendResult::ok);
        }
        while (begun < last) {
            std::this_thread::yield();
        }
        if (round % 3 == 0) {  // long enough for the threads to fall asleep
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }
}

}  // namespace
}  // namespace sluice
