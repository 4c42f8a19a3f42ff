// Stamps of clocks that are coarse, or that start again.

#include "support/record_queue_tools.hpp"

#include <sluice/log/detail/lanes/record_queue.hpp>

#include "support/testing.hpp"
#include <thread>

namespace sluice::test {
namespace {

using log::detail::Stamp;

/// Ticks of 20 us: a post takes less.
struct CoarseClock {
    static constexpr Stamp tick = 20'000;

    template <class Word>
    static Stamp announceThenNow(Word& word, std::uint64_t value) noexcept {
        word.exchange(value, std::memory_order_seq_cst);
        return now();
    }
    static Stamp now() noexcept {
        const auto time = std::chrono::steady_clock::now().time_since_epoch();
        return static_cast<Stamp>(time / std::chrono::nanoseconds(1)) / tick;
    }
    static Stamp nowThenLoad() noexcept { return now(); }
    static void waitUntilPast(Stamp stamp) noexcept {
        while (now() <= stamp) {
        }
    }
};
struct CoarseTraits : log::detail::RecordQueueTraits {
    using Clock = CoarseClock;
};

template <class Traits>
void expectNowBetweenPosts() {
    LabelQueue<Traits> queue;
    for (std::uint32_t i = 0; i < 100; ++i) {
        ASSERT_EQ(postText(queue, {0, 2 * i}, ""), SendResult::ok);
        const Stamp moment = queue.now();
        ASSERT_EQ(postText(queue, {0, 2 * i + 1}, ""), SendResult::ok);
        std::vector<Emitted> all;
        while (all.size() < 2) {
            for (const Emitted& emitted : emitAll(queue)) {
                all.push_back(emitted);
            }
        }
        EXPECT_LT(all[0].stamp, moment);
        EXPECT_GE(all[1].stamp, moment);
    }
}

TEST(RecordQueueClock, NowLiesBetweenPosts) {
    expectNowBetweenPosts<log::detail::RecordQueueTraits>();
    expectNowBetweenPosts<CoarseTraits>();
}

/// The test sets the time. So the clock can start again, as a processor's counter does when the
/// machine sleeps.
struct SetClock {
    inline static Stamp time = 0;
    inline static Stamp earlier = 0;               ///< a look reads the clock so long before it
    inline static std::function<void()> inWindow;  ///< called once between stamp and publication

    template <class Word>
    static Stamp announceThenNow(Word& word, std::uint64_t value) noexcept {
        word.exchange(value, std::memory_order_seq_cst);
        const Stamp stamp = time;
        if (const auto call = std::exchange(inWindow, nullptr)) {
            call();
        }
        return stamp;
    }
    static Stamp now() noexcept { return time; }
    static Stamp nowThenLoad() noexcept { return time - earlier; }
    static void waitUntilPast(Stamp /*stamp*/) noexcept {}
};
struct SetTraits : log::detail::RecordQueueTraits {
    using Clock = SetClock;
};

class RecordQueueWhoseClockStartsAgain : public testing::Test {
protected:
    RecordQueueWhoseClockStartsAgain() {
        SetClock::time = 1000;
        SetClock::earlier = 0;
    }

    void post(Stamp at, std::uint32_t number) {
        SetClock::time = at;
        ASSERT_EQ(postText(queue, {0, number}, ""), SendResult::ok);
    }
    void emitAt(Stamp at) {
        SetClock::time = at;
        for (const Emitted& emitted : emitAll(queue)) {
            numbers.push_back(emitted.label.number);
        }
    }

    LabelQueue<SetTraits> queue;
    std::vector<std::uint32_t> numbers;
};

TEST_F(RecordQueueWhoseClockStartsAgain, EmitsWhatWasLoggedBeforeAndAfter) {
    post(1000, 0);
    emitAt(1001);
    post(2000, 1);
    post(5, 2);
    emitAt(6);
    EXPECT_EQ(numbers, (std::vector<std::uint32_t>{0, 1, 2}));
    post(10, 3);
    std::thread([this] { post(11, 4); }).join();
    emitAt(12);
    EXPECT_EQ(numbers, (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
}

TEST_F(RecordQueueWhoseClockStartsAgain, EmitsARecordThatBecomesVisibleTooLate) {
    emitAt(1001);
    const auto write = [this](std::byte*) noexcept { SetClock::inWindow = [this] { emitAt(5); }; };
    SetClock::time = 1002;
    ASSERT_EQ(queue.post({0, 0}, 0, blocking, write), SendResult::ok);
    emitAt(6);
    emitAt(7);
    EXPECT_EQ(numbers, std::vector<std::uint32_t>{0});
    post(8, 1);
    emitAt(9);
    EXPECT_EQ(numbers, (std::vector<std::uint32_t>{0, 1}));
}

// A signal handler that ends the program has interrupted the post.
TEST_F(RecordQueueWhoseClockStartsAgain, DoesNotWaitForAPostThatItsThreadWithdraws) {
    const auto write = [this](std::byte*) noexcept {
        SetClock::inWindow = [this] {
            queue.withdrawOwnPost();
            post(1001, 1);
            emitAt(1002);
            emitAt(1003);
        };
    };
    ASSERT_EQ(queue.post({0, 0}, 0, blocking, write), SendResult::ok);
    EXPECT_EQ(numbers, (std::vector<std::uint32_t>{1}));
}

// The processor may read its counter before the loads of the look that came before are over.
TEST_F(RecordQueueWhoseClockStartsAgain, DoesNotTakeAnEarlyReadingForIt) {
    SetClock::earlier = 10;
    post(1005, 0);
    emitAt(1010);
    EXPECT_EQ(numbers, std::vector<std::uint32_t>{});
    emitAt(1014);
    EXPECT_EQ(numbers, std::vector<std::uint32_t>{}) << "an older record may come";
    emitAt(1016);
    EXPECT_EQ(numbers, std::vector<std::uint32_t>{0});
}

}  // namespace
}  // namespace sluice::test
