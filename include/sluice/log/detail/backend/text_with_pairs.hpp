#pragma once

/// \file
/// logTextWithPairs: a log call with pairs whose text is formatted by the caller.
///
/// Tests: tests/unit/log/with_test.cpp.

#include <sluice/log/detail/format/caller_state.hpp>
#include <sluice/log/detail/format/pair_text.hpp>
#include <sluice/log/detail/format/pairs_in_sight.hpp>
#include <sluice/log/logger.hpp>

#include <spdlog/common.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/logger.h>

#include <cstddef>
#include <exception>
#include <iterator>
#include <vector>

namespace sluice::log::detail {

/// The text goes to an async_logger with its pairs. Any other logger gets the pairs as text, and so
/// does a backtrace; formatters of the calling thread find the pairs themselves.
inline void logReadyText(spdlog::logger& logger, spdlog::source_loc source,
                         spdlog::level::level_enum level, PairList pairs,
                         spdlog::memory_buf_t& text) {
    if (!logger.should_backtrace() && dynamic_cast<async_logger*>(&logger) != nullptr) {
        const PairsOfCall scope(pairs);
        logger.log(source, level, spdlog::string_view_t(text.data(), text.size()));
        return;
    }
    std::vector<std::byte> bytes(sizeOfPairs(pairs));
    writePairs(bytes.data(), pairs);
    const std::size_t textSize = text.size();
    printPairs({bytes.data(), bytes.size()}, text);
    const PairedText paired{{text.data(), text.size()}, textSize, {}, {bytes.data(), bytes.size()}};
    const PairsInSight scope(&paired, 1);
    logger.log(source, level, paired.payload);
}

/// Formats, and logs that. A formatter that throws does so again in `logPlain(logger,
/// arguments...)`, which is a call of spdlog's: so the logger's error handler is told.
template <class LogPlain, class... Arguments>
void logTextWithPairs(spdlog::logger& logger, spdlog::source_loc source,
                      spdlog::level::level_enum level, PairList pairs, const LogPlain& logPlain,
                      spdlog::string_view_t format, const Arguments&... arguments) {
    spdlog::memory_buf_t text;
    try {
        if constexpr (sizeof...(Arguments) == 0) {
            text.append(format.data(), format.data() + format.size());
        } else {
            spdlog::fmt_lib::vformat_to(std::back_inserter(text), format,
                                        spdlog::fmt_lib::make_format_args(arguments...));
        }
    } catch (const std::exception&) {
        logPlain(logger, arguments...);
        return;
    }
    logReadyText(logger, source, level, pairs, text);
}

}  // namespace sluice::log::detail
