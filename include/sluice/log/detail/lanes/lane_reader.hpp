#pragma once

#include <sluice/log/detail/lanes/record.hpp>
#include <sluice/log/detail/lanes/record_lane.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace sluice::log::detail {

/// Reads a lane for the back end.
///
/// look() returns a bound: a record that the lane publishes later has at least this stamp. The
/// reader reads records in the lane. Exception: if the owner may evict records, the reader copies
/// them first and gives their room back at once. The results of front() stay valid until close().
///
/// Threads: one thread at a time. Cost: open() allocates if it has to copy more records than
/// before. Tests: those of RecordLane.
template <class Traits>
class LaneReader {
    using RecordLane = detail::RecordLane<Traits>;
    using EvictionGuard = typename RecordLane::EvictionGuard;

public:
    explicit LaneReader(RecordLane& lane) noexcept : lane_(&lane) {}

    [[nodiscard]] RecordLane& lane() const noexcept { return *lane_; }

    /// Reads the lane's word and returns the bound. The caller has read the clock, `now`, earlier.
    /// `before` is the `now` of the look before.
    Stamp look(Stamp now, Stamp before) noexcept {
        const std::uint64_t word = lane_->look();
        const bool isAnnounced = (word & RecordLane::announced) != 0;
        isStalled_ = isAnnounced && word == word_;
        if (!isAnnounced) {
            bound_ = now;  // a later announcement is followed by a later reading of the clock
        } else if (!isStalled_) {
            // The look before did not see this announcement, so its stamp is later.
            bound_ = before;
        }
        word_ = word;
        return bound_;
    }

    /// Whether the last look saw an announced record.
    [[nodiscard]] bool isAnnounced() const noexcept { return (word_ & RecordLane::announced) != 0; }
    /// Whether the last two looks saw the same announced record.
    [[nodiscard]] bool isStalled() const noexcept { return isStalled_; }
    /// Whether the owner has announced or published a record since the last look.
    [[nodiscard]] bool hasChanged() const noexcept { return lane_->look() != word_; }

    /// Whether a record that the last look saw has not been emitted yet.
    [[nodiscard]] bool hasRecords() const noexcept {
        return stagedCount_ != 0 || visible() > lane_->releasedCount();
    }

    /// The stamp of the oldest record that the last look saw and that has not been emitted.
    /// endOfTime if there is none.
    [[nodiscard]] Stamp nextStamp() const noexcept {
        if (stagedCount_ != 0) {
            return frameAt(stagedFront()).stamp;
        }
        if (visible() <= lane_->releasedCount()) {
            return endOfTime;
        }
        // It checks again with the lock, because the owner may have evicted the record meanwhile.
        const EvictionGuard guard = lane_->lockEviction(EvictionState::copying);
        return visible() > lane_->releasedCount() ? frameAt(lane_->at(lane_->releasedBytes())).stamp
                                                  : endOfTime;
    }

    /// Makes records with stamps below `limit` ready: all of them, or at least `max`. With `copies`
    /// it copies them. Returns whether there is such a record. After true, close() must follow.
    bool open(Stamp limit, std::size_t max, bool copies) {
        if (!hasRecords()) {
            return false;
        }
        EvictionGuard guard = lane_->lockEviction(EvictionState::copying);
        isInPlace_ = stagedCount_ == 0 && !copies && !lane_->mayEvict();
        if (isInPlace_) {
            return openInPlace(std::move(guard), limit);
        }
        stage(guard, limit, max);
        front_ = stagedFront();
        return stagedCount_ != 0 && frameAt(front_).stamp < limit;
    }

    /// The next ready record.
    [[nodiscard]] const std::byte* front() const noexcept { return front_; }
    [[nodiscard]] Stamp stamp() const noexcept { return frameAt(front_).stamp; }

    /// Moves to the next ready record. False if no ready record has a stamp below `limit`.
    bool next(Stamp limit) noexcept {
        const std::uint32_t footprint = frameAt(front_).footprint();
        if (isInPlace_) {
            readBytes_ += footprint;
            ++readCount_;
            if (readCount_ == visible()) {
                return false;
            }
            front_ = lane_->at(readBytes_);
        } else {
            stagedAt_ += footprint;
            --stagedCount_;
            if (stagedCount_ == 0) {
                return false;
            }
            front_ += footprint;
        }
        return stamp() < limit;
    }

    /// Gives the room of the emitted records back.
    void close() noexcept {
        if (isInPlace_) {
            lane_->endInPlace(readBytes_, readCount_);
        }
        lane_->tellRoom();
    }

    /// Destroys the copies that were not emitted.
    void dropStaged() noexcept {
        for (; stagedCount_ != 0; --stagedCount_) {
            const std::byte* const record = stagedFront();
            freeBlockOf(record, lane_->limits().headSize);
            stagedAt_ += frameAt(record).footprint();
        }
    }

private:
    [[nodiscard]] std::uint64_t visible() const noexcept { return word_ >> 1U; }

    bool openInPlace(EvictionGuard guard, Stamp limit) noexcept {
        readBytes_ = lane_->releasedBytes();
        readCount_ = lane_->releasedCount();
        front_ = lane_->at(readBytes_);
        const bool isReady = readCount_ < visible() && stamp() < limit;
        if (isReady) {
            lane_->beginInPlace(std::move(guard));
        }
        return isReady;
    }

    [[nodiscard]] const std::byte* stagedFront() const noexcept {
        return reinterpret_cast<const std::byte*>(staged_.data()) + stagedAt_;
    }

    /// Copies records with stamps below `limit` out of the lane, up to `max` with the earlier
    /// copies.
    void stage(const EvictionGuard& guard, Stamp limit, std::size_t max) {
        // The owner may have evicted all records that the look saw, and more.
        std::uint64_t count = lane_->releasedCount();
        const std::uint64_t begin = lane_->releasedBytes();
        std::uint64_t end = begin;
        std::size_t total = stagedCount_;
        for (; count < visible() && total < max; ++count, ++total) {
            const RecordFrame& frame = frameAt(lane_->at(end));
            if (!(frame.stamp < limit)) {
                break;
            }
            end += frame.footprint();
        }
        if (end == begin) {
            return;
        }
        makeStageRoom(static_cast<std::size_t>(end - begin));
        auto* const bytes = reinterpret_cast<std::byte*>(staged_.data());
        for (std::uint64_t at = begin; at != end;) {
            const std::byte* const record = lane_->at(at);
            const std::uint32_t footprint = frameAt(record).footprint();
            std::memcpy(bytes + stagedEnd_, record, footprint);
            stagedEnd_ += footprint;
            at += footprint;
        }
        stagedCount_ = total;
        lane_->release(guard, end, count);
    }

    void makeStageRoom(std::size_t bytes) {
        const std::size_t rest = stagedEnd_ - stagedAt_;
        if (rest != 0) {
            auto* const data = reinterpret_cast<std::byte*>(staged_.data());
            std::memmove(data, data + stagedAt_, rest);
        }
        stagedAt_ = 0;
        stagedEnd_ = rest;
        const std::size_t words = (rest + bytes) / sizeof(std::uint64_t);
        if (staged_.size() < words) {
            staged_.resize(words);
        }
    }

    RecordLane* lane_;
    std::uint64_t word_ = 0;  ///< the lane's word at the last look
    Stamp bound_ = 0;         ///< result of the last look()
    bool isStalled_ = false;

    bool isInPlace_ = true;             ///< whether the records are read in the lane; false: copies
    const std::byte* front_ = nullptr;  ///< the next record
    std::uint64_t readBytes_ = 0;       ///< position of the next record in the lane
    std::uint64_t readCount_ = 0;       ///< number of records before that position

    std::vector<std::uint64_t> staged_;  ///< copies of records that the owner may evict
    std::size_t stagedAt_ = 0;           ///< offset of the next copy, in bytes
    std::size_t stagedEnd_ = 0;          ///< end of the copies, in bytes
    std::size_t stagedCount_ = 0;        ///< copies that have not been emitted
};

}  // namespace sluice::log::detail
