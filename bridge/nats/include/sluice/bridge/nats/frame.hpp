#pragma once

/// \file
/// The 48 bytes in front of each message that a NatsBridge sends. All numbers are little-endian.
///
/// Tests: bridge/nats/tests/frame_test.cpp.

#include <sluice/bus/priority.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::nats {

inline constexpr std::uint32_t frameMagic = 0x424E4C53;  // "SLNB"
inline constexpr std::uint8_t frameVersion = 1;
inline constexpr std::size_t frameSize = 48;

struct Frame {
    std::uint64_t schema = 0;    ///< what the sender takes the message's layout to be
    std::uint64_t origin = 0;    ///< the bus that the message was published to first
    std::uint64_t sequence = 0;  ///< counts from 1 for each origin, subject and priority
    std::uint64_t trace = 0;
    Priority priority = Priority::medium;
    std::uint8_t hops = 1;     ///< bridges that the message has passed
    std::uint32_t length = 0;  ///< bytes of the message behind the frame
};

enum class FrameError : std::uint8_t { none, tooShort, magic, version, priority, length, checksum };

[[nodiscard]] constexpr const char* toString(FrameError error) noexcept {
    constexpr const char* texts[] = {"ok",
                                     "shorter than a frame",
                                     "not a message of a bridge",
                                     "another version of the frame",
                                     "no such priority",
                                     "another length than the frame says",
                                     "wrong checksum"};
    return texts[static_cast<std::size_t>(error)];
}

namespace detail {

constexpr std::array<std::uint32_t, 256> makeCrcTable() noexcept {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
        }
        table[byte] = crc;
    }
    return table;
}
inline constexpr std::array<std::uint32_t, 256> crcTable = makeCrcTable();

template <class T>
void putLittle(unsigned char* to, T value) noexcept {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        to[i] = static_cast<unsigned char>(value >> (8 * i));
    }
}
template <class T>
T getLittle(const unsigned char* from) noexcept {
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        value = static_cast<T>(value | static_cast<T>(T{from[i]} << (8 * i)));
    }
    return value;
}

}  // namespace detail

/// CRC32C of `size` bytes, continued from `before`.
[[nodiscard]] inline std::uint32_t crc32c(const unsigned char* bytes, std::size_t size,
                                          std::uint32_t before = 0) noexcept {
    std::uint32_t crc = ~before;
    for (std::size_t i = 0; i < size; ++i) {
        crc = (crc >> 8) ^ detail::crcTable[(crc ^ bytes[i]) & 0xFF];
    }
    return ~crc;
}

/// Writes the frame before its body: `bytes` holds frameSize bytes, then frame.length of the body.
inline void encodeFrame(const Frame& frame, unsigned char* bytes) noexcept {
    detail::putLittle(bytes, frameMagic);
    bytes[4] = frameVersion;
    bytes[5] = static_cast<unsigned char>(frame.priority);
    bytes[6] = frame.hops;
    bytes[7] = 0;
    detail::putLittle(bytes + 8, frame.schema);
    detail::putLittle(bytes + 16, frame.origin);
    detail::putLittle(bytes + 24, frame.sequence);
    detail::putLittle(bytes + 32, frame.trace);
    detail::putLittle(bytes + 40, frame.length);
    // The checksum covers everything except itself.
    const std::uint32_t head = crc32c(bytes, 44);
    detail::putLittle(bytes + 44, crc32c(bytes + frameSize, frame.length, head));
}

/// Reads what encodeFrame() wrote, from `size` bytes that anybody may have sent.
[[nodiscard]] inline FrameError decodeFrame(const unsigned char* bytes, std::size_t size,
                                            Frame& frame) noexcept {
    if (size < frameSize) {
        return FrameError::tooShort;
    }
    if (detail::getLittle<std::uint32_t>(bytes) != frameMagic) {
        return FrameError::magic;
    }
    if (bytes[4] != frameVersion) {
        return FrameError::version;
    }
    if (bytes[5] >= priorityCount) {
        return FrameError::priority;
    }
    frame.priority = static_cast<Priority>(bytes[5]);
    frame.hops = bytes[6];
    frame.schema = detail::getLittle<std::uint64_t>(bytes + 8);
    frame.origin = detail::getLittle<std::uint64_t>(bytes + 16);
    frame.sequence = detail::getLittle<std::uint64_t>(bytes + 24);
    frame.trace = detail::getLittle<std::uint64_t>(bytes + 32);
    frame.length = detail::getLittle<std::uint32_t>(bytes + 40);
    if (frame.length != size - frameSize) {
        return FrameError::length;
    }
    const std::uint32_t crc = crc32c(bytes + frameSize, frame.length, crc32c(bytes, 44));
    return crc == detail::getLittle<std::uint32_t>(bytes + 44) ? FrameError::none
                                                               : FrameError::checksum;
}

}  // namespace sluice::nats
