#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace sluice::wire::detail {

using CrcTable = std::array<std::uint32_t, 256>;

/// Computes the tables of CRC32C, with the reflected Castagnoli polynomial. Table n has the CRC of
/// each byte value followed by n zero bytes.
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

/// Computes the CRC by tables, eight bytes in one step, because eight look-ups do not wait for each
/// other.
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

#if defined(__x86_64__) || defined(__aarch64__)

#if defined(__x86_64__)

[[nodiscard]] inline bool hasCrcInstruction() noexcept {
    return __builtin_cpu_supports("sse4.2");
}

// Assembler, because in a build for any x86-64 processor the compiler has no built-in functions for
// these instructions.
[[nodiscard]] inline std::uint64_t crcOf8(std::uint64_t sum, std::uint64_t word) noexcept {
    __asm__("crc32q %1, %0" : "+r"(sum) : "r"(word));
    return sum;
}
[[nodiscard]] inline std::uint64_t crcOf1(std::uint64_t sum, unsigned char byte) noexcept {
    __asm__("crc32b %1, %k0" : "+r"(sum) : "q"(byte));
    return sum;
}

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

/// Computes tables for behindStream(): for each byte of a sum, the sum after crcStream zero bytes
/// more. The result for several bits is the exclusive or of the results for each bit.
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

/// Returns the sum after crcStream zero bytes more.
[[nodiscard]] inline std::uint64_t behindStream(std::uint64_t sum) noexcept {
    return crcShift[0][sum & 0xFFU] ^ crcShift[1][(sum >> 8U) & 0xFFU] ^
           crcShift[2][(sum >> 16U) & 0xFFU] ^ crcShift[3][(sum >> 24U) & 0xFFU];
}

[[nodiscard]] inline std::uint64_t eightBytes(const unsigned char* bytes) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

/// Computes the CRC by the processor's instruction, eight bytes in one step. The instruction takes
/// three cycles, and the processor can begin one in each cycle. So three streams take the time of
/// one.
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

/// Returns the CRC32C of the bytes. To continue with a second range, pass the result of the first
/// range as `crc`. If the processor has an instruction for it (SSE 4.2 on x86-64; AArch64), it is
/// used in any build.
[[nodiscard]] inline std::uint32_t crc32c(const unsigned char* bytes, std::size_t size,
                                          std::uint32_t crc = 0) noexcept {
#if defined(__x86_64__) || defined(__aarch64__)
    if (hasCrcInstruction()) {
        return crc32cByInstruction(bytes, size, crc);
    }
#endif
    return crc32cByTable(bytes, size, crc);
}

}  // namespace sluice::wire::detail
