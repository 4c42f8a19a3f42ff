#pragma once

#include <sluice/wire/buffer.hpp>
#include <sluice/wire/decode_error.hpp>
#include <sluice/wire/detail/pack_reader.hpp>
#include <sluice/wire/detail/pack_writer.hpp>

#include <cstddef>

namespace sluice::wire {

/// Appends the message to the buffer as a MessagePack map from field names to values.
///
///     std::array<unsigned char, 256> memory;
///     wire::Buffer buffer(memory.data(), memory.size());
///     const bool fits = wire::encode(Reading{7, 21.5}, buffer);
///     Reading received;
///     const auto error = wire::decode(buffer.data(), buffer.size(), received);
///
/// Returns false, and leaves the buffer's size unchanged, if the message does not fit (then
/// buffer.hasOverflowed() is true), or if decode() would refuse it: a text is not UTF-8, or maps
/// and sequences are nested more than 32 deep. It does not allocate.
///
/// Thread safety: one thread at a time uses a buffer and a message.
template <class T>
[[nodiscard]] bool encode(const T& message, Buffer& buffer) {
    const std::size_t before = buffer.size();
    if (detail::PackWriter(buffer).value(message)) {
        return true;
    }
    buffer.shrink(before);
    return false;
}

/// Reads a message from untrusted bytes.
///
/// - A missing field keeps its value, also inside an optional; a field that T does not have is
///   skipped. Bytes without any field of T belong to another type and are refused.
/// - A whole number is accepted for a float or double, because some encoders write 1.0 as 1.
/// - An enum accepts each number of its underlying type, so the caller checks unknown values.
/// - After an error, `message` is valid, and some of its fields may have changed.
/// - Only std::string and std::vector allocate, and only for elements that were read.
template <class T>
[[nodiscard]] DecodeError decode(const unsigned char* bytes, std::size_t size, T& message) {
    detail::PackReader reader(bytes, size);
    const DecodeError error = reader.value(message);
    return error != DecodeError::none || reader.atEnd() ? error : DecodeError::trailingBytes;
}

}  // namespace sluice::wire
