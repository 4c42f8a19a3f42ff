#pragma once

#include <sluice/log/detail/lanes/lane_registry.hpp>
#include <sluice/log/detail/lanes/quiet_thread.hpp>
#include <sluice/log/detail/lanes/record.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace sluice::log::detail {

/// Puts a record into a lane.
///
/// Writes records with heads of this type, for whoever has entered the lane. Nothing waits here.
/// Tests: those of Intake.
template <class Head, class Traits>
class RecordWriter {
    using Registry = LaneRegistry<Traits>;
    using Lane = typename Registry::Lane;

public:
    enum class Outcome : unsigned char { ok, full, noMemory, closed };

    /// Where the payload, or the name of the thread, begins in a record.
    static constexpr std::size_t payloadAt = sizeof(RecordHeader) + roundUpTo8(sizeof(Head));

    /// What every record has room in.
    static constexpr std::size_t leastBytes = payloadAt + sizeof(LargePayload*);

    /// The room that a record of so many bytes takes in this lane.
    static Room roomFor(const Lane& lane, std::uint32_t flags, std::size_t bytes) noexcept {
        const std::size_t info = (flags & RecordHeader::foreign) != 0 ? sizeof(LaneInfo) : 0;
        const std::size_t most = lane.limits().bytes;
        const std::size_t footprint = payloadAt + info + roundUpTo8(bytes);
        // No object is so large that the sum overflows.
        if (__builtin_expect(footprint > most, 0)) {
            return {payloadAt + info + sizeof(LargePayload*), true};
        }
        return {footprint, false};
    }

    /// Posts if there is room. `write` is called only then.
    template <class Write>
    static Outcome tryPost(Registry& registry, Lane& lane, std::uint32_t flags, const Head& head,
                           std::size_t bytes, Write& write) {
        const Room room = roomFor(lane, flags, bytes);
        if (__builtin_expect(room.isLarge, 0)) {
            return tryPostLarge(registry, lane, flags, head, bytes, write);
        }
        std::byte* const place = lane.place(room.footprint);
        if (__builtin_expect(place == nullptr, 0)) {
            return Outcome::full;
        }
        write(fill(place, head, bytes, room.footprint, flags));
        return publish(registry, lane, place);
    }

private:
    /// The same with a block for the payload.
    template <class Write>
    [[gnu::cold, gnu::noinline]] static Outcome tryPostLarge(Registry& registry, Lane& lane,
                                                             std::uint32_t flags, const Head& head,
                                                             std::size_t bytes, Write& write) {
        const Room room = roomFor(lane, flags, bytes);
        std::byte* const place = lane.place(room);
        if (place == nullptr) {
            return Outcome::full;
        }
        LargePayload* const payload = QuietThread::isQuiet() ? nullptr : LargePayload::make(bytes);
        if (payload == nullptr) {
            return Outcome::noMemory;
        }
        write(payload->bytes());
        flags |= RecordHeader::large;
        ::new (fill(place, head, 0, room.footprint, flags)) LargePayload*(payload);
        const Outcome outcome = publish(registry, lane, place);
        if (outcome == Outcome::ok) {
            lane.notePublishedLarge();
        } else {
            LargePayload::free(payload);
        }
        return outcome;
    }

    /// Writes all but the key and the payload; returns where that belongs.
    static std::byte* fill(std::byte* place, const Head& head, std::size_t payloadSize,
                           std::size_t footprint, std::uint32_t flags) noexcept {
        ::new (place) RecordHeader{0, static_cast<std::uint32_t>(payloadSize),
                                   static_cast<std::uint32_t>(footprint) | flags};
        ::new (place + sizeof(RecordHeader)) Head(head);
        if ((flags & RecordHeader::foreign) == 0) {
            return place + payloadAt;
        }
        ::new (place + payloadAt) LaneInfo(thisThread());
        return place + payloadAt + sizeof(LaneInfo);
    }

    static Outcome publish(Registry& registry, Lane& lane, std::byte* place) noexcept {
        const Key key = lane.publish(place, registry.closed());
        if (__builtin_expect(key == endOfTime, 0)) {
            return takenBack(registry);
        }
        announce(registry);
        Traits::Clock::letPass(key);
        return Outcome::ok;
    }

    /// The back end may have seen the announcement, and wait for the record.
    [[gnu::cold, gnu::noinline]] static Outcome takenBack(Registry& registry) noexcept {
        announce(registry);
        return Outcome::closed;
    }

    /// Apart, so that a log call stays short enough to be compiled into its caller.
    [[gnu::noinline]] static void announce(Registry& registry) noexcept {
        registry.events().notifyAll();
    }
};

}  // namespace sluice::log::detail
