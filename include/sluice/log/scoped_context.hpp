#pragma once

#include <sluice/log/detail/format/caller_state.hpp>
#include <sluice/log/detail/format/pair_codec.hpp>
#include <sluice/log/key_value.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace sluice::log {

/// While it lives, it adds pairs to each record of its thread.
///
///     const sluice::log::scoped_context context(kv("request", id), kv("user", name));
///     logger->info("begins");   // begins request=17 user=ann
///     handle();                 // records of this thread have the same pairs
///
/// Each log call copies the pairs of its thread, so the back end prints the values that they had at
/// the call. Text sinks print them behind the message, before the pairs of the call. A
/// json_formatter prints them in the object "context".
///
/// - Scopes may be nested. A pair of an inner scope hides a pair of an outer scope with the same
///   key.
/// - The destructor restores the context of before. So make these objects on the stack, and destroy
///   them in the reverse order, on the same thread.
/// - The object copies keys and values.
/// - Loggers of a back end (async_logger) and async_sink take the context; other loggers do not.
///   The lines that dump_backtrace() writes have none.
///
/// Cost: the constructor allocates one block. Each log call of the thread copies the pairs into its
/// lane.
///
/// Tests: tests/unit/log/scoped_context_test.cpp.
class scoped_context {
public:
    /// Throws std::bad_alloc if there is no memory.
    template <class... Pairs>
    explicit scoped_context(const key_value& first, const Pairs&... others)
        : scoped_context(std::array<key_value, 1 + sizeof...(Pairs)>{first, others...}) {}

    ~scoped_context() { detail::CallerState::setContext(before_); }
    scoped_context(const scoped_context&) = delete;
    scoped_context& operator=(const scoped_context&) = delete;

private:
    template <std::size_t N>
    explicit scoped_context(const std::array<key_value, N>& pairs) {
        const detail::PairList mine{pairs.data(), N};
        const detail::PairBytes outer = detail::CallerState::context();
        bytes_.resize(outer.size + detail::sizeOfPairs(mine));
        std::byte* end = bytes_.data();
        detail::forEachPair(outer, [&](const key_value& pair) {
            const bool isHidden =
                std::any_of(pairs.begin(), pairs.end(),
                            [&](const key_value& one) { return one.key() == pair.key(); });
            end = isHidden ? end : detail::writePair(end, pair);
        });
        end = detail::writePairs(end, mine);
        view_ = {bytes_.data(), static_cast<std::size_t>(end - bytes_.data())};
        before_ = detail::CallerState::setContext(&view_);
    }

    std::vector<std::byte> bytes_;
    detail::PairBytes view_;
    const detail::PairBytes* before_ = nullptr;
};

}  // namespace sluice::log
