#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::wire::detail {

/// The CRC of each byte value, for the reflected Castagnoli polynomial.
constexpr std::array<std::uint32_t, 256> makeCrcTable() noexcept {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t crc = i;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc & 1U) != 0 ? (crc >> 1U) ^ 0x82F63B78U : crc >> 1U;
        }
        table[i] = crc;
    }
    return table;
}

inline constexpr std::array<std::uint32_t, 256> crcTable = makeCrcTable();

/// CRC32C of the bytes. To continue over a second range, pass the result of the first as `crc`.
[[nodiscard]] inline std::uint32_t crc32c(const unsigned char* bytes, std::size_t size,
                                          std::uint32_t crc = 0) noexcept {
    crc = ~crc;
    for (std::size_t i = 0; i < size; ++i) {
        crc = crcTable[(crc ^ bytes[i]) & 0xFFU] ^ (crc >> 8U);
    }
    return ~crc;
}

}  // namespace sluice::wire::detail
