#pragma once

#include <sluice/log/detail/format/pair_codec.hpp>

#include <spdlog/common.h>

#include <algorithm>
#include <cstddef>
#include <functional>

namespace sluice::log::detail {

/// A message and its pairs. The text of the pairs follows the text of the message.
struct PairedText {
    spdlog::string_view_t payload;
    std::size_t textSize;  ///< the size of the message without its pairs
    PairBytes context;
    PairBytes pairs;
};

/// While one lives, the formatters that its thread calls find the pairs of their message.
///
/// A message of spdlog has no room for pairs. So the sinks get the message with its pairs as text.
/// A formatter finds the pairs by the address of that text. A copy of the message has no pairs,
/// only the text.
///
/// Tests: tests/unit/log/json_formatter_test.cpp.
class CurrentPairs {
public:
    /// The messages are in the order of their addresses, and no payload is empty.
    CurrentPairs(const PairedText* first, std::size_t count) noexcept
        : first_(first), count_(count), before_(top_) {
        top_ = this;
    }
    ~CurrentPairs() { top_ = before_; }
    CurrentPairs(const CurrentPairs&) = delete;
    CurrentPairs& operator=(const CurrentPairs&) = delete;

    /// Null for a message without pairs.
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

    /// All shared libraries have the same variable.
    [[gnu::visibility("default")]] inline static thread_local const CurrentPairs* top_ = nullptr;
};

}  // namespace sluice::log::detail
