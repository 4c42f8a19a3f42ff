#include "support/crew.hpp"
#include "support/jitter_platform.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/queue/latest.hpp>

#include "support/testing.hpp"
#include <cinttypes>
#include <thread>

// Writers number their values. The reader sees the numbers of each writer grow, never a value that
// is half of one and half of another, and in the end the last value of a writer.

namespace sluice::test {
namespace {

struct JitterTraits : QueueTraits {
    using Platform = JitterPlatform;
};

/// Longer than a cache line, and the same number in each word.
struct Numbered {
    std::size_t writer;
    std::array<std::uint64_t, 12> words;

    Numbered(std::size_t self, std::uint64_t number) noexcept : writer(self), words() {
        words.fill(number);
    }
};

/// The last number that was read of each writer. The first number is 1.
class Books {
public:
    explicit Books(std::size_t writers) : last_(writers, 0) {}

    void enter(const Numbered& value) {
        const std::uint64_t number = value.words.front();
        for (const std::uint64_t word : value.words) {
            ASSERT_EQ(word, number) << "half of one value and half of another";
        }
        ASSERT_GE(number, last_.at(value.writer)) << "an older value of writer " << value.writer;
        last_[value.writer] = number;
    }

private:
    std::vector<std::uint64_t> last_;
};

template <std::size_t Writers, class Traits>
void stress(std::size_t threads, std::uint64_t values) {
    Latest<Numbered, Writers, Traits> latest;
    std::atomic<std::size_t> writing{threads};
    std::atomic<std::uint64_t> refused{0};
    std::atomic<std::uint64_t> reads{0};
    Books books(threads);
    Crew crew;
    const Watchdog watchdog([&](std::FILE* out) {
        std::fprintf(out, "%zu threads write, %" PRIu64 " values read, new: %d\n", writing.load(),
                     reads.load(), latest.hasNew());
    });
    for (std::size_t self = 0; self < threads; ++self) {
        crew.add([&, self] {
            for (std::uint64_t number = 1; number <= values; ++number) {
                while (!latest.emplace(self, number)) {
                    refused.fetch_add(1, std::memory_order_relaxed);
                    std::this_thread::yield();
                }
            }
            writing.fetch_sub(1, std::memory_order_release);
        });
    }
    crew.start();
    while (writing.load(std::memory_order_acquire) != 0 && !testing::Test::HasFailure()) {
        if (const Numbered* const newest = latest.update()) {
            books.enter(*newest);
            reads.fetch_add(1, std::memory_order_relaxed);
        }
    }
    crew.join();
    const Numbered* const last = latest.update();
    ASSERT_NE(last, nullptr);
    books.enter(*last);
    EXPECT_EQ(last->words.front(), values) << "the last value of a writer";
    if (threads <= Writers) {
        EXPECT_EQ(refused.load(), 0U) << "there is a place for each writer";
    }
}

TEST(LatestStressTest, OneWriter) {
    stress<1, QueueTraits>(1, scaled(400000));
    stress<1, JitterTraits>(1, scaled(40000));
}

TEST(LatestStressTest, SeveralWriters) {
    stress<2, QueueTraits>(2, scaled(200000));
    stress<4, QueueTraits>(4, scaled(100000));
    stress<2, JitterTraits>(2, scaled(20000));
    stress<4, JitterTraits>(4, scaled(10000));
}

TEST(LatestStressTest, MoreWritersThanPlaces) {
    stress<1, QueueTraits>(3, scaled(100000));
    stress<2, JitterTraits>(4, scaled(10000));
}

}  // namespace
}  // namespace sluice::test
