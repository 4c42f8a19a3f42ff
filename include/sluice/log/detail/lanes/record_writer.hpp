#pragma once

#include <sluice/log/detail/lanes/lane_registry.hpp>
#include <sluice/log/detail/lanes/record.hpp>
#include <sluice/log/detail/lanes/signal_safe_scope.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace sluice::log::detail {

/// Writes records into lanes.
///
/// The calling thread has entered the lane with RecordLane::enter(). No member waits. Tests: those
/// of RecordQueue.
template <class Head, class Traits>
class RecordWriter {
    using Registry = LaneRegistry<Traits>;
    using RecordLane = typename Registry::RecordLane;

public:
    /// The result of one attempt.
    enum class WriteResult : unsigned char { ok, full, noMemory, closed };

    /// The offset of the payload in a record. In the shared lane, the offset of ThreadInfo.
    static constexpr std::size_t payloadAt = sizeof(RecordFrame) + roundUpTo8(sizeof(Head));

    /// The bytes of the smallest lane: each record must fit, at least with its payload in a block
    /// of its own.
    static constexpr std::size_t leastBytes = payloadAt + roundUpTo8(sizeof(LargePayload*));

    /// Returns the bytes that a record with a payload of `bytes` bytes takes in this lane.
    static RecordSize sizeIn(const RecordLane& lane, std::uint32_t flags,
                             std::size_t bytes) noexcept {
        const std::size_t info = (flags & RecordFrame::foreign) != 0 ? sizeof(ThreadInfo) : 0;
        const std::size_t most = lane.limits().bytes;
        const std::size_t footprint = payloadAt + info + roundUpTo8(bytes);
        // The sum does not overflow, because no object is so large.
        if (__builtin_expect(footprint > most, 0)) {
            return {info + leastBytes, true};
        }
        return {footprint, false};
    }

    /// Posts the record if there is room. It calls write() only then.
    template <class Write>
    static WriteResult tryPost(Registry& registry, RecordLane& lane, std::uint32_t flags,
                               const Head& head, std::size_t bytes, Write& write) {
        const RecordSize size = sizeIn(lane, flags, bytes);
        if (__builtin_expect(size.isLarge, 0)) {
            return tryPostLarge(registry, lane, flags, head, bytes, write);
        }
        std::byte* const record = lane.reserve(size.footprint);
        if (__builtin_expect(record == nullptr, 0)) {
            return WriteResult::full;
        }
        write(fill(record, head, bytes, size.footprint, flags));
        return publish(registry, lane, record);
    }

private:
    /// The same for a payload in a block of its own.
    template <class Write>
    [[gnu::cold, gnu::noinline]] static WriteResult
    tryPostLarge(Registry& registry, RecordLane& lane, std::uint32_t flags, const Head& head,
                 std::size_t bytes, Write& write) {
        const RecordSize size = sizeIn(lane, flags, bytes);
        std::byte* const record = lane.reserve(size);
        if (record == nullptr) {
            return WriteResult::full;
        }
        LargePayload* const payload =
            SignalSafeScope::isActive() ? nullptr : LargePayload::make(bytes);
        if (payload == nullptr) {
            return WriteResult::noMemory;
        }
        write(payload->bytes());
        flags |= RecordFrame::large;
        ::new (fill(record, head, 0, size.footprint, flags)) LargePayload*(payload);
        const WriteResult result = publish(registry, lane, record);
        if (result == WriteResult::ok) {
            lane.notePublishedLarge();
        } else {
            LargePayload::free(payload);
        }
        return result;
    }

    /// Writes the whole record, except the stamp and the payload. Returns the address for the
    /// payload.
    static std::byte* fill(std::byte* record, const Head& head, std::size_t payloadSize,
                           std::size_t footprint, std::uint32_t flags) noexcept {
        ::new (record) RecordFrame{0, static_cast<std::uint32_t>(payloadSize),
                                   static_cast<std::uint32_t>(footprint) | flags};
        ::new (record + sizeof(RecordFrame)) Head(head);
        if ((flags & RecordFrame::foreign) == 0) {
            return record + payloadAt;
        }
        ::new (record + payloadAt) ThreadInfo(thisThread());
        return record + payloadAt + sizeof(ThreadInfo);
    }

    static WriteResult publish(Registry& registry, RecordLane& lane, std::byte* record) noexcept {
        const Stamp stamp = lane.publish(record, registry.closed());
        if (__builtin_expect(stamp == endOfTime, 0)) {
            return refuse(registry);
        }
        announce(registry);
        Traits::Clock::waitUntilPast(stamp);
        return WriteResult::ok;
    }

    /// Called if the queue was closed. The back end may have seen the announcement and may be
    /// waiting for the record, so this wakes it.
    [[gnu::cold, gnu::noinline]] static WriteResult refuse(Registry& registry) noexcept {
        announce(registry);
        return WriteResult::closed;
    }

    /// Wakes the back end if it sleeps. Out of line, so that a log call is short enough to be
    /// inlined into its caller.
    [[gnu::noinline]] static void announce(Registry& registry) noexcept { registry.tellOfChange(); }
};

}  // namespace sluice::log::detail
