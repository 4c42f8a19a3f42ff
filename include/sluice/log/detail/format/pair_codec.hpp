#pragma once

/// \file
/// The encoding of key-value pairs.
///
/// An encoded pair is the number of its type (1 byte), its key, and its value. The size of a text
/// stands before its characters. The pairs follow each other without gaps and without alignment.
///
/// Tests: tests/unit/log/key_value_test.cpp.

#include <sluice/log/detail/format/argument_codec.hpp>
#include <sluice/log/key_value.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace sluice::log::detail {

/// The pairs of a log call. It is valid until the call returns.
struct PairList {
    const key_value* first = nullptr;
    std::size_t count = 0;
};

/// Encoded pairs and their number of bytes.
struct PairBytes {
    const std::byte* bytes = nullptr;
    std::size_t size = 0;
};

template <class T>
using PairValueCodec =
    std::conditional_t<std::is_same_v<T, std::string_view>, TextCodec, ValueCodec<T>>;

inline std::size_t sizeOfPair(const key_value& pair) noexcept {
    const std::size_t value = std::visit(
        [](const auto& held) { return PairValueCodec<std::decay_t<decltype(held)>>::size(held); },
        pair.value());
    return 1 + TextCodec::size(pair.key()) + value;
}

inline std::byte* writePair(std::byte* to, const key_value& pair) noexcept {
    *to++ = static_cast<std::byte>(pair.value().index());
    to = TextCodec::write(to, pair.key());
    return std::visit(
        [to](const auto& held) {
            return PairValueCodec<std::decay_t<decltype(held)>>::write(to, held);
        },
        pair.value());
}

inline std::size_t sizeOfPairs(PairList pairs) noexcept {
    std::size_t size = 0;
    for (std::size_t i = 0; i < pairs.count; ++i) {
        size += sizeOfPair(pairs.first[i]);
    }
    return size;
}

inline std::byte* writePairs(std::byte* to, PairList pairs) noexcept {
    for (std::size_t i = 0; i < pairs.count; ++i) {
        to = writePair(to, pairs.first[i]);
    }
    return to;
}

/// Reads a value. `index` is the number of its type in key_value::value_type.
template <std::size_t Index = 0>
key_value::value_type readPairValue(std::size_t index, const std::byte*& from) noexcept {
    using Value = key_value::value_type;
    if constexpr (Index < std::variant_size_v<Value>) {
        using T = std::variant_alternative_t<Index, Value>;
        return index == Index ? Value(std::in_place_index<Index>, PairValueCodec<T>::read(from))
                              : readPairValue<Index + 1>(index, from);
    } else {
        return nullptr;
    }
}

/// Calls visit(const key_value&) for each pair. The texts of a pair refer to the encoded bytes.
template <class Visit>
void forEachPair(PairBytes pairs, Visit&& visit) {
    const std::byte* from = pairs.bytes;
    const std::byte* const end = from + pairs.size;
    while (from != end) {
        const auto index = static_cast<std::size_t>(*from++);
        const std::string_view key = TextCodec::read(from);
        visit(key_value(key, readPairValue(index, from)));
    }
}

}  // namespace sluice::log::detail
