#pragma once

/// \file
/// The layout of a record in a lane.

#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace sluice::log::detail {

/// The thread whose records a lane carries.
struct ThreadInfo {
    std::uint64_t threadId = 0;  ///< the system's number of the thread
    char threadName[16] = {};    ///< name of the thread at its first record
};

/// The first part of a record. These parts follow it, each at a multiple of 8:
///
/// - the user's head;
/// - ThreadInfo, if the record is in the shared lane;
/// - the payload, or the address of its block.
struct RecordFrame {
    static constexpr std::uint32_t large = 1;  ///< the payload is in a block of its own
    /// The record is in the shared lane, so it has a ThreadInfo.
    static constexpr std::uint32_t foreign = 2;
    static constexpr std::uint32_t flags = 7;

    Stamp stamp;
    std::uint32_t payloadSize;  ///< 0 if the payload has a block of its own
    /// Bytes of the record, a multiple of 8; the flags are in the low bits.
    std::uint32_t footprintAndFlags;

    [[nodiscard]] std::uint32_t footprint() const noexcept { return footprintAndFlags & ~flags; }
    [[nodiscard]] bool isLarge() const noexcept { return (footprintAndFlags & large) != 0; }
    [[nodiscard]] bool isForeign() const noexcept { return (footprintAndFlags & foreign) != 0; }
};

/// The block of a payload that is larger than a lane. The payload follows this header.
struct alignas(8) LargePayload {
    std::size_t size;
    LargePayload* next = nullptr;  ///< the next block that the back end will free

    /// Returns a block for `size` bytes. Null if there is no memory.
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

/// A record in the form that emit() gets. Its pointers are valid until emitBefore() returns.
template <class Head>
struct Record {
    Stamp stamp;
    const Head& head;
    const std::byte* payload;  ///< at a multiple of 8
    std::size_t size;
    const ThreadInfo& lane;  ///< the thread that posted it
};

constexpr std::size_t roundUpTo8(std::size_t size) noexcept {
    return (size + 7) & ~std::size_t{7};
}

inline const RecordFrame& frameAt(const std::byte* record) noexcept {
    return *std::launder(reinterpret_cast<const RecordFrame*>(record));
}

/// Returns the block of a large record. `headSize` is the size of the user's head.
inline LargePayload* largePayloadAt(const std::byte* record, std::size_t headSize) noexcept {
    const std::size_t info = frameAt(record).isForeign() ? sizeof(ThreadInfo) : 0;
    return *std::launder(reinterpret_cast<LargePayload* const*>(record + sizeof(RecordFrame) +
                                                                roundUpTo8(headSize) + info));
}

/// Frees the block of a record, if the record has one.
inline void freeBlockOf(const std::byte* record, std::size_t headSize) noexcept {
    if (frameAt(record).isLarge()) {
        LargePayload::free(largePayloadAt(record, headSize));
    }
}

}  // namespace sluice::log::detail
