#pragma once

#include <sluice/base/role_check.hpp>
#include <sluice/log/detail/lanes/lane_registry.hpp>
#include <sluice/log/detail/lanes/merge.hpp>
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

/// The back end's side of an intake.
///
/// Looks at the lanes, emits their records in one order, and sleeps until there are more. What is
/// promised is said at Intake.
///
/// One thread at a time; wake() and the numbers are for any thread.
///
/// Edges: E1 sleep: the word of a lane published, light fence, waiters read -- against -- waiters
/// counted, heavy fence, words of all lanes read. So a thread that has posted finds the sleeper, or
/// the sleeper finds the record.
///
/// Tests: those of Intake; tests/model/log_intake_model_test.cpp.
template <class Head, class Traits>
class IntakeConsumer {
    using Platform = typename Traits::Platform;
    using Registry = LaneRegistry<Traits>;
    using Lane = typename Registry::Lane;
    using Reader = LaneReader<Traits>;
    using Writer = RecordWriter<Head, Traits>;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using Record = detail::Record<Head>;
    using TimePoint = typename Platform::Clock::time_point;

    IntakeConsumer(Registry& registry, std::chrono::nanoseconds maxHold)
        : registry_(registry), watermark_(maxHold) {}
    IntakeConsumer(const IntakeConsumer&) = delete;
    IntakeConsumer& operator=(const IntakeConsumer&) = delete;

    Key look() {
        const Role role(role_, oneBackEnd);
        const bool wasClosed = registry_.closed().load(std::memory_order_seq_cst);
        const Key before = watermark_.get();
        const Key watermark = watermark_.look(registry_);
        if (__builtin_expect(std::max(before, watermark) == endOfTime, 0)) {
            last_ = 0;  // the clock has started again
        }
        isSettled_ = wasClosed && !watermark_.anyAnnounced();
        return watermark;
    }

    /// With `copies` records are copied before they are used, so that their owners can evict.
    template <class Emit, class Finish>
    std::size_t emitBefore(Key limit, std::size_t max, bool copies, Emit& emit, Finish& finish) {
        const Role role(role_, oneBackEnd);
        const Harvest harvest(*this, std::min(limit, watermark_.get()), max, copies);
        std::size_t count = 0;
        for (; count < max && !merge_.isEmpty(); ++count) {
            Reader& reader = merge_.top();
            hand(reader.front(), reader.lane(), emit);
            if (reader.next(harvest.limit)) {
                merge_.setTopKey(reader.key());
            } else {
                merge_.removeTop();
            }
        }
        finish();
        add(emitted_, count);
        return count;
    }

    [[nodiscard]] bool hasBefore(Key limit) {
        const Role role(role_, oneBackEnd);
        return watermark_.hasBelow(std::min(limit, watermark_.get()));
    }

    bool waitForWork(TimePoint until) {
        const Role role(role_, oneBackEnd);
        if (watermark_.isStalled()) {
            return waitForStalled(until);
        }
        if (!hasNews() && Platform::Clock::now() < until) {
            auto& events = registry_.events();
            const auto key = events.prepareWait();  // E1
            if (hasNews()) {
                events.cancelWait(key);
            } else {
                // Once: whoever calls this looks again, whatever ended the sleep.
                static_cast<void>(events.waitUntil(key, until));
            }
        }
        return hasNews() && takeNews();
    }

    [[nodiscard]] bool isDrained() const { return isSettled_ && !watermark_.hasRecords(); }

    // ---- Anybody

    void wake() noexcept {
        woken_.store(1, std::memory_order_release);
        registry_.events().notifyAll();
    }

    [[nodiscard]] const Watermark<Traits>& watermark() const noexcept { return watermark_; }
    // Relaxed, both: mere numbers.
    [[nodiscard]] std::uint64_t emitted() const noexcept {
        return emitted_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t orderViolations() const noexcept {
        return orderViolations_.load(std::memory_order_relaxed);
    }

private:
    using Role = typename RoleCheck<Platform>::Scope;

    static constexpr const char* oneBackEnd =
        "a second back end, or a callback of the back end that calls it: let one thread at a time "
        "look, emit and wait";

    /// The lanes that have something to emit, opened; closes them.
    struct Harvest {
        Harvest(IntakeConsumer& o, Key l, std::size_t max, bool copies) : consumer(o), limit(l) {
            consumer.merge_.clear();
            consumer.open_.clear();
            consumer.watermark_.forEach([this, max, copies](Reader& reader) {
                if (reader.open(limit, max, copies)) {
                    consumer.open_.push_back(&reader);
                    consumer.merge_.add(reader.key(), reader);
                }
            });
        }
        Harvest(const Harvest&) = delete;
        Harvest& operator=(const Harvest&) = delete;
        ~Harvest() {
            for (Reader* const reader : consumer.open_) {
                reader->close();
            }
            while (LargePayload* const payload = consumer.used_) {
                consumer.used_ = payload->next;
                LargePayload::free(payload);
            }
        }

        IntakeConsumer& consumer;
        const Key limit;
    };

    [[nodiscard]] bool isWoken() const noexcept {
        return woken_.load(std::memory_order_acquire) != 0;
    }
    [[nodiscard]] bool hasNews() const noexcept {
        return isWoken() || watermark_.hasNews(registry_) || watermark_.hasRecords();
    }

    /// What the others post meanwhile cannot be emitted, so they are not asked to wake anybody; and
    /// the processor is left to the thread that is waited for.
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
        // Relaxed: what the waker wrote was acquired by hasNews(), or is no news yet.
        woken_.store(0, std::memory_order_relaxed);
        return true;
    }

    template <class Emit>
    void hand(const std::byte* place, const Lane& lane, Emit& emit) noexcept {
        const RecordHeader& header = headerAt(place);
        const auto& head =
            *std::launder(reinterpret_cast<const Head*>(place + sizeof(RecordHeader)));
        const std::byte* payload = place + Writer::payloadAt;
        std::size_t size = header.payloadSize;
        const LaneInfo* info = &lane.info();
        if (__builtin_expect(header.isForeign(), 0)) {
            info = std::launder(reinterpret_cast<const LaneInfo*>(payload));
            payload += sizeof(LaneInfo);
        }
        if (__builtin_expect(header.isLarge(), 0)) {
            LargePayload* const block = largePayloadAt(place, sizeof(Head));
            payload = block->bytes();
            size = block->size;
            block->next = std::exchange(used_, block);
        }
        if (__builtin_expect(header.key < last_, 0)) {
            noteStepBack(header.key);
        } else {
            last_ = header.key;
        }
        emit(Record{header.key, head, payload, size, *info});
    }

    /// Records from before the clock started again have later stamps.
    [[gnu::cold, gnu::noinline]] void noteStepBack(Key key) noexcept {
        if (watermark_.get() == endOfTime) {
            last_ = key;
        } else {
            add(orderViolations_, 1);
        }
    }

    static void add(Atomic<std::uint64_t>& count, std::uint64_t n) noexcept {
        // Relaxed: one writer, and no data follows a count.
        count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }

    Registry& registry_;
    Watermark<Traits> watermark_;
    Merge<Reader> merge_;
    std::vector<Reader*> open_;
    LargePayload* used_ = nullptr;  // large payloads that have been emitted
    Key last_ = 0;                  // the latest key that was emitted
    Atomic<std::uint64_t> emitted_{0};
    Atomic<std::uint64_t> orderViolations_{0};
    Atomic<unsigned char> woken_{0};  // by wake(), since the last wait
    RoleCheck<Platform> role_;
    bool isSettled_ = false;  // closed, and the last record has been seen
};

}  // namespace sluice::log::detail
