#pragma once

#include <sluice/base/counter.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/log/detail/lanes/lane_merge.hpp>
#include <sluice/log/detail/lanes/lane_registry.hpp>
#include <sluice/log/detail/lanes/record.hpp>
#include <sluice/log/detail/lanes/record_writer.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>
#include <sluice/log/detail/lanes/watermark.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::log::detail {

/// The back end's side of a record queue.
///
/// It looks at the lanes, emits their records in one order, and sleeps until there are more.
/// RecordQueue has the contract.
///
/// Threads: one thread at a time calls the members. Any thread may call wake() and read the
/// numbers.
///
/// Edges: E1 sleep has two steps, each with a fence on both sides:
///
/// - The posting thread publishes the word of its lane, executes a light fence, and reads
///   postsWake. The back end sets postsWake, executes a heavy fence, and reads the words of all
///   lanes.
/// - If the posting thread finds postsWake set, it executes a full fence and reads the count of
///   waiters. The back end counts itself as a waiter, executes a full fence, and reads the words of
///   all lanes.
///
/// So the posting thread finds the sleeper, or the sleeper finds the record. postsWake stays set
/// from one sleep to the next, so the heavy fence is rare.
///
/// Tests: those of RecordQueue; tests/model/log_queue_model_test.cpp.
template <class Head, class Traits>
class RecordConsumer {
    using Platform = typename Traits::Platform;
    using Registry = LaneRegistry<Traits>;
    using RecordLane = typename Registry::RecordLane;
    using Reader = LaneReader<Traits>;
    using Writer = RecordWriter<Head, Traits>;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using Record = detail::Record<Head>;
    using TimePoint = typename Platform::Clock::time_point;

    RecordConsumer(Registry& registry, std::chrono::nanoseconds maxHold)
        : registry_(registry), watermark_(maxHold) {}
    RecordConsumer(const RecordConsumer&) = delete;
    RecordConsumer& operator=(const RecordConsumer&) = delete;

    Stamp look() {
        const Role role(role_, oneBackEnd);
        // Relaxed: the fence of the look orders this load before the loads of the words.
        const bool wasClosed = registry_.closed().load(std::memory_order_relaxed);
        const Stamp before = watermark_.get();
        const Stamp watermark = watermark_.look(registry_);
        if (__builtin_expect(std::max(before, watermark) == endOfTime, 0)) {
            last_ = 0;  // the clock started again
        }
        isSettled_ = wasClosed && !watermark_.anyAnnounced();
        return watermark;
    }

    /// With `copies` it copies records before it emits them, so that the owners of the lanes can
    /// evict meanwhile.
    template <class Emit, class Finish>
    std::size_t emitBefore(Stamp limit, std::size_t max, bool copies, Emit& emit, Finish& finish) {
        const Role role(role_, oneBackEnd);
        limit = std::min(limit, watermark_.get());
        const CloseLanes close{*this};
        openLanes(limit, max, copies);
        std::size_t count = 0;
        for (; count < max && !merge_.isEmpty(); ++count) {
            Reader& reader = merge_.top();
            emitOne(reader.front(), reader.lane(), emit);
            if (reader.next(limit)) {
                merge_.setTopStamp(reader.stamp());
            } else {
                merge_.removeTop();
            }
        }
        finish();
        emitted_.add(count);
        return count;
    }

    [[nodiscard]] bool hasBefore(Stamp limit) {
        const Role role(role_, oneBackEnd);
        return watermark_.hasBelow(std::min(limit, watermark_.get()));
    }

    bool waitForWork(TimePoint until) {
        const Role role(role_, oneBackEnd);
        if (watermark_.isStalled()) {
            return waitForStalled(until);
        }
        if (!hasNews() && Platform::Clock::now() < until) {
            registry_.letPostsWake(true);  // E1
            auto& events = registry_.events();
            const auto key = events.prepareWait();  // E1
            if (hasNews()) {
                events.cancelWait(key);
            } else {
                // It sleeps once, because the caller looks again after each sleep.
                static_cast<void>(events.waitUntil(key, until));
            }
        }
        return hasNews() && takeNews();
    }

    void expectNoWake() noexcept {
        const Role role(role_, oneBackEnd);
        registry_.letPostsWake(false);
    }

    [[nodiscard]] bool isDrained() const { return isSettled_ && !watermark_.hasRecords(); }

    // ---- Any thread

    void wake() noexcept {
        // An exchange, because a store would end the release sequence of another wake().
        woken_.exchange(1, std::memory_order_release);
        registry_.events().notifyAll();
    }

    [[nodiscard]] const Watermark<Traits>& watermark() const noexcept { return watermark_; }
    [[nodiscard]] std::uint64_t emitted() const noexcept { return emitted_.get(); }
    [[nodiscard]] std::uint64_t orderViolations() const noexcept { return orderViolations_.get(); }

private:
    using Role = typename RoleCheck<Platform>::Scope;

    static constexpr const char* oneBackEnd = "a second thread is the back end, or a callback of "
                                              "the back end calls it: let one "
                                              "thread at a time look, emit and wait";

    /// Closes the open lanes and frees the blocks of the emitted records.
    struct CloseLanes {
        RecordConsumer& consumer;

        ~CloseLanes() {
            for (Reader* const reader : consumer.open_) {
                reader->close();
            }
            consumer.open_.clear();
            while (LargePayload* const payload = consumer.used_) {
                consumer.used_ = payload->next;
                LargePayload::free(payload);
            }
        }
    };

    /// Opens the lanes that have records below `limit`.
    void openLanes(Stamp limit, std::size_t max, bool copies) {
        // Allocates first. So each lane that is opened is also closed, even if there is no memory
        // to open the next one.
        merge_.reset(watermark_.laneCount());
        open_.reserve(watermark_.laneCount());
        watermark_.forEach([&](Reader& reader) {
            if (reader.open(limit, max, copies)) {
                open_.push_back(&reader);
                merge_.add(reader.stamp(), reader);
            }
        });
    }

    [[nodiscard]] bool isWoken() const noexcept {
        return woken_.load(std::memory_order_relaxed) != 0;  // relaxed: takeNews() acquires
    }
    [[nodiscard]] bool hasNews() const noexcept {
        return isWoken() || watermark_.hasNews(registry_) || watermark_.hasRecords();
    }

    /// Waits until the stalled thread continues, and yields the processor to it. Later records of
    /// other threads cannot be emitted meanwhile, so posts do not wake the back end.
    bool waitForStalled(TimePoint until) {
        using std::chrono::microseconds;
        microseconds nap{0};
        microseconds slept{0};
        const auto ready = [this] { return isWoken() || watermark_.hasStalledGoneOn(); };
        while (!ready() && slept < microseconds(20'000) && Platform::Clock::now() < until) {
            if (nap.count() < 50) {
                nap += microseconds(1);
                Platform::yield();
            } else {
                std::this_thread::sleep_for(nap);
                slept += nap;
                nap = std::min(2 * nap, microseconds(5'000));
            }
        }
        return ready() && takeNews();
    }
    bool takeNews() noexcept {
        if (isWoken()) {
            // An exchange, because a store could overwrite a second wake() without acquiring its
            // writes.
            woken_.exchange(0, std::memory_order_acquire);
        }
        return true;
    }

    template <class Emit>
    void emitOne(const std::byte* record, const RecordLane& lane, Emit& emit) noexcept {
        const RecordFrame& frame = frameAt(record);
        const auto& head =
            *std::launder(reinterpret_cast<const Head*>(record + sizeof(RecordFrame)));
        const std::byte* payload = record + Writer::payloadAt;
        std::size_t size = frame.payloadSize;
        const ThreadInfo* info = &lane.info();
        if (__builtin_expect(frame.isForeign(), 0)) {
            info = std::launder(reinterpret_cast<const ThreadInfo*>(payload));
            payload += sizeof(ThreadInfo);
        }
        if (__builtin_expect(frame.isLarge(), 0)) {
            LargePayload* const block = largePayloadAt(record, sizeof(Head));
            payload = block->bytes();
            size = block->size;
            block->next = std::exchange(used_, block);
        }
        if (__builtin_expect(frame.stamp < last_, 0)) {
            noteStepBack(frame.stamp);
        } else {
            last_ = frame.stamp;
        }
        emit(Record{frame.stamp, head, payload, size, *info});
    }

    /// Called if a stamp is smaller than the last one. That is no violation if the clock has
    /// started again, because records from before have larger stamps.
    [[gnu::cold, gnu::noinline]] void noteStepBack(Stamp stamp) noexcept {
        if (watermark_.get() == endOfTime) {
            last_ = stamp;
        } else {
            orderViolations_.add(1);
        }
    }

    Registry& registry_;
    Watermark<Traits> watermark_;
    LaneMerge<Reader> merge_;
    std::vector<Reader*> open_;     ///< readers that are open: between open() and close()
    LargePayload* used_ = nullptr;  ///< blocks of emitted records, until the lanes are closed
    Stamp last_ = 0;                ///< the latest emitted stamp
    SingleWriterCounter<Platform> emitted_;
    SingleWriterCounter<Platform> orderViolations_;
    Atomic<unsigned char> woken_{0};  ///< whether wake() was called since the last wait
    RoleCheck<Platform> role_;
    bool isSettled_ = false;  ///< whether the queue is closed and a look has seen the last record
};

}  // namespace sluice::log::detail
