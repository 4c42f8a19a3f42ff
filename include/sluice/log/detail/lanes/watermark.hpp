#pragma once

#include <sluice/log/detail/lanes/lane_reader.hpp>
#include <sluice/log/detail/lanes/lane_registry.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::log::detail {

/// Below which key every record of every lane can be seen.
///
/// The back end's view of all lanes. The proof that the watermark holds what it promises is in
/// docs/algorithms/ordered-log.md.
///
/// One thread. look() allocates when lanes were added. Tests: those of Intake.
template <class Traits>
class Watermark {
    using Registry = LaneRegistry<Traits>;
    using Slot = typename Registry::Slot;
    using Clock = typename Traits::Platform::Clock;
    template <class T>
    using Atomic = typename Traits::Platform::template Atomic<T>;

    using Marks = LaneMarks<typename Traits::Platform>;

public:
    using Reader = LaneReader<Traits>;
    using Duration = std::chrono::nanoseconds;

    /// How long a record stays announced before the back end asks whether its thread is alive, and
    /// between two such questions.
    static constexpr Duration probeInterval = std::chrono::milliseconds(100);

    explicit Watermark(Duration maxHold) noexcept : maxHold_(maxHold) {}
    ~Watermark() {
        for (Watch& watch : lanes_) {
            watch.reader.dropStaged();
        }
    }
    Watermark(const Watermark&) = delete;
    Watermark& operator=(const Watermark&) = delete;

    /// Looks at every lane. Returns the watermark: each record with a key below it is visible, now
    /// and for good, except those whose thread was given up by the limit.
    ///
    /// The processor's counter may start again while the machine sleeps. Then stamps from before
    /// would never come below the watermark, so the watermark is endOfTime for one look: all that
    /// is visible is emitted. A record that becomes visible later with such a stamp does the same.
    Key look(Registry& registry) {
        recycleLeft(registry);
        const Key now = Traits::Clock::nowThenLook();
        // That reading may be too early: nothing orders it behind the loads of the last look. The
        // second one is ordered behind them.
        const bool hasRestarted = isBehind(now) && isBehind(Traits::Clock::now());
        adopt(registry);
        Key low = now;
        bool anyAnnounced = false;
        anyStalled_ = false;
        for (Watch& watch : lanes_) {
            Key bound = watch.reader.look(now, before_);
            if (watch.reader.isStalled()) {
                bound = hold(registry, watch, now, bound);
            } else {
                endStall(watch);
            }
            anyAnnounced = anyAnnounced || watch.reader.isAnnounced();
            noteOccupancy(watch);
            low = std::min(low, bound);
        }
        if (anyAnnounced) {
            announcedSince_ = Clock::now();
        }
        anyAnnounced_ = anyAnnounced;
        before_ = now;
        if (__builtin_expect(hasRestarted, 0)) {
            watermark_ = endOfTime;
        } else {
            watermark_ = watermark_ == endOfTime ? low : std::max(watermark_, low);
        }
        return watermark_;
    }

    [[nodiscard]] Key get() const noexcept { return watermark_; }

    /// Whether the last look saw a record announced; one that did not and came after close() has
    /// seen the last record there will be.
    [[nodiscard]] bool anyAnnounced() const noexcept { return anyAnnounced_; }

    /// Whether the watermark waits for a thread that was announced at two looks.
    [[nodiscard]] bool isStalled() const noexcept { return anyStalled_; }

    /// Whether one of those threads has gone on since.
    [[nodiscard]] bool hasStalledGoneOn() const noexcept {
        return std::any_of(lanes_.begin(), lanes_.end(), [](const Watch& watch) {
            return watch.reader.isStalled() && watch.reader.hasChanged();
        });
    }

    /// Whether a lane has changed since the last look.
    [[nodiscard]] bool hasNews(const Registry& registry) const noexcept {
        return registry.version() != version_ ||
               std::any_of(lanes_.begin(), lanes_.end(),
                           [](const Watch& watch) { return watch.reader.hasChanged(); });
    }

    /// Whether there are records that the last look saw and that have not been emitted.
    [[nodiscard]] bool hasRecords() const noexcept {
        return std::any_of(lanes_.begin(), lanes_.end(),
                           [](const Watch& watch) { return watch.reader.hasRecords(); });
    }

    [[nodiscard]] bool hasBelow(Key limit) const noexcept {
        return std::any_of(lanes_.begin(), lanes_.end(),
                           [limit](const Watch& watch) { return watch.reader.nextKey() < limit; });
    }

    template <class Visit>
    void forEach(Visit visit) {
        for (Watch& watch : lanes_) {
            visit(watch.reader);
        }
    }

    // ---- Anybody

    /// The highest of all lanes, and all stalls.
    [[nodiscard]] const Marks& marks() const noexcept { return marks_; }
    /// Stalls that lasted longer than the limit.
    [[nodiscard]] std::uint64_t ignoredStalls() const noexcept {
        return ignoredStalls_.load(std::memory_order_relaxed);  // relaxed: a mere number
    }
    /// Threads found to have gone without a word.
    [[nodiscard]] std::uint64_t deadThreads() const noexcept {
        return deadThreads_.load(std::memory_order_relaxed);  // relaxed: a mere number
    }

private:
    using TimePoint = std::chrono::time_point<Clock, Duration>;

    struct Stall {
        bool isOn = false;
        bool isIgnored = false;  // it has lasted longer than the limit
        TimePoint since{};
        TimePoint nextProbe{};
    };

    struct Watch {
        Reader reader;
        Stall stall;
    };

    static void add(Atomic<std::uint64_t>& count) noexcept {
        // Relaxed: one writer, and no data follows a count.
        count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }

    /// Whether this reading is earlier than that of the last look, or than a record that it saw.
    bool isBehind(Key now) const noexcept {
        return now < before_ ||
               std::any_of(lanes_.begin(), lanes_.end(), [now](const Watch& watch) {
                   const Key key = watch.reader.nextKey();
                   return key > now && key != endOfTime;
               });
    }

    void noteOccupancy(const Watch& watch) noexcept {
        if (watch.reader.hasRecords()) {
            const Occupancy found = watch.reader.lane().occupancy();
            for (Marks* const marks : {&marks_, &watch.reader.lane().marks()}) {
                Marks::raise(marks->messages, found.messages);
                Marks::raise(marks->bytes, found.bytes);
            }
        }
    }

    void noteLength(const Watch& watch, Duration length) noexcept {
        const std::int64_t value{length.count()};
        Marks::raise(marks_.longestStall, value);
        auto& own = watch.reader.lane().marks();
        own.raise(own.longestStall, value);
    }

    static Slot& slotOf(const Watch& watch) noexcept {
        return static_cast<Slot&>(watch.reader.lane());
    }

    /// Brings in the lanes that were added. Those that a thread has died in without a word would
    /// otherwise stay for ever, so this is when all are asked.
    void adopt(Registry& registry) {
        if (registry.version() == version_) {
            return;
        }
        std::size_t most = 0;
        registry.forEach([&most](Slot&) { ++most; });
        lanes_.reserve(2 * most + 8);  // no allocation under the lock, unless more come meanwhile
        version_ = registry.visitNew([this](Slot& slot) {
            lanes_.push_back(Watch{Reader(slot), {}});
        });
        for (Watch& watch : lanes_) {
            probe(registry, watch);
        }
    }

    /// A thread stays announced: preempted between announcing and publishing, or dead.
    [[gnu::cold, gnu::noinline]] Key hold(Registry& registry, Watch& watch, Key now, Key bound) {
        const TimePoint time = Clock::now();
        Stall& stall = watch.stall;
        if (!stall.isOn) {
            stall = Stall{true, false, announcedSince_, time + probeInterval};
            add(marks_.stalls);
            add(watch.reader.lane().marks().stalls);
        }
        const Duration length = time - stall.since;
        noteLength(watch, length);
        if (time >= stall.nextProbe) {
            stall.nextProbe = time + probeInterval;
            probe(registry, watch);
        }
        if (length < maxHold_) {
            anyStalled_ = true;
            return bound;
        }
        if (!stall.isIgnored) {
            add(ignoredStalls_);
        }
        stall.isIgnored = true;
        return now;
    }

    void endStall(Watch& watch) {
        if (__builtin_expect(watch.stall.isOn, 0)) {
            noteLength(watch, Clock::now() - watch.stall.since);
            watch.stall = Stall{};
        }
    }

    void probe(Registry& registry, Watch& watch) {
        if (watch.reader.lane().buryIfDead()) {
            add(deadThreads_);
            registry.dismissDead();
        }
    }

    /// Hands on the lanes whose owners have gone and that were empty at the last look.
    void recycleLeft(Registry& registry) {
        for (std::size_t i = 0; registry.leavers() != 0 && i < lanes_.size();) {
            Watch& watch = lanes_[i];
            if (watch.reader.lane().hasLeft() && !watch.reader.hasChanged() &&
                !watch.reader.isAnnounced() && !watch.reader.hasRecords()) {
                registry.recycle(slotOf(watch));
                std::swap(watch, lanes_.back());
                lanes_.pop_back();
            } else {
                ++i;
            }
        }
    }

    const Duration maxHold_;
    std::vector<Watch> lanes_;
    std::uint64_t version_ = 0;
    Key before_ = 0;
    Key watermark_ = 0;
    bool anyAnnounced_ = false;
    bool anyStalled_ = false;
    TimePoint announcedSince_{};  // the time of the last look that saw a record announced
    Marks marks_;
    Atomic<std::uint64_t> ignoredStalls_{0};
    Atomic<std::uint64_t> deadThreads_{0};
};

}  // namespace sluice::log::detail
