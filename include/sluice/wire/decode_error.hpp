#pragma once

#include <cstdint>

namespace sluice::wire {

/// The reason why decode() or fromJson() refuses its input. toString() describes each reason.
enum class DecodeError : std::uint8_t {
    none,
    truncated,
    trailingBytes,
    wrongType,
    outOfRange,
    tooLong,
    wrongLength,
    duplicateKey,
    tooDeep,
    invalidUtf8,
    noKnownField,
    notJson,
    foreignForm
};

[[nodiscard]] constexpr const char* toString(DecodeError error) noexcept {
    switch (error) {
    case DecodeError::none:
        return "no error";
    case DecodeError::truncated:
        return "the bytes end inside a value";
    case DecodeError::trailingBytes:
        return "bytes follow the message";
    case DecodeError::wrongType:
        return "a value has another type than its field";
    case DecodeError::outOfRange:
        return "a number does not fit its field";
    case DecodeError::tooLong:
        return "a text or sequence does not fit its field";
    case DecodeError::wrongLength:
        return "an array has another length than its field";
    case DecodeError::duplicateKey:
        return "a field occurs twice";
    case DecodeError::tooDeep:
        return "values are nested too deeply";
    case DecodeError::invalidUtf8:
        return "a text is not UTF-8";
    case DecodeError::noKnownField:
        return "the message has fields, and none of them is known";
    case DecodeError::notJson:
        return "the text is not JSON";
    case DecodeError::foreignForm:
        return "the codec of the type refuses the bytes";
    }
    return "unknown error";
}

}  // namespace sluice::wire
