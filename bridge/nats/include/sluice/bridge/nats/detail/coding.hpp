#pragma once

#include <sluice/bridge/nats/options.hpp>
#include <sluice/wire/buffer.hpp>
#include <sluice/wire/codec.hpp>
#include <sluice/wire/decode_error.hpp>
#include <sluice/wire/envelope.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>

namespace sluice::nats::detail {

/// Encodes the message behind the bytes reserved for its envelope. Sets `size` if the result is
/// `ok`. Otherwise the result is `tooLarge` or `unencodable`.
template <class T>
OutletResult encodeBody(const T& message, unsigned char* bytes, std::size_t capacity,
                        std::size_t& size) noexcept {
    wire::Buffer body(bytes + wire::envelopeSize, capacity - wire::envelopeSize);
    if (wire::Codec<T>::encode(message, body)) {
        size = body.size();
        return OutletResult::ok;
    }
    return body.hasOverflowed() ? OutletResult::tooLarge : OutletResult::unencodable;
}

[[nodiscard]] inline RequestError errorOf(OutletResult form) noexcept {
    return form == OutletResult::tooLarge ? RequestError::tooLarge : RequestError::unencodable;
}

enum class Reading : unsigned char { ok, unreadable, noMemory };

/// Decodes the message behind an envelope. If the constructor or the codec throws, the message is
/// unreadable.
template <class T>
Reading decodeBody(const unsigned char* data, std::size_t size,
                   std::optional<T>& message) noexcept {
    try {
        const auto error = wire::Codec<T>::decode(data + wire::envelopeSize,
                                                  size - wire::envelopeSize, message.emplace());
        return error == wire::DecodeError::none ? Reading::ok : Reading::unreadable;
    } catch (const std::bad_alloc&) {
        return Reading::noMemory;
    } catch (...) {
        return Reading::unreadable;
    }
}

/// Returns true if a message of this schema may be decoded as a T.
template <class T>
[[nodiscard]] bool isReadableAs(std::uint64_t schemaHash) noexcept {
    return !wire::detail::needsSameSchema<wire::Codec<T>> ||
           schemaHash == wire::Codec<T>::schemaHash();
}

}  // namespace sluice::nats::detail
