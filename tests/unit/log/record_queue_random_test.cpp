#include "support/dice.hpp"
#include "support/record_queue_tools.hpp"
#include "support/scale.hpp"

#include <sluice/log/detail/lanes/record_queue.hpp>

#include "support/testing.hpp"
#include <cstring>
#include <thread>

// A record queue beside a model of it that is made of deques: random steps, one at a time, by
// threads that do nothing unasked.

namespace sluice::test {
namespace {

using log::detail::RecordQueueOptions;
using log::detail::RecordQueueTraits;
using log::detail::Stamp;

/// Stands still unless the test moves it, so that many stamps are equal.
struct ScriptedClock {
    inline static Stamp time = 1;

    template <class Word>
    static Stamp announceThenNow(Word& word, std::uint64_t value) noexcept {
        word.exchange(value, std::memory_order_seq_cst);
        return time;
    }
    static Stamp now() noexcept { return time; }
    static Stamp nowThenLoad() noexcept { return time; }
    static void waitUntilPast(Stamp) noexcept {}
};
struct ScriptedTraits : RecordQueueTraits {
    using Clock = ScriptedClock;
};
using RecordQueue = LabelQueue<ScriptedTraits>;

/// A thread that does what it is told, one thing at a time.
class Puppet {
public:
    Puppet() : thread_([this] { run(); }) {}
    ~Puppet() {
        tell(nullptr);
        thread_.join();
    }
    Puppet(const Puppet&) = delete;
    Puppet& operator=(const Puppet&) = delete;

    /// Returns when it is done.
    void doThis(const std::function<void()>& work) {
        tell(&work);
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return !hasOrder_; });
    }

private:
    void tell(const std::function<void()>* work) {
        const std::lock_guard<std::mutex> lock(mutex_);
        work_ = work;
        hasOrder_ = true;
        changed_.notify_all();
    }
    void run() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return hasOrder_; });
            if (work_ == nullptr) {
                return;
            }
            (*work_)();
            hasOrder_ = false;
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    const std::function<void()>* work_ = nullptr;
    bool hasOrder_ = false;
    std::thread thread_;
};

struct ModelRecord {
    Label label;
    Stamp stamp;
    std::size_t size;
    std::size_t footprint;
    bool isLarge;
};

/// What a lane should do.
struct ModelLane {
    ModelLane(const RecordQueueOptions& options, bool itCopies)
        : messages(options.laneMessages), bytes(options.laneBytes), copies(itCopies) {}

    std::size_t messages;
    std::size_t bytes;
    std::deque<ModelRecord> records;
    std::deque<ModelRecord> copied;  // out of the lane, not yet emitted
    std::size_t visible = 0;         // of records, at the last look
    bool copies;
    bool hasLeft = false;

    static constexpr std::size_t headerAndHead = 16 + sizeof(Label);

    ModelRecord make(const Label& label, std::size_t size) const {
        const std::size_t inLane = headerAndHead + (size + 7) / 8 * 8;
        const bool isLarge = inLane > bytes;
        return {label, ScriptedClock::time, size, isLarge ? headerAndHead + 8 : inLane, isLarge};
    }

    bool fits(const ModelRecord& record) const {
        std::size_t used = record.footprint;
        std::size_t large = record.isLarge ? 1 : 0;
        for (const ModelRecord& one : records) {
            used += one.footprint;
            large += one.isLarge ? 1 : 0;
        }
        return records.size() < messages && used <= bytes && (!record.isLarge || large == 1);
    }

    SendResult post(const ModelRecord& record, Overflow policy, std::uint64_t& overrun) {
        while (!fits(record)) {
            if (policy != dropping) {
                return SendResult::full;
            }
            records.pop_front();
            visible -= visible != 0 ? 1 : 0;
            ++overrun;
        }
        records.push_back(record);
        return SendResult::ok;
    }

    void copyOut(Stamp limit, std::size_t max) {
        while (copies && visible != 0 && records.front().stamp < limit && copied.size() < max) {
            copied.push_back(records.front());
            records.pop_front();
            --visible;
        }
    }

    /// What is to be emitted next, if anything.
    std::deque<ModelRecord>* source(Stamp limit) {
        if (!copied.empty()) {
            return copied.front().stamp < limit ? &copied : nullptr;
        }
        return !copies && visible != 0 && records.front().stamp < limit ? &records : nullptr;
    }
};

class RandomQueue {
public:
    RandomQueue(std::uint32_t seed, const RecordQueueOptions& options)
        : dice_(seed), options_(options), queue_(options), copies_(seed % 2 == 0) {
        if (copies_) {
            queue_.expectEviction();
        }
    }

    void step() {
        switch (dice_() % 16) {
        case 0:
            ScriptedClock::time += dice_() % 3;
            break;
        case 1:
        case 2:
            poll();
            break;
        case 3:
        case 4:
        case 5:
            emit(dice_() % 4 == 0 ? ScriptedClock::time - std::min<Stamp>(dice_() % 4, 1)
                                  : log::detail::endOfTime,
                 dice_() % 12);
            break;
        case 6:
            if (dice_() % 8 == 0) {
                endThread();
            }
            break;
        default:
            post();
        }
    }

    void finish() {
        ScriptedClock::time += 10;
        poll();
        ScriptedClock::time += 10;
        poll();
        for (int i = 0; i < 100; ++i) {
            emit(log::detail::endOfTime, 1000);
        }
        const auto sum = queue_.statistics();
        EXPECT_EQ(sum.logged, accepted_);
        EXPECT_EQ(sum.rejected, rejected_);
        EXPECT_EQ(sum.dropped, dropped_);
        EXPECT_EQ(sum.messages, 0U);
    }

private:
    struct Actor {
        Actor(const RecordQueueOptions& options, bool copies)
            : puppet(std::make_unique<Puppet>()), lane(options, copies) {}
        std::unique_ptr<Puppet> puppet;
        ModelLane lane;
    };

    void post() {
        if (dice_() % 64 == 0 || actors_.empty()) {
            actors_.emplace_back(options_, copies_);
        }
        const std::size_t which = dice_() % actors_.size();
        Actor& actor = actors_[which];
        if (actor.lane.hasLeft) {
            return;
        }
        const std::size_t size = dice_() % 32 == 0 ? 2000 : dice_() % 90;
        const Label label{actor.lane.hasLeft ? 0U : static_cast<std::uint32_t>(which), next_++};
        const ModelRecord record = actor.lane.make(label, size);
        const Overflow policies[] = {blocking, dropping, rejecting};
        Overflow policy = policies[dice_() % 3];
        if (policy == blocking && !actor.lane.fits(record)) {
            policy = rejecting;
        }
        SendResult posted = SendResult::closed;
        actor.puppet->doThis([&] { posted = postBytes(queue_, label, size, policy); });
        const SendResult expected = actor.lane.post(record, policy, dropped_);
        ASSERT_EQ(posted, expected);
        accepted_ += posted == SendResult::ok ? 1 : 0;
        rejected_ += posted == SendResult::full ? 1 : 0;
    }

    void endThread() {
        for (Actor& actor : actors_) {
            if (!actor.lane.hasLeft) {
                actor.puppet.reset();
                actor.lane.hasLeft = true;
                return;
            }
        }
    }

    void poll() {
        watermark_ = std::max(watermark_, queue_.poll());
        ASSERT_EQ(watermark_, ScriptedClock::time) << "nobody is announced";
        for (Actor& actor : actors_) {
            actor.lane.visible = actor.lane.records.size();
        }
    }

    void emit(Stamp limit, std::size_t max) {
        const Stamp bound = std::min(limit, watermark_);
        for (Actor& actor : actors_) {
            actor.lane.copyOut(bound, max);
        }
        std::size_t expected = 0;
        const std::size_t count =
            queue_.emitBefore(limit, max, [&](const RecordQueue::Record& record) {
                expect(record, bound);
                ++expected;
            });
        ASSERT_EQ(count, expected);
        ASSERT_TRUE(count == max || !anySource(bound)) << "something was left out";
    }

    bool anySource(Stamp bound) {
        return std::any_of(actors_.begin(), actors_.end(),
                           [bound](Actor& actor) { return actor.lane.source(bound) != nullptr; });
    }

    /// The record must be the next of its lane, and no lane may have a smaller stamp.
    void expect(const RecordQueue::Record& record, Stamp bound) {
        Stamp least = log::detail::endOfTime;
        for (Actor& actor : actors_) {
            if (const auto* const source = actor.lane.source(bound)) {
                least = std::min(least, source->front().stamp);
            }
        }
        ASSERT_EQ(record.stamp, least);
        ASSERT_LT(record.head.thread, actors_.size());
        ModelLane& lane = actors_[record.head.thread].lane;
        auto* const source = lane.source(bound);
        ASSERT_NE(source, nullptr);
        ASSERT_EQ(record.head, source->front().label);
        ASSERT_EQ(record.size, source->front().size);
        const std::string text(record.size, static_cast<char>(record.head.number & 0xFFU));
        ASSERT_EQ(std::memcmp(record.payload, text.data(), record.size), 0);
        lane.visible -= source == &lane.records ? 1 : 0;
        source->pop_front();
    }

    Dice dice_;
    RecordQueueOptions options_;
    RecordQueue queue_;
    const bool copies_;
    std::vector<Actor> actors_;
    Stamp watermark_ = 0;
    std::uint32_t next_ = 0;
    std::uint64_t accepted_ = 0;
    std::uint64_t rejected_ = 0;
    std::uint64_t dropped_ = 0;
};

class RecordQueueRandom : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RecordQueueRandom, DoesWhatTheModelDoes) {
    Dice dice(GetParam());
    for (int round = 0; round < 20; ++round) {
        RecordQueueOptions options;
        options.laneMessages = 1 + dice() % 12;
        options.laneBytes = 32 + dice() % 600 / 8 * 8;
        RandomQueue random(dice(), options);
        const std::size_t steps = scaled(4000);
        for (std::size_t i = 0; i < steps; ++i) {
            ASSERT_NO_FATAL_FAILURE(random.step())
                << "limits " << options.laneMessages << ", " << options.laneBytes << ", step " << i;
        }
        ASSERT_NO_FATAL_FAILURE(random.finish());
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RecordQueueRandom, testing::Values(1, 2, 3, 4, 5));

}  // namespace
}  // namespace sluice::test
