#pragma once

#include "support/model/expectations.hpp"

#include <sluice/base/spin_lock.hpp>
#include <sluice/log/detail/lanes/record_queue.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

// Lanes, watermark and merge as shipped. Threads post into lanes that the scenario gives them, and
// a back end polls, emits and sleeps. The payload of a record is a plain variable, so a missing
// edge shows as a data race. A lost wake-up shows as a clock that ran.

namespace sluice::model {

using log::detail::Stamp;

/// Each reading is later than all readings before it, on whatever thread, and orders nothing else.
struct Ticks {
    template <class Word>
    static Stamp announceThenNow(Word& word, std::uint64_t value,
                                 Site site = Site::here()) noexcept {
        word.exchange(value, std::memory_order_seq_cst, site);
        return now();
    }
    static Stamp now() noexcept { return count->fetch_add(1, relaxed) + 1; }
    static Stamp nowThenLoad() noexcept {
        const Stamp stamp = now();
        ModelPlatform::Fence::heavy();
        return stamp;
    }
    static void waitUntilPast(Stamp /*stamp*/) noexcept {}

    inline static Atomic<Stamp>* count = nullptr;
};

/// Orders two threads that both call it, and no thread that calls the light fence.
struct MeetingPoint {
    static void heavy(Site site = Site::here()) noexcept {
        calls->fetch_add(1, std::memory_order_acq_rel, site);
    }

    inline static Atomic<std::uint64_t>* calls = nullptr;
};

struct ModelQueueTraits {
    using Platform = ModelPlatform;
    using Clock = Ticks;
    using FullFence = MeetingPoint;
    using Parker = ModelParker;
    using Lock = BasicSpinLock<ModelPlatform>;
};

struct Label {
    Plain<int>* data;
    int number;
};

using RecordQueue = log::detail::RecordQueue<Label, ModelQueueTraits>;
using Registry = RecordQueue::Registry;
using RecordLane = RecordQueue::RecordLane;
using PostAttempt = RecordQueue::PostAttempt;

// A record of these scenarios takes 32 bytes.
inline constexpr std::size_t manyBytes = 256;
inline constexpr std::size_t bytesOfOne = 32;
inline constexpr std::size_t manyMessages = 8;

/// The lanes of a scenario, and the back end that reads them.
class Log {
public:
    explicit Log(std::size_t messages, std::size_t bytes = manyBytes)
        : queue_(optionsOf(messages, bytes)) {
        Ticks::count = &ticks_;
        MeetingPoint::calls = &fullFences_;
    }
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;
    ~Log() {
        for (Registry::Slot* const lane : lanes_) {
            Registry::dismiss(*lane);
        }
    }

    /// A second lane that is there anyway: the one for threads without a lane of their own.
    RecordLane& sharedLane() { return registry().shared(); }
    Registry::Slot& addLane() {
        Registry::Slot& lane = registry().enroll(nullptr);
        lanes_.push_back(&lane);
        return lane;
    }

    PostAttempt post(RecordLane& lane, Plain<int>& data, int number) {
        const auto write = [&](std::byte*) noexcept { data.set(number); };
        return queue_.tryPost(lane, Label{&data, number}, 0, write);
    }
    /// The same without data.
    PostAttempt post(RecordLane& lane, int number) {
        const auto write = [](std::byte*) noexcept {};
        return queue_.tryPost(lane, Label{nullptr, number}, 0, write);
    }
    PostAttempt postWhenThereIsRoom(RecordLane& lane, Plain<int>& data, int number) {
        PostAttempt result = post(lane, data, number);
        while (result == PostAttempt::full) {
            const auto size = RecordQueue::sizeIn(lane, 0);
            awaitRoom(lane, [&] { return lane.reserve(size) != nullptr; });
            result = post(lane, data, number);
        }
        return result;
    }
    template <class Fits>
    void awaitRoom(RecordLane& lane, Fits fits) {
        lane.awaitRoom(queue_.closed(), ModelPlatform::Clock::time_point::max(), fits);
    }
    void close() { queue_.close(); }

    // ---- Back end

    /// Emits at most `most` records with smaller stamps than `limit`.
    void batch(bool copies = false, std::size_t most = 8, Stamp limit = log::detail::endOfTime) {
        queue_.poll();
        if (copies) {
            queue_.expectEviction();
        }
        queue_.emitBefore(limit, most, [this](const RecordQueue::Record& record) {
            check(record.head.data == nullptr || record.head.data->get() == record.head.number,
                  "the record is there when it is emitted");
            check(record.stamp > last_, "stamps ascend");
            last_ = record.stamp;
            numbers.push_back(record.head.number);
        });
    }
    /// The clock of the model goes on only when nobody can do anything else.
    void sleepAndBatch() {
        const auto end = wayOff();
        static_cast<void>(queue_.waitForWork(end));
        check(ModelPlatform::Clock::now() < end, "the back end was woken");
        batch();
    }

    static ModelPlatform::Clock::time_point wayOff() {
        return ModelPlatform::Clock::now() + std::chrono::milliseconds(1000);
    }
    RecordQueue& queue() { return queue_; }
    Registry& registry() { return queue_.registry(); }

    std::vector<int> numbers;  ///< of the records that were emitted

private:
    static log::detail::RecordQueueOptions optionsOf(std::size_t messages, std::size_t bytes) {
        log::detail::RecordQueueOptions options;
        options.laneMessages = messages;
        options.laneBytes = bytes;
        return options;
    }

    Atomic<Stamp> ticks_{0};
    Atomic<std::uint64_t> fullFences_{0};
    RecordQueue queue_;
    Stamp last_ = 0;  ///< of the latest emitted record
    std::vector<Registry::Slot*> lanes_;
};

}  // namespace sluice::model
