#pragma once

#include <sluice/base/counter.hpp>
#include <sluice/log/detail/lanes/lane_reader.hpp>
#include <sluice/log/detail/lanes/lane_registry.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::log::detail {

/// Finds the watermark: the back end can see each record with a smaller stamp, in all lanes.
///
/// docs/algorithms/ordered-log.md has the proof.
///
/// Threads: one thread at a time. Cost: look() visits each lane. It allocates after lanes were
/// added. Tests: those of RecordQueue.
template <class Traits>
class Watermark {
    using Registry = LaneRegistry<Traits>;
    using Slot = typename Registry::Slot;
    using Clock = typename Traits::Platform::Clock;
    using Counter = SingleWriterCounter<typename Traits::Platform>;
    using Marks = LaneHighWater<typename Traits::Platform>;

public:
    using Reader = LaneReader<Traits>;
    using Duration = std::chrono::nanoseconds;

    /// If a record stays announced for this long, the back end checks whether its thread lives. It
    /// checks again after each further interval.
    static constexpr Duration probeInterval = std::chrono::milliseconds(100);

    explicit Watermark(Duration maxHold) noexcept : maxHold_(maxHold) {}
    ~Watermark() {
        for (Watch& watch : lanes_) {
            watch.reader.dropStaged();
        }
    }
    Watermark(const Watermark&) = delete;
    Watermark& operator=(const Watermark&) = delete;

    /// Looks at each lane and returns the watermark. Records with smaller stamps are visible from
    /// now on, and no other record with a smaller stamp appears later. Exception: a record of a
    /// thread that was stalled for longer than the limit.
    ///
    /// The processor's counter may start again while the machine sleeps. Older stamps would then
    /// stay above the watermark for ever. So the watermark of that look is endOfTime, and the back
    /// end emits all visible records. If a record with an old stamp appears later, the next look
    /// has the same result.
    Stamp look(Registry& registry) {
        recycleLeft(registry);
        const Stamp now = Traits::Clock::nowThenLook();
        // Two readings, because the first one may be earlier than the loads of the last look:
        // nothing orders it after them. The second reading is ordered after them.
        const bool hasRestarted = isBehind(now) && isBehind(Traits::Clock::now());
        adopt(registry);
        Stamp low = now;
        bool anyAnnounced = false;
        anyStalled_ = false;
        for (Watch& watch : lanes_) {
            Stamp bound = watch.reader.look(now, before_);
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

    [[nodiscard]] Stamp get() const noexcept { return watermark_; }

    /// Whether the last look saw an announced record. If a look after close() saw none, it has seen
    /// the last record.
    [[nodiscard]] bool anyAnnounced() const noexcept { return anyAnnounced_; }

    /// Whether the watermark waits for a stalled thread: two looks have seen the same announced
    /// record of it.
    [[nodiscard]] bool isStalled() const noexcept { return anyStalled_; }

    /// Whether a stalled thread has continued since the last look.
    [[nodiscard]] bool hasStalledGoneOn() const noexcept {
        return any([](const Reader& reader) { return reader.isStalled() && reader.hasChanged(); });
    }

    /// Whether a lane has changed since the last look.
    [[nodiscard]] bool hasNews(const Registry& registry) const noexcept {
        return registry.version() != version_ ||
               any([](const Reader& reader) { return reader.hasChanged(); });
    }

    /// Whether a record that the last look saw has not been emitted yet.
    [[nodiscard]] bool hasRecords() const noexcept {
        return any([](const Reader& reader) { return reader.hasRecords(); });
    }

    [[nodiscard]] bool hasBelow(Stamp limit) const noexcept {
        return any([limit](const Reader& reader) { return reader.nextStamp() < limit; });
    }

    [[nodiscard]] std::size_t laneCount() const noexcept { return lanes_.size(); }

    template <class Visit>
    void forEach(Visit visit) {
        for (Watch& watch : lanes_) {
            visit(watch.reader);
        }
    }

    // ---- Any thread

    /// The maxima over all lanes, and the number of stalls.
    [[nodiscard]] const Marks& marks() const noexcept { return marks_; }
    /// The number of stalls that lasted longer than `maxHold`.
    [[nodiscard]] std::uint64_t ignoredStalls() const noexcept { return ignoredStalls_.get(); }
    /// The number of threads that died without their destructors.
    [[nodiscard]] std::uint64_t deadThreads() const noexcept { return deadThreads_.get(); }

private:
    using TimePoint = std::chrono::time_point<Clock, Duration>;

    struct Stall {
        bool isOn = false;
        bool isIgnored = false;  ///< it has lasted longer than maxHold_
        TimePoint since{};
        TimePoint nextProbe{};
    };

    struct Watch {
        Reader reader;
        Stall stall;
    };

    template <class Predicate>
    bool any(Predicate holds) const noexcept {
        return std::any_of(lanes_.begin(), lanes_.end(),
                           [&holds](const Watch& watch) { return holds(watch.reader); });
    }

    /// Whether this reading is earlier than the last look, or than the stamp of a record that the
    /// last look saw.
    bool isBehind(Stamp now) const noexcept {
        return now < before_ || any([now](const Reader& reader) {
                   const Stamp stamp = reader.nextStamp();
                   return stamp > now && stamp != endOfTime;
               });
    }

    void noteOccupancy(const Watch& watch) noexcept {
        if (watch.reader.hasRecords()) {
            const Occupancy found = watch.reader.lane().occupancy();
            marks_.note(found);
            watch.reader.lane().marks().note(found);
        }
    }

    void noteLength(const Watch& watch, Duration length) noexcept {
        marks_.noteStall(length);
        watch.reader.lane().marks().noteStall(length);
    }

    static Slot& slotOf(const Watch& watch) noexcept {
        return static_cast<Slot&>(watch.reader.lane());
    }

    /// Adds the new lanes. Then it checks whether the owner of each lane lives. Otherwise the lane
    /// of a dead thread would stay for ever.
    void adopt(Registry& registry) {
        if (registry.version() == version_) {
            return;
        }
        std::size_t most = 0;
        registry.forEach([&most](Slot&) { ++most; });
        // Allocates now. The callback below runs with the lock, and should not allocate; it does so
        // only if many lanes are added meanwhile.
        lanes_.reserve(2 * most + 8);
        version_ = registry.visitNew([this](Slot& slot) {
            lanes_.push_back(Watch{Reader(slot), {}});
        });
        for (Watch& watch : lanes_) {
            probe(registry, watch);
        }
    }

    /// Returns the bound of a lane with a stalled record, whose thread is preempted or dead. After
    /// maxHold_ the bound no longer holds the watermark back.
    [[gnu::cold, gnu::noinline]] Stamp hold(Registry& registry, Watch& watch, Stamp now,
                                            Stamp bound) {
        const TimePoint time = Clock::now();
        Stall& stall = watch.stall;
        if (!stall.isOn) {
            stall = Stall{true, false, announcedSince_, time + probeInterval};
            marks_.noteStall();
            watch.reader.lane().marks().noteStall();
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
            ignoredStalls_.add(1);
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
        if (watch.reader.lane().endIfDead()) {
            deadThreads_.add(1);
            registry.dismissDead();
        }
    }

    /// Recycles the empty lanes whose owners have ended.
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
    std::uint64_t version_ = 0;   ///< version of the registry whose lanes are in lanes_
    Stamp before_ = 0;            ///< reading of the clock at the last look
    Stamp watermark_ = 0;         ///< result of the last look
    bool anyAnnounced_ = false;   ///< see anyAnnounced()
    bool anyStalled_ = false;     ///< see isStalled()
    TimePoint announcedSince_{};  ///< time of the last look that saw an announced record
    Marks marks_;
    Counter ignoredStalls_;
    Counter deadThreads_;
};

}  // namespace sluice::log::detail
