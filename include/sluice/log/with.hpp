#pragma once

/// \file
/// with(logger, kv(key, value)...): a log call like spdlog's, with key-value pairs.
///
///     using sluice::log::kv;
///     sluice::log::with(logger, kv("order", 17), kv("ms", 1.5)).info("{} orders left", 3);
///
/// `logger` is any spdlog::logger, by reference, pointer or smart pointer. Text sinks print
/// `3 orders left order=17 ms=1.5`. Sinks with a json_formatter print the pairs as members of an
/// object.
///
/// - The logger decides about levels, sinks and errors, as in its own calls.
/// - The calling thread formats the text, as in logger->info(). SLUICE_LOG_INFO accepts pairs, too,
///   and the back end formats its text.
/// - A logger that keeps a backtrace gets the pairs as text only.
/// - Do not keep the result: it refers to the logger and to the texts of the pairs.
///
/// Threads: any thread, like a call of the logger.
///
/// Tests: tests/unit/log/with_test.cpp.

#include <sluice/log/deferred.hpp>
#include <sluice/log/detail/backend/text_with_pairs.hpp>
#include <sluice/log/key_value.hpp>

#include <spdlog/common.h>
#include <spdlog/logger.h>

#include <array>
#include <cstddef>

namespace sluice::log {

template <std::size_t N>
class call_with_pairs {
public:
    call_with_pairs(spdlog::logger& logger, const std::array<key_value, N>& pairs)
        : logger_(logger), pairs_(pairs) {}

    template <class... Arguments>
    void log(spdlog::source_loc source, spdlog::level::level_enum level,
             spdlog::format_string_t<Arguments...> format, Arguments&&... arguments) const {
        if (detail::isWanted(logger_, level)) {
            detail::logTextWithPairs(
                logger_, source, level, {pairs_.data(), N},
                [&](spdlog::logger& to, auto&... /*arguments*/) {
                    to.log(source, level, format, std::forward<Arguments>(arguments)...);
                },
                format, arguments...);
        }
    }
    template <class... Arguments>
    void log(spdlog::level::level_enum level, spdlog::format_string_t<Arguments...> format,
             Arguments&&... arguments) const {
        log(spdlog::source_loc(), level, format, std::forward<Arguments>(arguments)...);
    }

    template <class... Arguments>
    void trace(spdlog::format_string_t<Arguments...> format, Arguments&&... arguments) const {
        log(spdlog::level::trace, format, std::forward<Arguments>(arguments)...);
    }
    template <class... Arguments>
    void debug(spdlog::format_string_t<Arguments...> format, Arguments&&... arguments) const {
        log(spdlog::level::debug, format, std::forward<Arguments>(arguments)...);
    }
    template <class... Arguments>
    void info(spdlog::format_string_t<Arguments...> format, Arguments&&... arguments) const {
        log(spdlog::level::info, format, std::forward<Arguments>(arguments)...);
    }
    template <class... Arguments>
    void warn(spdlog::format_string_t<Arguments...> format, Arguments&&... arguments) const {
        log(spdlog::level::warn, format, std::forward<Arguments>(arguments)...);
    }
    template <class... Arguments>
    void error(spdlog::format_string_t<Arguments...> format, Arguments&&... arguments) const {
        log(spdlog::level::err, format, std::forward<Arguments>(arguments)...);
    }
    template <class... Arguments>
    void critical(spdlog::format_string_t<Arguments...> format, Arguments&&... arguments) const {
        log(spdlog::level::critical, format, std::forward<Arguments>(arguments)...);
    }

private:
    spdlog::logger& logger_;
    const std::array<key_value, N> pairs_;
};

/// Returns an object with the log calls of the logger. Each of its calls adds these pairs.
template <class Logger, class... Pairs>
[[nodiscard]] call_with_pairs<sizeof...(Pairs)> with(Logger&& logger, const Pairs&... pairs) {
    static_assert(sizeof...(Pairs) != 0 && (detail::isPair<Pairs> && ...),
                  "after the logger, with() takes pairs: kv(key, value)");
    return {detail::loggerOf(logger), {pairs...}};
}

}  // namespace sluice::log
