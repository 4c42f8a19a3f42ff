#pragma once

#include <sluice/base/counter.hpp>
#include <sluice/base/on_exit.hpp>
#include <sluice/log/detail/lanes/lane.hpp>
#include <sluice/log/detail/lanes/lane_registry.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <utility>
#include <vector>

namespace sluice::log::detail {

/// The back end's read cursor in one lane, for one thread at a time.
///
/// poll() returns a lower bound of the stamps that the lane will publish later (proof:
/// docs/algorithms/ordered-log.md). open() makes records ready, and close() frees the space of the
/// records. If the lane's owner may evict records, open() copies them and frees their space.
template <class Traits>
class LaneReader {
    using RecordLane = detail::RecordLane<Traits>;
    using EvictionGuard = typename RecordLane::EvictionGuard;

public:
    explicit LaneReader(RecordLane& lane) noexcept : lane_(&lane) {}

    [[nodiscard]] RecordLane& lane() const noexcept { return *lane_; }

    /// `now` and `before` are the clock readings of this poll and the previous poll.
    Stamp poll(Stamp now, Stamp before) noexcept {
        const std::uint64_t word = lane_->word();
        const bool isAnnounced = (word & RecordLane::announced) != 0;
        isStalled_ = isAnnounced && word == word_;
        if (!isAnnounced) {
            bound_ = now;
        } else if (!isStalled_) {
            bound_ = before;
        }
        word_ = word;
        return bound_;
    }

    /// Returns true if the last poll saw an announced record.
    [[nodiscard]] bool isAnnounced() const noexcept { return (word_ & RecordLane::announced) != 0; }
    /// Returns true if the last two polls saw the same announced record.
    [[nodiscard]] bool isStalled() const noexcept { return isStalled_; }
    /// Returns true if the owner has announced or published a record since the last poll.
    [[nodiscard]] bool hasChanged() const noexcept { return lane_->word() != word_; }

    /// Returns true if a record that the last poll saw has not been emitted yet.
    [[nodiscard]] bool hasRecords() const noexcept {
        return stagedCount_ != 0 || visible() > lane_->releasedCount();
    }

    /// Makes records with stamps below `limit` ready for front(). If any is ready, returns true,
    /// and close() must be called. Set `copies` if the owner may evict records. With `copies`,
    /// open() copies at most `max` records, and may allocate.
    bool open(Stamp limit, std::size_t max, bool copies) {
        if (!hasRecords()) {
            return false;
        }
        EvictionGuard guard = lane_->lockEviction();
        isInPlace_ = stagedCount_ == 0 && !copies;
        if (isInPlace_) {
            return openInPlace(std::move(guard), limit);
        }
        stage(guard, limit, max);
        front_ = staged_.data() + stagedAt_;
        return stagedCount_ != 0 && frameAt(front_).stamp < limit;
    }

    /// The next ready record, valid until close().
    [[nodiscard]] const std::byte* front() const noexcept { return front_; }
    [[nodiscard]] Stamp stamp() const noexcept { return frameAt(front_).stamp; }

    /// Moves to the next ready record. Returns false if no ready record has a stamp below `limit`.
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

    void close() noexcept {
        if (isInPlace_) {
            lane_->endInPlace(readBytes_, readCount_);
        }
        lane_->notifyOfRoom();
    }

    void dropStaged() noexcept {
        for (; stagedCount_ != 0; --stagedCount_) {
            const std::byte* const record = staged_.data() + stagedAt_;
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

    /// Copies records with stamps below `limit` to staged_, until staged_ holds `max` records.
    void stage(const EvictionGuard& guard, Stamp limit, std::size_t max) {
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
        staged_.erase(staged_.begin(), staged_.begin() + static_cast<std::ptrdiff_t>(stagedAt_));
        stagedAt_ = 0;
        staged_.reserve(staged_.size() + static_cast<std::size_t>(end - begin));
        for (std::uint64_t at = begin; at != end;) {
            const std::byte* const record = lane_->at(at);
            const std::uint32_t footprint = frameAt(record).footprint();
            staged_.insert(staged_.end(), record, record + footprint);
            at += footprint;
        }
        stagedCount_ = total;
        lane_->release(guard, end, count);
    }

    RecordLane* lane_;
    std::uint64_t word_ = 0;  ///< the lane's word() at the last poll()
    Stamp bound_ = 0;         ///< result of the last poll()
    bool isStalled_ = false;

    bool isInPlace_ = true;             ///< true: reads records in the lane; false: in staged_
    const std::byte* front_ = nullptr;  ///< the next record
    std::uint64_t readBytes_ = 0;       ///< position of the next record in the lane
    std::uint64_t readCount_ = 0;       ///< number of records before readBytes_

    std::vector<std::byte> staged_;  ///< copies of records that the owner may evict
    std::size_t stagedAt_ = 0;       ///< offset in staged_ of the next copy, in bytes
    std::size_t stagedCount_ = 0;    ///< copies in staged_ that have not been emitted
};

/// Emits the records of all lanes in stamp order, on the back end's thread.
///
/// Thread safety: one thread at a time, except that any thread may call marks().
/// Performance: poll() visits each lane, and allocates if lanes were added since the last poll().
template <class Head, class Traits>
class RecordOrder {
    using Platform = typename Traits::Platform;
    using Registry = LaneRegistry<Traits>;
    using Slot = typename Registry::Slot;
    using Reader = LaneReader<Traits>;
    using Marks = LaneHighWater<Platform>;

public:
    using Record = detail::Record<Head>;

    static constexpr std::size_t payloadAt = sizeof(RecordFrame) + roundUpTo8(sizeof(Head));

    static const Head& headOf(const std::byte* record) noexcept {
        return *std::launder(reinterpret_cast<const Head*>(record + sizeof(RecordFrame)));
    }

    explicit RecordOrder(Registry& registry) noexcept : registry_(registry) {}
    ~RecordOrder() {
        for (Reader& reader : lanes_) {
            reader.dropStaged();
        }
    }

    /// Polls each lane. Returns the watermark: all records with smaller stamps can be emitted. If
    /// the processor's counter restarts, the watermark is endOfTime until all posts that began
    /// before the restart have ended.
    Stamp poll() {
        freeLeft();
        const Stamp now = Traits::Clock::nowThenLoad();
        // Read the clock twice: the first read may be reordered before the previous poll's loads.
        hasRestarted_ =
            (now < before_ && Traits::Clock::now() < before_) || (hasRestarted_ && anyAnnounced_);
        adoptNewLanes();
        Stamp low = now;
        anyAnnounced_ = false;
        anyStalled_ = false;
        for (Reader& reader : lanes_) {
            const bool wasStalled = reader.isStalled();
            low = std::min(low, reader.poll(now, before_));
            anyAnnounced_ = anyAnnounced_ || reader.isAnnounced();
            anyStalled_ = anyStalled_ || reader.isStalled();
            note(reader, !wasStalled && reader.isStalled());
        }
        before_ = now;
        if (SLUICE_UNLIKELY(hasRestarted_)) {
            watermark_ = endOfTime;
        } else {
            watermark_ = watermark_ == endOfTime ? low : std::max(watermark_, low);
        }
        return watermark_;
    }

    /// Implements RecordQueue::emitBefore(). With `copies`, emits copies of the records, so that
    /// posts can evict records from the lanes during the call. emit() and finish() must not throw.
    template <class Emit, class Finish>
    std::size_t emitBefore(Stamp limit, std::size_t max, bool copies, Emit& emit, Finish& finish) {
        limit = std::min(limit, watermark_);
        const sluice::detail::OnExit atEnd{[this] { closeLanes(); }};
        openLanes(limit, max, copies);
        std::size_t count = 0;
        while (count < max && !merge_.empty()) {
            std::pop_heap(merge_.begin(), merge_.end(), std::greater<>());
            auto& [stamp, reader] = merge_.back();
            const Stamp others = merge_.size() == 1 ? endOfTime : merge_.front().first;
            bool isReady = true;
            do {
                emitOne(reader->front(), emit);
                isReady = reader->next(limit);
                ++count;
            } while (isReady && count < max && reader->stamp() < others);
            if (isReady) {
                stamp = reader->stamp();
                std::push_heap(merge_.begin(), merge_.end(), std::greater<>());
            } else {
                merge_.pop_back();
            }
        }
        finish();
        return count;
    }

    /// Returns true if the last poll saw an announced record. If a poll after RecordQueue::close()
    /// sees no announced record, no further record will arrive.
    [[nodiscard]] bool anyAnnounced() const noexcept { return anyAnnounced_; }

    /// Returns true if the last two polls saw the same unfinished post, which delays the watermark.
    [[nodiscard]] bool isStalled() const noexcept { return anyStalled_; }

    /// Returns true if a lane has changed or was added since the last poll.
    [[nodiscard]] bool hasChanged() const noexcept {
        return registry_.version() != version_ ||
               any([](const Reader& reader) { return reader.hasChanged(); });
    }

    [[nodiscard]] bool hasRecords() const noexcept {
        return any([](const Reader& reader) { return reader.hasRecords(); });
    }

    // ---- Any thread

    [[nodiscard]] const Marks& marks() const noexcept { return marks_; }

private:
    template <class Predicate>
    bool any(Predicate holds) const noexcept {
        return std::any_of(lanes_.begin(), lanes_.end(), holds);
    }

    // ---- The watermark

    void note(const Reader& reader, bool isNewStall) noexcept {
        if (reader.hasRecords()) {
            const Occupancy found = reader.lane().occupancy();
            marks_.note(found);
            reader.lane().marks().note(found);
        }
        if (SLUICE_UNLIKELY(isNewStall)) {
            marks_.noteStall();
            reader.lane().marks().noteStall();
        }
    }

    void adoptNewLanes() {
        if (registry_.version() == version_) {
            return;
        }
        // Allocates before visitNew(), because visitNew() runs its callback under a spin lock.
        lanes_.reserve(2 * registry_.laneCount() + 8);
        version_ = registry_.visitNew([this](Slot& slot) { lanes_.emplace_back(slot); });
    }

    void freeLeft() {
        for (std::size_t i = 0; registry_.leavers() != 0 && i < lanes_.size();) {
            Reader& reader = lanes_[i];
            if (reader.lane().hasLeft() && !reader.hasChanged() && !reader.isAnnounced() &&
                !reader.hasRecords()) {
                auto& slot = static_cast<Slot&>(reader.lane());
                registry_.remove(slot);
                std::swap(reader, lanes_.back());
                lanes_.pop_back();
            } else {
                ++i;
            }
        }
    }

    // ---- The merge

    void openLanes(Stamp limit, std::size_t max, bool copies) {
        // Allocates before any lane is opened, because std::bad_alloc must not leave lanes open.
        merge_.clear();
        merge_.reserve(lanes_.size());
        open_.reserve(lanes_.size());
        for (Reader& reader : lanes_) {
            if (reader.open(limit, max, copies)) {
                open_.push_back(&reader);
                merge_.emplace_back(reader.stamp(), &reader);
                std::push_heap(merge_.begin(), merge_.end(), std::greater<>());
            }
        }
    }

    void closeLanes() noexcept {
        for (Reader* const reader : open_) {
            reader->close();
        }
        open_.clear();
        while (LargePayload* const payload = used_) {
            used_ = payload->next;
            LargePayload::free(payload);
        }
    }

    template <class Emit>
    void emitOne(const std::byte* record, Emit& emit) noexcept {
        const RecordFrame& frame = frameAt(record);
        const std::byte* payload = record + payloadAt;
        std::size_t size = frame.payloadSize;
        if (SLUICE_UNLIKELY(frame.isLarge())) {
            LargePayload* const block = largePayloadAt(record, sizeof(Head));
            payload = block->bytes();
            size = block->size;
            block->next = std::exchange(used_, block);
        }
        emit(Record{frame.stamp, headOf(record), payload, size});
    }

    Registry& registry_;
    std::vector<Reader> lanes_;
    std::uint64_t version_ = 0;  ///< the registry's version at the last adoptNewLanes()
    Stamp before_ = 0;           ///< clock reading of the last poll
    Stamp watermark_ = 0;        ///< result of the last poll
    bool hasRestarted_ = false;  ///< the clock restarted; a post from before the restart may run
    bool anyAnnounced_ = false;  ///< see anyAnnounced()
    bool anyStalled_ = false;    ///< see isStalled()
    Marks marks_;

    /// A min-heap of the readers with ready records, by the stamp of each reader's next record.
    std::vector<std::pair<Stamp, Reader*>> merge_;
    std::vector<Reader*> open_;     ///< readers between open() and close()
    LargePayload* used_ = nullptr;  ///< list of payloads that closeLanes() will free
};

}  // namespace sluice::log::detail
