#pragma once

#include <sluice/log/detail/format/pair_codec.hpp>

#include <spdlog/common.h>

#include <algorithm>
#include <cstddef>
#include <functional>

namespace sluice::log::detail {

/// A message and its pairs. `payload` is the text of the message, followed by the text of the
/// pairs.
struct PairedText {
    spdlog::string_view_t payload;
    std::size_t textSize;  ///< bytes of the payload without the text of the pairs
    PairBytes context;
    PairBytes pairs;
};

/// While a CurrentPairs lives, the formatters that its thread calls find the pairs of their
/// message.
///
/// A message of spdlog has no place for pairs. So the sinks get the message with its pairs as text,
/// and a formatter finds the pairs by the address of that text. A copy of the message has only the
/// text.
///
/// Tests: tests/unit/log/json_formatter_test.cpp.
class CurrentPairs {
public:
    /// The messages must be in ascending order of the addresses of their payloads, and no payload
    /// may be empty.
    CurrentPairs(const PairedText* first, std::size_t count) noexcept
        : first_(first), count_(count), before_(top_) {
        top_ = this;
    }
    ~CurrentPairs() { top_ = before_; }
    CurrentPairs(const CurrentPairs&) = delete;
    CurrentPairs& operator=(const CurrentPairs&) = delete;

    /// Returns the message with this payload. Null for a message without pairs.
    static const PairedText* find(spdlog::string_view_t payload) noexcept {
        for (const CurrentPairs* scope = top_; scope != nullptr; scope = scope->before_) {
            const PairedText* const end = scope->first_ + scope->count_;
            const PairedText* const found = std::lower_bound(
                scope->first_, end, payload.data(), [](const PairedText& one, const char* data) {
                    return std::less<>()(one.payload.data(), data);
                });
            if (found != end && found->payload.data() == payload.data() &&
                found->payload.size() == payload.size()) {
                return found;
            }
        }
        return nullptr;
    }

private:
    const PairedText* const first_;
    const std::size_t count_;
    const CurrentPairs* const before_;

    /// The innermost object of this thread. All shared libraries share this variable.
    [[gnu::visibility("default")]] inline static thread_local const CurrentPairs* top_ = nullptr;
};

}  // namespace sluice::log::detail
