#pragma once

/// \file
/// logTextWithPairs: a log call with pairs whose text the calling thread formats.
///
/// Tests: tests/unit/log/with_test.cpp.

#include <sluice/log/detail/format/caller_state.hpp>
#include <sluice/log/detail/format/current_pairs.hpp>
#include <sluice/log/detail/format/pair_text.hpp>
#include <sluice/log/logger.hpp>

#include <spdlog/common.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/logger.h>

#include <cstddef>
#include <exception>
#include <iterator>
#include <vector>

namespace sluice::log::detail {

/// Logs a formatted text with pairs. An async_logger gets the pairs as pairs. Any other logger, and
/// a backtrace, gets them behind the text. There the formatters on the calling thread find the
/// pairs through CurrentPairs.
inline void logReadyText(spdlog::logger& logger, spdlog::source_loc source,
                         spdlog::level::level_enum level, PairList pairs,
                         spdlog::memory_buf_t& text) {
    if (!logger.should_backtrace() && dynamic_cast<async_logger*>(&logger) != nullptr) {
        const ScopedPairs scope(pairs);
        logger.log(source, level, spdlog::string_view_t(text.data(), text.size()));
        return;
    }
    std::vector<std::byte> bytes(sizeOfPairs(pairs));
    writePairs(bytes.data(), pairs);
    const std::size_t textSize = text.size();
    printPairs({bytes.data(), bytes.size()}, text);
    const PairedText paired{{text.data(), text.size()}, textSize, {}, {bytes.data(), bytes.size()}};
    const CurrentPairs scope(&paired, 1);
    logger.log(source, level, paired.payload);
}

/// Formats a text and logs it. If the formatter throws, it calls logPlain(logger, arguments...),
/// which makes the same call of spdlog. There the formatter throws again, and spdlog calls the
/// error handler.
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
