#pragma once

#include <sluice/log/detail/lanes/lane.hpp>
#include <sluice/log/detail/lanes/record.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace sluice::log::detail {

/// What the back end knows of one lane.
///
/// Reads a lane, and says below which key nothing more will come from it.
///
/// Records are used where they lie, unless their owner may evict them: then they are copied first,
/// and their room is given back at once. What front() returned stays valid until close().
///
/// One thread at a time. open() allocates when records have to be copied. Tests: those of Lane.
template <class Traits>
class LaneReader {
    using Lane = detail::Lane<Traits>;

public:
    explicit LaneReader(Lane& lane) noexcept : lane_(&lane) {}

    [[nodiscard]] Lane& lane() const noexcept { return *lane_; }

    /// Looks at the lane's word; `now` was read before, `before` was `now` of the look before it.
    /// Returns the bound: whatever this lane publishes after this look has a key of at least that.
    Key look(Key now, Key before) noexcept {
        const std::uint64_t word = lane_->look();
        const bool isAnnounced = (word & Lane::announced) != 0;
        isStalled_ = isAnnounced && word == word_;
        if (!isAnnounced) {
            bound_ = now;  // who announces from now on reads the clock from now on
        } else if (!isStalled_) {
            bound_ = before;  // this call was not yet announced at the look before
        }
        word_ = word;
        return bound_;
    }

    /// Whether the last look saw a record announced.
    [[nodiscard]] bool isAnnounced() const noexcept { return (word_ & Lane::announced) != 0; }
    /// Whether the last two looks saw the same one announced.
    [[nodiscard]] bool isStalled() const noexcept { return isStalled_; }
    /// Whether something has happened in the lane since the last look.
    [[nodiscard]] bool hasChanged() const noexcept { return lane_->look() != word_; }

    /// Whether a record that the last look saw has not been used yet.
    [[nodiscard]] bool hasRecords() const noexcept {
        return stagedCount_ != 0 || visible() > lane_->releasedCount();
    }

    /// The key of the oldest of them; endOfTime if there is none.
    [[nodiscard]] Key nextKey() const noexcept {
        if (stagedCount_ != 0) {
            return headerAt(stagedFront()).key;
        }
        if (visible() <= lane_->releasedCount()) {
            return endOfTime;
        }
        // Looks again: the owner may have evicted it meanwhile.
        (void)lane_->claim(LaneClaim::copying);
        const Key key = visible() > lane_->releasedCount()
                            ? headerAt(lane_->at(lane_->releasedBytes())).key
                            : endOfTime;
        lane_->reclaim(LaneClaim::none);
        return key;
    }

    /// Makes records with keys below `limit` ready, if there are any, at least `max` if there are
    /// so many. With `copies` they are copied. When it returns true, close() must follow.
    bool open(Key limit, std::size_t max, bool copies) {
        if (!hasRecords()) {
            return false;
        }
        (void)lane_->claim(LaneClaim::copying);
        isInPlace_ = stagedCount_ == 0 && !copies && !lane_->mayEvict();
        if (isInPlace_) {
            return openInPlace(limit);
        }
        const Unclaim unclaim{*lane_};
        stage(limit, max);
        front_ = stagedFront();
        return stagedCount_ != 0 && headerAt(front_).key < limit;
    }

    /// The record that is next.
    [[nodiscard]] const std::byte* front() const noexcept { return front_; }
    [[nodiscard]] Key key() const noexcept { return headerAt(front_).key; }

    /// On to the next one; false when none is ready with a key below `limit`.
    bool next(Key limit) noexcept {
        const std::uint32_t footprint = headerAt(front_).footprint();
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
        return key() < limit;
    }

    /// What was passed by next() is no longer used.
    void close() noexcept {
        if (isInPlace_) {
            lane_->release(readBytes_, readCount_);
            lane_->reclaim(LaneClaim::none);
        }
        lane_->tellRoom();
    }

    /// Destroys the copied records that were not used.
    void dropStaged() noexcept {
        for (; stagedCount_ != 0; --stagedCount_) {
            const std::byte* const record = stagedFront();
            if (headerAt(record).isLarge()) {
                LargePayload::free(largePayloadAt(record, lane_->limits().headSize));
            }
            stagedAt_ += headerAt(record).footprint();
        }
    }

private:
    struct Unclaim {
        Lane& lane;
        ~Unclaim() { lane.reclaim(LaneClaim::none); }
    };

    [[nodiscard]] std::uint64_t visible() const noexcept { return word_ >> 1U; }

    bool openInPlace(Key limit) noexcept {
        readBytes_ = lane_->releasedBytes();
        readCount_ = lane_->releasedCount();
        front_ = lane_->at(readBytes_);
        const bool ready = readCount_ < visible() && key() < limit;
        lane_->reclaim(ready ? LaneClaim::inPlace : LaneClaim::none);
        return ready;
    }

    [[nodiscard]] const std::byte* stagedFront() const noexcept {
        return reinterpret_cast<const std::byte*>(staged_.data()) + stagedAt_;
    }

    /// Copies records with keys below `limit` out of the lane until `max` are there. Under the
    /// claim.
    void stage(Key limit, std::size_t max) {
        // More may have been evicted since the look than was visible then.
        std::uint64_t count = lane_->releasedCount();
        const std::uint64_t begin = lane_->releasedBytes();
        std::uint64_t end = begin;
        std::size_t total = stagedCount_;
        for (; count < visible() && total < max; ++count, ++total) {
            const RecordHeader& header = headerAt(lane_->at(end));
            if (!(header.key < limit)) {
                break;
            }
            end += header.footprint();
        }
        if (end == begin) {
            return;
        }
        makeStageRoom(static_cast<std::size_t>(end - begin));
        auto* const bytes = reinterpret_cast<std::byte*>(staged_.data());
        for (std::uint64_t at = begin; at != end;) {
            const std::byte* const record = lane_->at(at);
            const std::uint32_t footprint = headerAt(record).footprint();
            std::memcpy(bytes + stagedEnd_, record, footprint);
            stagedEnd_ += footprint;
            at += footprint;
        }
        stagedCount_ = total;
        lane_->release(end, count);
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

    Lane* lane_;
    std::uint64_t word_ = 0;  // at the last look
    Key bound_ = 0;
    bool isStalled_ = false;

    bool isInPlace_ = true;
    const std::byte* front_ = nullptr;
    std::uint64_t readBytes_ = 0;
    std::uint64_t readCount_ = 0;

    // Copies, for lanes whose owner evicts.
    std::vector<std::uint64_t> staged_;
    std::size_t stagedAt_ = 0;
    std::size_t stagedEnd_ = 0;
    std::size_t stagedCount_ = 0;
};

}  // namespace sluice::log::detail
