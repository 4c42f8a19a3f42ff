#pragma once

#include <sluice/wire/detail/crc32c.hpp>

#include <cstddef>
#include <cstdint>

namespace sluice::wire {

/// The reason why decodeEnvelope() refuses the bytes. toString() returns a sentence for each.
enum class EnvelopeError : std::uint8_t {
    none,
    tooShort,
    wrongMagic,
    wrongVersion,
    wrongPriority,
    wrongLength,
    wrongChecksum
};

[[nodiscard]] constexpr const char* toString(EnvelopeError error) noexcept {
    switch (error) {
    case EnvelopeError::none:
        return "no error";
    case EnvelopeError::tooShort:
        return "fewer bytes than an envelope has";
    case EnvelopeError::wrongMagic:
        return "the bytes do not start with the magic number";
    case EnvelopeError::wrongVersion:
        return "unknown version of the envelope";
    case EnvelopeError::wrongPriority:
        return "unknown priority";
    case EnvelopeError::wrongLength:
        return "the length is not that of the payload";
    case EnvelopeError::wrongChecksum:
        return "the checksum does not match the bytes";
    }
    return "unknown error";
}

/// The header of a message between programs: its type, and the program that published it.
///
///     std::array<unsigned char, wire::envelopeSize + 100> bytes;
///     // ... write the payload at bytes.data() + wire::envelopeSize, then:
///     wire::encodeEnvelope(envelope, bytes.data(), payloadSize);
///     wire::Envelope received;
///     const auto error = wire::decodeEnvelope(bytes.data(), envelopeSize + payloadSize, received);
///
/// On the wire it takes 64 little-endian bytes before the payload:
///
///     offset  0  magic, 4 bytes: "SLUW"    offset 24  origin, 8 bytes
///     offset  4  version, 2 bytes: 1       offset 32  sequence, 8 bytes
///     offset  6  priority, 1 byte          offset 40  time, 8 bytes
///     offset  7  reserved, 1 byte: 0       offset 48  trace id, 8 bytes
///     offset  8  schema hash, 8 bytes      offset 56  incarnation, 4 bytes
///     offset 16  type, 4 bytes             offset 60  CRC32C of bytes 0 to 59 and the payload
///     offset 20  payload length, 4 bytes
///
/// CRC32C (Castagnoli) detects damage, but not an attacker, who can compute it, too.
///
/// Thread safety: any thread may call the functions; calls share nothing.
struct Envelope {
    /// Codec::schemaHash() of the message's type.
    std::uint64_t schemaHash = 0;
    /// A number for the type, which a bridge computes from the subject and the version.
    std::uint32_t type = 0;
    /// 0 is low, 1 is medium, 2 is high. decodeEnvelope() refuses other values.
    std::uint8_t priority = 0;
    /// The publishing program's number, unique in the fleet.
    std::uint64_t origin = 0;
    /// Differs for each start of that program, which counts its messages from 1.
    std::uint32_t incarnation = 0;
    /// Counts messages of the same origin, incarnation, type and priority.
    std::uint64_t sequence = 0;
    /// Nanoseconds since 1970-01-01 UTC.
    std::int64_t time = 0;
    /// The trace of the message; 0: none.
    std::uint64_t traceId = 0;
    /// In bytes. decodeEnvelope() sets it; encodeEnvelope() takes it as an argument.
    std::uint32_t length = 0;
};

inline constexpr std::size_t envelopeSize = 64;
inline constexpr std::uint32_t envelopeMagic = 0x57554C53U;
inline constexpr std::uint16_t envelopeVersion = 1;

namespace detail {

/// Writes the lowest `Bytes` bytes of the number, the lowest byte first.
template <std::size_t Bytes>
void putLittle(unsigned char* to, std::uint64_t number) noexcept {
    for (std::size_t i = 0; i < Bytes; ++i) {
        to[i] = static_cast<unsigned char>((number >> (8U * i)) & 0xFFU);
    }
}

template <std::size_t Bytes>
[[nodiscard]] std::uint64_t getLittle(const unsigned char* from) noexcept {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < Bytes; ++i) {
        number |= std::uint64_t{from[i]} << (8U * i);
    }
    return number;
}

[[nodiscard]] inline std::uint32_t envelopeChecksum(const unsigned char* message,
                                                    std::size_t payloadSize) noexcept {
    return crc32c(message + envelopeSize, payloadSize, crc32c(message, 60));
}

}  // namespace detail

/// Writes the envelope into the first 64 bytes of `message`. The payload of `payloadSize` bytes
/// must already follow them, because the checksum covers it. It does not allocate.
inline void encodeEnvelope(const Envelope& envelope, unsigned char* message,
                           std::uint32_t payloadSize) noexcept {
    detail::putLittle<4>(message, envelopeMagic);
    detail::putLittle<2>(message + 4, envelopeVersion);
    message[6] = envelope.priority;
    message[7] = 0;
    detail::putLittle<8>(message + 8, envelope.schemaHash);
    detail::putLittle<4>(message + 16, envelope.type);
    detail::putLittle<4>(message + 20, payloadSize);
    detail::putLittle<8>(message + 24, envelope.origin);
    detail::putLittle<8>(message + 32, envelope.sequence);
    detail::putLittle<8>(message + 40, static_cast<std::uint64_t>(envelope.time));
    detail::putLittle<8>(message + 48, envelope.traceId);
    detail::putLittle<4>(message + 56, envelope.incarnation);
    detail::putLittle<4>(message + 60, detail::envelopeChecksum(message, payloadSize));
}

/// Reads the envelope of an untrusted message of `size` bytes, payload included. After an error,
/// `envelope` is unchanged. It does not allocate.
[[nodiscard]] inline EnvelopeError decodeEnvelope(const unsigned char* message, std::size_t size,
                                                  Envelope& envelope) noexcept {
    if (size < envelopeSize) {
        return EnvelopeError::tooShort;
    }
    if (detail::getLittle<4>(message) != envelopeMagic) {
        return EnvelopeError::wrongMagic;
    }
    if (detail::getLittle<2>(message + 4) != envelopeVersion) {
        return EnvelopeError::wrongVersion;
    }
    if (message[6] > 2) {
        return EnvelopeError::wrongPriority;
    }
    if (detail::getLittle<4>(message + 20) != size - envelopeSize) {
        return EnvelopeError::wrongLength;
    }
    if (detail::getLittle<4>(message + 60) !=
        detail::envelopeChecksum(message, size - envelopeSize)) {
        return EnvelopeError::wrongChecksum;
    }
    envelope.priority = message[6];
    envelope.schemaHash = detail::getLittle<8>(message + 8);
    envelope.type = static_cast<std::uint32_t>(detail::getLittle<4>(message + 16));
    envelope.length = static_cast<std::uint32_t>(detail::getLittle<4>(message + 20));
    envelope.origin = detail::getLittle<8>(message + 24);
    envelope.sequence = detail::getLittle<8>(message + 32);
    envelope.time = static_cast<std::int64_t>(detail::getLittle<8>(message + 40));
    envelope.traceId = detail::getLittle<8>(message + 48);
    envelope.incarnation = static_cast<std::uint32_t>(detail::getLittle<4>(message + 56));
    return EnvelopeError::none;
}

}  // namespace sluice::wire
