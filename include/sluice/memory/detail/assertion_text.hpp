#pragma once

#include <cstddef>
#include <cstdio>

namespace sluice::detail {

/// The message of a failed assertion that names a number or an address. It is made only when the
/// assertion fails: `SLUICE_ASSERT(condition, AssertionText("had ", count, " too many").text)`.
struct AssertionText {
    AssertionText(const char* before, std::size_t count, const char* after) noexcept {
        std::snprintf(text, sizeof text, "%s%llu%s", before, static_cast<unsigned long long>(count),
                      after);
    }
    AssertionText(const char* before, const void* address, const char* after) noexcept {
        std::snprintf(text, sizeof text, "%s%p%s", before, address, after);
    }

    char text[160];
};

}  // namespace sluice::detail
