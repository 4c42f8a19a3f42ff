#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif defined(_MSC_VER)
#include <intrin.h>
#endif

namespace sluice::wire::detail {

using CrcTable = std::array<std::uint32_t, 256>;

/// Computes the tables of CRC32C, with the reflected Castagnoli polynomial. Table n contains the
/// CRC of each byte value followed by n zero bytes.
constexpr std::array<CrcTable, 8> makeCrcTables() noexcept {
    std::array<CrcTable, 8> tables{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t crc = i;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc & 1U) != 0 ? (crc >> 1U) ^ 0x82F63B78U : crc >> 1U;
        }
        tables[0][i] = crc;
    }
    for (std::size_t n = 1; n < tables.size(); ++n) {
        for (std::size_t i = 0; i < 256; ++i) {
            const std::uint32_t crc = tables[n - 1][i];
            tables[n][i] = tables[0][crc & 0xFFU] ^ (crc >> 8U);
        }
    }
    return tables;
}

inline constexpr std::array<CrcTable, 8> crcTables = makeCrcTables();

/// Computes the CRC by tables, eight bytes per step, because the eight look-ups are independent.
[[nodiscard]] inline std::uint32_t crc32cByTable(const unsigned char* bytes, std::size_t size,
                                                 std::uint32_t crc) noexcept {
    crc = ~crc;
    for (; size >= 8; size -= 8, bytes += 8) {
        crc = crcTables[7][(crc ^ bytes[0]) & 0xFFU] ^
              crcTables[6][((crc >> 8U) ^ bytes[1]) & 0xFFU] ^
              crcTables[5][((crc >> 16U) ^ bytes[2]) & 0xFFU] ^
              crcTables[4][((crc >> 24U) ^ bytes[3]) & 0xFFU] ^ crcTables[3][bytes[4]] ^
              crcTables[2][bytes[5]] ^ crcTables[1][bytes[6]] ^ crcTables[0][bytes[7]];
    }
    for (; size != 0; --size, ++bytes) {
        crc = crcTables[0][(crc ^ *bytes) & 0xFFU] ^ (crc >> 8U);
    }
    return ~crc;
}

#if defined(__x86_64__) || defined(_M_X64) || defined(__aarch64__)

#if defined(__x86_64__) || defined(_M_X64)

[[nodiscard]] inline bool hasCrcInstruction() noexcept {
#if defined(_MSC_VER)  // because __builtin_cpu_supports() needs a run-time library
    static const bool found = [] {
        int registers[4] = {};
        __cpuid(registers, 1);
        return (static_cast<unsigned>(registers[2]) & 1U << 20U) != 0;
    }();
    return found;
#else
    return __builtin_cpu_supports("sse4.2");
#endif
}

#if defined(_MSC_VER) && !defined(__clang__)
[[nodiscard]] inline std::uint64_t crcOf8(std::uint64_t sum, std::uint64_t word) noexcept {
    return _mm_crc32_u64(sum, word);
}
[[nodiscard]] inline std::uint64_t crcOf1(std::uint64_t sum, unsigned char byte) noexcept {
    return _mm_crc32_u8(static_cast<std::uint32_t>(sum), byte);
}
#else
// Inline assembly, because compilers offer built-in functions only for targets with SSE 4.2.
[[nodiscard]] inline std::uint64_t crcOf8(std::uint64_t sum, std::uint64_t word) noexcept {
    __asm__("crc32q %1, %0" : "+r"(sum) : "r"(word));
    return sum;
}
[[nodiscard]] inline std::uint64_t crcOf1(std::uint64_t sum, unsigned char byte) noexcept {
    __asm__("crc32b %1, %k0" : "+r"(sum) : "q"(byte));
    return sum;
}
#endif

#else

[[nodiscard]] inline bool hasCrcInstruction() noexcept {
#if defined(__ARM_FEATURE_CRC32)
    return true;
#elif defined(__linux__)
    return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#else
    return false;
#endif
}

[[nodiscard]] inline std::uint64_t crcOf8(std::uint64_t sum, std::uint64_t word) noexcept {
    __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(sum) : "r"(word));
    return sum;
}
[[nodiscard]] inline std::uint64_t crcOf1(std::uint64_t sum, unsigned char byte) noexcept {
    __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(sum) : "r"(byte));
    return sum;
}

#endif

/// Bytes in each of the three streams of crc32cByInstruction().
inline constexpr std::size_t crcStream = 168;

/// Computes the tables of behindStream(). Table n maps byte n of a sum to its share of the result.
/// The share of a byte is the exclusive or of the shares of its bits.
constexpr std::array<CrcTable, 4> makeCrcShift() noexcept {
    std::array<std::uint32_t, 32> ofBit{};
    for (std::size_t bit = 0; bit < 32; ++bit) {
        std::uint32_t sum = std::uint32_t{1} << bit;
        for (std::size_t i = 0; i < crcStream; ++i) {
            sum = crcTables[0][sum & 0xFFU] ^ (sum >> 8U);
        }
        ofBit[bit] = sum;
    }
    std::array<CrcTable, 4> tables{};
    for (std::size_t n = 0; n < 4; ++n) {
        for (std::size_t value = 0; value < 256; ++value) {
            for (std::size_t bit = 0; bit < 8; ++bit) {
                tables[n][value] ^= (value >> bit & 1U) != 0 ? ofBit[8 * n + bit] : 0;
            }
        }
    }
    return tables;
}

inline constexpr std::array<CrcTable, 4> crcShift = makeCrcShift();

/// Advances the sum over crcStream zero bytes, and returns the new sum.
[[nodiscard]] inline std::uint64_t behindStream(std::uint64_t sum) noexcept {
    return crcShift[0][sum & 0xFFU] ^ crcShift[1][(sum >> 8U) & 0xFFU] ^
           crcShift[2][(sum >> 16U) & 0xFFU] ^ crcShift[3][(sum >> 24U) & 0xFFU];
}

[[nodiscard]] inline std::uint64_t eightBytes(const unsigned char* bytes) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

/// Computes the CRC by the processor's instruction, eight bytes per step. Processes three streams
/// at a time, because an instruction's result takes three cycles, but one can start in each cycle.
[[nodiscard]] inline std::uint32_t crc32cByInstruction(const unsigned char* bytes, std::size_t size,
                                                       std::uint32_t crc) noexcept {
    std::uint64_t sum = ~crc;
    for (; size >= 3 * crcStream; size -= 3 * crcStream, bytes += 3 * crcStream) {
        std::uint64_t second = 0;
        std::uint64_t third = 0;
        for (std::size_t i = 0; i < crcStream; i += 8) {
            sum = crcOf8(sum, eightBytes(bytes + i));
            second = crcOf8(second, eightBytes(bytes + crcStream + i));
            third = crcOf8(third, eightBytes(bytes + 2 * crcStream + i));
        }
        sum = behindStream(behindStream(sum) ^ second) ^ third;
    }
    for (; size >= 8; size -= 8, bytes += 8) {
        sum = crcOf8(sum, eightBytes(bytes));
    }
    for (; size != 0; --size, ++bytes) {
        sum = crcOf1(sum, *bytes);
    }
    return ~static_cast<std::uint32_t>(sum);
}

#endif

/// Returns the CRC32C of the bytes. For a second range, pass the CRC of the first range as `crc`.
/// Any build uses the CRC32C instruction if the processor has it (SSE 4.2 on x86-64, or AArch64).
[[nodiscard]] inline std::uint32_t crc32c(const unsigned char* bytes, std::size_t size,
                                          std::uint32_t crc = 0) noexcept {
#if defined(__x86_64__) || defined(_M_X64) || defined(__aarch64__)
    if (hasCrcInstruction()) {
        return crc32cByInstruction(bytes, size, crc);
    }
#endif
    return crc32cByTable(bytes, size, crc);
}

}  // namespace sluice::wire::detail

namespace sluice::wire {

/// The reason why decodeEnvelope() refuses the bytes. toString() describes each reason.
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

/// The header of a message between programs, with the message's type and publishing program.
///
///     std::array<unsigned char, wire::envelopeSize + 100> bytes;
///     // ... write the payload at bytes.data() + wire::envelopeSize, then:
///     wire::encodeEnvelope(envelope, bytes.data(), payloadSize);
///     wire::Envelope received;
///     const auto error = wire::decodeEnvelope(bytes.data(), envelopeSize + payloadSize, received);
///
/// An encoded envelope has 64 bytes, precedes the payload and is little-endian:
///
///     offset  0  magic, 4 bytes: "SLUW"    offset 24  origin, 8 bytes
///     offset  4  version, 2 bytes: 1       offset 32  sequence, 8 bytes
///     offset  6  priority, 1 byte          offset 40  time, 8 bytes
///     offset  7  reserved, 1 byte: 0       offset 48  trace id, 8 bytes
///     offset  8  schema hash, 8 bytes      offset 56  incarnation, 4 bytes
///     offset 16  type, 4 bytes             offset 60  CRC32C of bytes 0 to 59 and the payload
///     offset 20  payload length, 4 bytes
///
/// CRC32C (Castagnoli) detects accidental damage, but not deliberate changes.
///
/// Thread safety: any thread may call encodeEnvelope() and decodeEnvelope(), which share no state.
struct Envelope {
    /// Codec::schemaHash() of the message's type.
    std::uint64_t schemaHash = 0;
    /// The type's number, which a bridge computes from the type's subject and version.
    std::uint32_t type = 0;
    /// 0 is low, 1 is medium, 2 is high. decodeEnvelope() refuses other values.
    std::uint8_t priority = 0;
    /// The publishing program's number, unique among all programs that exchange messages.
    std::uint64_t origin = 0;
    /// A number that changes each time the publishing program starts.
    std::uint32_t incarnation = 0;
    /// Counts the messages of the same origin, incarnation, type and priority, from 1.
    std::uint64_t sequence = 0;
    /// Nanoseconds since 1970-01-01 UTC.
    std::int64_t time = 0;
    /// The trace of the message; 0 means none.
    std::uint64_t traceId = 0;
    /// The payload's size in bytes. Set by decodeEnvelope(), and ignored by encodeEnvelope().
    std::uint32_t length = 0;
};

inline constexpr std::size_t envelopeSize = 64;
inline constexpr std::uint32_t envelopeMagic = 0x57554C53U;
inline constexpr std::uint16_t envelopeVersion = 1;

namespace detail {

/// Writes the lowest `Bytes` bytes of the number in little-endian order.
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

/// Writes the envelope into the first 64 bytes of `message`. The payload must already be in the
/// next `payloadSize` bytes, because the checksum covers these bytes. Does not allocate.
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

/// Reads the envelope of an untrusted message of `size` bytes, which include the payload. After an
/// error, `envelope` is unchanged. Does not allocate.
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
