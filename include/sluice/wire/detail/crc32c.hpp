#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice::wire::detail {

using CrcTable = std::array<std::uint32_t, 256>;

/// The tables of CRC32C, which has the reflected Castagnoli polynomial. Table n has the CRC of each
/// byte value with n zero bytes behind it.
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

/// Eight bytes a step: their look-ups do not wait for each other.
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

/// CRC32C of the bytes. To continue over a second range, pass the result of the first as `crc`. A
/// program that is built for processors with SSE 4.2 uses their instruction.
[[nodiscard]] inline std::uint32_t crc32c(const unsigned char* bytes, std::size_t size,
                                          std::uint32_t crc = 0) noexcept {
#if defined(__SSE4_2__) && defined(__x86_64__)
    std::uint64_t sum = ~crc;
    for (; size >= 8; size -= 8, bytes += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes, 8);
        sum = __builtin_ia32_crc32di(sum, word);
    }
    crc = static_cast<std::uint32_t>(sum);
    for (; size != 0; --size, ++bytes) {
        crc = __builtin_ia32_crc32qi(crc, *bytes);
    }
    return ~crc;
#else
    return crc32cByTable(bytes, size, crc);
#endif
}

}  // namespace sluice::wire::detail
