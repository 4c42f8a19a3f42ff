#pragma once

#include "support/model/expectations.hpp"

#include <sluice/base/spin_lock.hpp>
#include <sluice/log/detail/lanes/lane_registry.hpp>
#include <sluice/log/detail/lanes/record_consumer.hpp>
#include <sluice/log/detail/lanes/record_writer.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

// Lanes, watermark and merge as shipped. Threads post into lanes that the scenario gives them, and
// a back end looks, emits and sleeps. The payload of a record is a plain variable, so a missing
// edge shows as a data race. A lost wake-up shows as a clock that went on.

namespace sluice::model {

using log::detail::Stamp;

inline constexpr auto relaxed = std::memory_order_relaxed;

/// Each reading is later than all readings before it, on whatever thread, and orders nothing else.
struct Ticks {
    template <class Word>
    static Stamp announceThenNow(Word& word, std::uint64_t value,
                                 Site site = Site::here()) noexcept {
        word.exchange(value, std::memory_order_seq_cst, site);
        return now();
    }
    static Stamp now() noexcept { return count->fetch_add(1, relaxed) + 1; }
    static Stamp nowThenLook() noexcept {
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

using Registry = log::detail::LaneRegistry<ModelQueueTraits>;
using RecordLane = Registry::RecordLane;
using RecordConsumer = log::detail::RecordConsumer<Label, ModelQueueTraits>;
using Writer = log::detail::RecordWriter<Label, ModelQueueTraits>;
using WriteResult = Writer::WriteResult;

// A record of these scenarios takes 32 bytes.
inline constexpr std::size_t manyBytes = 256;
inline constexpr std::size_t bytesOfOne = 32;
inline constexpr std::size_t manyMessages = 8;

/// The lanes of a scenario, and the back end that reads them.
class Log {
public:
    explicit Log(std::size_t messages, std::size_t bytes = manyBytes)
        : registry_(
              *new Registry({messages, bytes, sizeof(Label)}, {messages, bytes, sizeof(Label)})) {
        Ticks::count = &ticks_;
        MeetingPoint::calls = &fullFences_;
    }
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;
    ~Log() {
        for (Registry::Slot* const lane : lanes_) {
            Registry::dismiss(*lane);
        }
        registry_.abandon();
    }

    /// A second lane that is there anyway: the one for threads without a lane of their own.
    RecordLane& sharedLane() { return registry_.shared(); }
    Registry::Slot& addLane() {
        Registry::Slot& lane = registry_.enroll(nullptr);
        lanes_.push_back(&lane);
        return lane;
    }

    WriteResult post(RecordLane& lane, Plain<int>& data, int number) {
        const auto write = [&](std::byte*) noexcept { data.set(number); };
        return Writer::tryPost(registry_, lane, 0, Label{&data, number}, 0, write);
    }
    /// The same without data.
    WriteResult post(RecordLane& lane, int number) {
        const auto write = [](std::byte*) noexcept {};
        return Writer::tryPost(registry_, lane, 0, Label{nullptr, number}, 0, write);
    }
    WriteResult postWhenThereIsRoom(RecordLane& lane, Plain<int>& data, int number) {
        WriteResult result = post(lane, data, number);
        while (result == WriteResult::full) {
            lane.awaitRoom(Writer::sizeIn(lane, 0, 0), registry_.closed());
            result = post(lane, data, number);
        }
        return result;
    }
    void close() {
        registry_.close();
        consumer_.wake();
    }

    // ---- Back end

    /// Emits at most `most` records with smaller stamps than `limit`.
    void harvest(bool copies = false, std::size_t most = 8, Stamp limit = log::detail::endOfTime) {
        consumer_.look();
        const auto emit = [this](const RecordConsumer::Record& record) {
            check(record.head.data == nullptr || record.head.data->get() == record.head.number,
                  "the record is there when it is emitted");
            numbers.push_back(record.head.number);
        };
        const auto finish = [] {};
        consumer_.emitBefore(limit, most, copies, emit, finish);
    }
    /// The clock of the model goes on only when nobody can do anything else.
    void sleepAndHarvest() {
        const auto end = wayOff();
        static_cast<void>(consumer_.waitForWork(end));
        check(ModelPlatform::Clock::now() < end, "the back end was woken");
        harvest();
    }

    static ModelPlatform::Clock::time_point wayOff() {
        return ModelPlatform::Clock::now() + std::chrono::milliseconds(1000);
    }
    RecordConsumer& consumer() { return consumer_; }
    Registry& registry() { return registry_; }

    std::vector<int> numbers;  ///< of the records that were emitted

private:
    Atomic<Stamp> ticks_{0};
    Atomic<std::uint64_t> fullFences_{0};
    Registry& registry_;
    RecordConsumer consumer_{registry_, std::chrono::nanoseconds::max()};
    std::vector<Registry::Slot*> lanes_;
};

}  // namespace sluice::model
