#pragma once

/// \file
/// How a record lies in a lane.

#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace sluice::log::detail {

/// Whose records a lane carries.
struct LaneInfo {
    std::uint64_t threadId = 0;  ///< as the system numbers it
    char threadName[16] = {};    ///< what it was called at its first record
};

/// What is known of every record. Behind it lie, each at the next multiple of 8: the head of the
/// user; LaneInfo, if the record is of another thread than its lane; the payload, or where it is.
struct RecordHeader {
    static constexpr std::uint32_t large = 1;    ///< the payload is in a block of its own
    static constexpr std::uint32_t foreign = 2;  ///< the record names its thread
    static constexpr std::uint32_t flags = 7;

    Key key;
    std::uint32_t payloadSize;  // 0 when it is large
    std::uint32_t footprintAndFlags;

    [[nodiscard]] std::uint32_t footprint() const noexcept { return footprintAndFlags & ~flags; }
    [[nodiscard]] bool isLarge() const noexcept { return (footprintAndFlags & large) != 0; }
    [[nodiscard]] bool isForeign() const noexcept { return (footprintAndFlags & foreign) != 0; }
};

/// A payload that is larger than a lane; it lies behind this.
struct alignas(8) LargePayload {
    std::size_t size;
    LargePayload* next = nullptr;  // of those that are to be freed

    /// Null when there is no memory for it.
    static LargePayload* make(std::size_t size) noexcept {
        if (size > static_cast<std::size_t>(-1) / 2) {
            return nullptr;
        }
        void* const place = ::operator new(sizeof(LargePayload) + size, std::nothrow);
        return place == nullptr ? nullptr : ::new (place) LargePayload{size};
    }
    static void free(LargePayload* payload) noexcept { ::operator delete(payload); }

    std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

/// A record on its way out. What it points to is valid until emitBefore() returns.
template <class Head>
struct Record {
    Key key;
    const Head& head;
    const std::byte* payload;  ///< at a multiple of 8
    std::size_t size;
    const LaneInfo& lane;  ///< the thread that posted it
};

constexpr std::size_t roundUpTo8(std::size_t size) noexcept {
    return (size + 7) & ~std::size_t{7};
}

inline const RecordHeader& headerAt(const std::byte* place) noexcept {
    return *std::launder(reinterpret_cast<const RecordHeader*>(place));
}

/// The large payload of the record that lies here, `headSize` being that of the user's head.
inline LargePayload* largePayloadAt(const std::byte* place, std::size_t headSize) noexcept {
    const std::size_t info = headerAt(place).isForeign() ? sizeof(LaneInfo) : 0;
    return *std::launder(reinterpret_cast<LargePayload* const*>(place + sizeof(RecordHeader) +
                                                                roundUpTo8(headSize) + info));
}

}  // namespace sluice::log::detail
