#pragma once

/// \file
/// SLUICE_LOG_INFO and similar macros: log calls that copy their arguments. The back end formats
/// them.
///
///     auto log = spdlog::basic_logger_mt<sluice::log::async_factory>("app", "app.log");
///     SLUICE_LOG_INFO(log, "order {} of {}", 17, "ACME");
///     SLUICE_LOG_ERROR(log, "sensor {:>3} fails: {}", id, reason);
///     SLUICE_LOG(log, spdlog::level::warn, "order done", kv("ms", 1.5));
///
/// The calling thread pays for the copy, not for the formatting.
///
/// Use them on hot paths. Use logger->info(...) elsewhere, and if the format string is known only
/// at run time. A program may mix both: order, sinks, levels, policies and text are the same. One
/// exception: a null `char*` is printed as "(null)".
///
/// `logger` is a spdlog::logger or a class derived from it, by reference, pointer or smart pointer.
/// An async_logger defers the formatting, also through a pointer to spdlog::logger, as spdlog's
/// factories and spdlog::get() return it. In these cases the calling thread formats the text:
///
/// - The logger is another one. Its own log() is called.
/// - The logger keeps a backtrace.
/// - An argument cannot be copied. copy_when_logging.hpp lists the types that are copied, and says
///   how to add a type of your own.
///
/// Levels: the compiler removes a call below SLUICE_LOG_ACTIVE_LEVEL (by default
/// SPDLOG_ACTIVE_LEVEL). It never removes a call of the general SLUICE_LOG. A call first reads the
/// logger's level. If the level is off, the call evaluates the logger and none of its arguments. An
/// argument may contain another log call, but -Wshadow then warns about the names of both.
///
/// Format: the format string is a constant. The compiler checks it, also in C++17: braces, number
/// and specifications of the arguments. Named arguments are not supported. A call without arguments
/// prints its text unchanged, with its braces, as spdlog does. Pairs, kv(key, value), have no field
/// in the format string: they are printed behind the text. With std::format (SPDLOG_USE_STD_FORMAT)
/// each call formats in place, and the standard library checks the format.
///
/// Threads: any thread, like a call of the logger. The back end formats the values that the
/// arguments had at the call. For `{:L}` it uses the global locale at the time of formatting.
///
/// Errors: a formatter may throw on the back end's thread. The logger's error handler gets the
/// exception, and only this record is lost.
///
/// Cost: a call copies its arguments into the lane of its thread. The first record of a thread
/// makes the lane. Other records allocate only if they are larger than the lane.
///
/// Tests: tests/unit/log/deferred_test.cpp, argument_codec_test.cpp, tests/compile_fail.

#include <sluice/log/detail/backend/text_with_pairs.hpp>
#include <sluice/log/detail/format/argument_codec.hpp>
#include <sluice/log/detail/format/format_check.hpp>
#include <sluice/log/detail/format/plain_format.hpp>
#include <sluice/log/detail/format/record_head.hpp>
#include <sluice/log/key_value.hpp>
#include <sluice/log/logger.hpp>

#include <spdlog/logger.h>

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace sluice::log::detail {

/// The logger of a call site, given as reference, pointer or smart pointer.
template <class Logger>
constexpr auto& loggerOf(Logger& logger) noexcept {
    if constexpr (std::is_base_of_v<spdlog::logger, Logger>) {
        return logger;
    } else {
        return *logger;
    }
}

inline bool isWanted(const spdlog::logger& logger, spdlog::level::level_enum level) {
    return logger.should_log(level) || logger.should_backtrace();
}

#if !defined(SPDLOG_USE_STD_FORMAT)

template <class... Codecs>
void printArguments(const DeferredSite& site, const std::byte* arguments, std::size_t size,
                    spdlog::memory_buf_t& to) {
    auto values = decodeArguments<Codecs...>(arguments, size);
    std::apply(
        [&](auto&... value) {
            fmt::vformat_to(fmt::appender(to), site.format, fmt::make_format_args(value...));
        },
        values);
}

inline void printText(const DeferredSite& site, const std::byte* /*arguments*/,
                      std::size_t /*size*/, spdlog::memory_buf_t& to) {
    to.append(site.format.begin(), site.format.end());
}

template <class... Codecs>
void printPlain(const DeferredSite& site, const std::byte* arguments, std::size_t size,
                spdlog::memory_buf_t& to) {
    auto values = decodeArguments<Codecs...>(arguments, size);
    PlainPrinter printer(site.format, to);
    std::apply([&printer](auto&... value) { (printer.append(value), ...); }, values);
    printer.finish();
}

template <class Site, class... Codecs>
constexpr auto printerOf() noexcept {
    if constexpr (sizeof...(Codecs) == 0) {
        return &printText;
    } else if constexpr (isPlainFormat(Site::text())) {
        return &printPlain<Codecs...>;
    } else {
        return &printArguments<Codecs...>;
    }
}

/// `Site` is the local class that SLUICE_LOG declares at a call site. It has the source location,
/// the level and the format.
template <class Site, class... Codecs>
inline constexpr DeferredSite siteOf{Site::severity(), Site::source(), Site::text(),
                                     printerOf<Site, Codecs...>()};

template <class Argument>
inline constexpr bool isFormattable = fmt::is_formattable<std::decay_t<Argument>>::value;

/// Checks the format string of a call with `Arguments`, and refuses a wrong one at compile time.
/// Returns false after a refusal, so that the compiler prints one error only. A text without
/// arguments is not a format, so it is not checked.
template <class Site, class... Arguments>
constexpr bool isFormatRight() noexcept {
    constexpr FormatFault fault = sizeof...(Arguments) == 0
                                      ? FormatFault::none
                                      : findFault(Site::text(), sizeof...(Arguments));
    static_assert(fault != FormatFault::brace,
                  "the format string has a brace without its partner; {{ and }} print one");
    static_assert(fault != FormatFault::name,
                  "the format string names an argument: write its position, as in {0}");
    static_assert(fault != FormatFault::tooFew,
                  "the format string has more fields than the call has arguments");
    constexpr bool allFormattable = (isFormattable<Arguments> && ...);
    static_assert(allFormattable, "an argument has no formatter: specialise fmt::formatter for it");
    return fault == FormatFault::none && allFormattable;
}

/// Runs the formatting library's own check at compile time. A compiler error in this function means
/// that a specification does not fit its argument.
template <class Site, class... Arguments>
void checkSpecifications() noexcept {
    if constexpr (sizeof...(Arguments) != 0) {
        static_cast<void>(spdlog::format_string_t<Arguments...>(FMT_STRING(Site::text())));
    }
}

template <class Site, class Logger, class... Arguments>
void logDeferred(Logger& logger, const Arguments&... arguments) {
    checkSpecifications<Site, typename CodecOf<Arguments>::Decoded&...>();
    const ArgumentWriter<CodecOf<Arguments>...> encoded(arguments...);
    logger.log_deferred(siteOf<Site, CodecOf<Arguments>...>, encoded.size(),
                        [&encoded](std::byte* to) noexcept { encoded.write(to); });
}

template <class Logger, class = void>
inline constexpr bool canDefer = false;
template <class Logger>
inline constexpr bool canDefer<
    Logger, std::void_t<decltype(std::declval<Logger&>().log_deferred(
                std::declval<const DeferredSite&>(), 0, std::declval<void (*)(std::byte*)>()))>> =
    true;

/// Returns the logger as one that defers, or null if it formats in place. It recognises an
/// async_logger behind a spdlog::logger by the exact type, because that costs less than a
/// dynamic_cast.
template <class Logger>
auto* deferring(Logger& logger) noexcept {
    if constexpr (canDefer<Logger>) {
        return &logger;
    } else {
        spdlog::logger& any = logger;
        return typeid(any) == typeid(async_logger) ? static_cast<async_logger*>(&any) : nullptr;
    }
}

#endif

/// Converts an argument that is formatted in place. A pointer to characters, which may be null, and
/// an array of characters, which may lack the final NUL, become a view of the characters. Any other
/// argument stays unchanged.
template <class Argument>
decltype(auto) shownInPlace(Argument&& argument) noexcept {
    using T = std::remove_const_t<std::remove_reference_t<Argument>>;
    if constexpr (isText<T> && (std::is_pointer_v<T> || std::is_array_v<T>)) {
        return TextCodec::hold<T>(argument);
    } else {
        return std::forward<Argument>(argument);
    }
}

template <class Site, class... Arguments>
void logInPlace(spdlog::logger& logger, Arguments&&... arguments) {
#if !defined(SPDLOG_USE_STD_FORMAT)
    checkSpecifications<Site, Arguments...>();
#endif
    logger.log(Site::source(), Site::severity(), spdlog::string_view_t(Site::text()),
               std::forward<Arguments>(arguments)...);
}

/// Logs a call after the check of the level. Also called if the level is off and the logger keeps a
/// backtrace.
template <class Site, class Logger, class... Arguments>
void logAt(Logger& logger, Arguments&&... arguments) {
#if !defined(SPDLOG_USE_STD_FORMAT)
    if constexpr (!isFormatRight<Site, Arguments...>()) {
        return;
    } else if constexpr ((isCopied<Arguments> && ...)) {
        if (auto* const that = deferring(logger)) {
            return logDeferred<Site>(*that, arguments...);
        }
    }
#endif
    logInPlace<Site>(logger, shownInPlace(std::forward<Arguments>(arguments))...);
}

template <class Site, class Logger, std::size_t N, class... Arguments>
void logPairsAt(Logger& logger, const std::array<key_value, N>& pairs, Arguments&&... arguments) {
#if !defined(SPDLOG_USE_STD_FORMAT)
    if constexpr (!isFormatRight<Site, Arguments...>()) {
        return;
    } else if constexpr ((isCopied<Arguments> && ...)) {
        if (auto* const that = deferring(logger)) {
            const ScopedPairs scope({pairs.data(), N});
            return logDeferred<Site>(*that, arguments...);
        }
    }
    checkSpecifications<Site, Arguments...>();
#endif
    logTextWithPairs(
        logger, Site::source(), Site::severity(), {pairs.data(), N},
        [](spdlog::logger& to, auto&... shown) { logInPlace<Site>(to, shown...); },
        spdlog::string_view_t(Site::text()), shownInPlace(std::forward<Arguments>(arguments))...);
}

template <class Argument>
inline constexpr bool isPair =
    std::is_same_v<std::remove_const_t<std::remove_reference_t<Argument>>, key_value>;

/// The argument in a tuple, or an empty tuple for a pair.
template <class Argument>
auto withoutPair(Argument&& argument) noexcept {
    if constexpr (isPair<Argument>) {
        return std::tuple<>();
    } else {
        return std::forward_as_tuple(std::forward<Argument>(argument));
    }
}

template <class Argument>
auto onlyPair(const Argument& argument) noexcept {
    if constexpr (isPair<Argument>) {
        return std::make_tuple(argument);
    } else {
        return std::tuple<>();
    }
}

/// Logs the call of a call site. Separates its pairs from the arguments of the format.
template <class Site, class Logger, class Format, class... Arguments>
void logCall(Logger& logger, const Format& /*format*/, Arguments&&... arguments) {
    if constexpr ((isPair<Arguments> || ...)) {
        const auto pairs = std::apply([](const auto&... pair) { return std::array{pair...}; },
                                      std::tuple_cat(onlyPair(arguments)...));
        std::apply(
            [&](auto&&... rest) {
                logPairsAt<Site>(logger, pairs, std::forward<decltype(rest)>(rest)...);
            },
            std::tuple_cat(withoutPair(std::forward<Arguments>(arguments))...));
    } else {
        logAt<Site>(logger, std::forward<Arguments>(arguments)...);
    }
}

}  // namespace sluice::log::detail

/// The compiler removes calls below this level: one of spdlog's SPDLOG_LEVEL_TRACE to
/// SPDLOG_LEVEL_OFF. Define it before the first include.
#if !defined(SLUICE_LOG_ACTIVE_LEVEL)
#define SLUICE_LOG_ACTIVE_LEVEL SPDLOG_ACTIVE_LEVEL
#endif

#define SLUICE_LOG_FIRST_OF(first, ...) first

/// SLUICE_LOG(logger, severity, "format {}", arguments...): `severity` is a constant,
/// spdlog::level::trace to critical.
#define SLUICE_LOG(logger, severity_, ...)                                                         \
    do {                                                                                           \
        static constexpr const char* sluiceLogFunction = SPDLOG_FUNCTION;                          \
        struct SluiceLogSite {                                                                     \
            static constexpr spdlog::level::level_enum severity() {                                \
                return severity_;                                                                  \
            }                                                                                      \
            static constexpr spdlog::source_loc source() {                                         \
                return {__FILE__, __LINE__, sluiceLogFunction};                                    \
            }                                                                                      \
            static constexpr std::string_view text() {                                             \
                return SLUICE_LOG_FIRST_OF(__VA_ARGS__, "");                                       \
            }                                                                                      \
        };                                                                                         \
        auto&& sluiceLogHandle = logger;                                                           \
        auto& sluiceLogger = ::sluice::log::detail::loggerOf(sluiceLogHandle);                     \
        if (::sluice::log::detail::isWanted(sluiceLogger, SluiceLogSite::severity())) {            \
            ::sluice::log::detail::logCall<SluiceLogSite>(sluiceLogger, __VA_ARGS__);              \
        }                                                                                          \
    } while (false)

#if SLUICE_LOG_ACTIVE_LEVEL <= SPDLOG_LEVEL_TRACE
#define SLUICE_LOG_TRACE(logger, ...) SLUICE_LOG(logger, spdlog::level::trace, __VA_ARGS__)
#else
#define SLUICE_LOG_TRACE(logger, ...) static_cast<void>(0)
#endif

#if SLUICE_LOG_ACTIVE_LEVEL <= SPDLOG_LEVEL_DEBUG
#define SLUICE_LOG_DEBUG(logger, ...) SLUICE_LOG(logger, spdlog::level::debug, __VA_ARGS__)
#else
#define SLUICE_LOG_DEBUG(logger, ...) static_cast<void>(0)
#endif

#if SLUICE_LOG_ACTIVE_LEVEL <= SPDLOG_LEVEL_INFO
#define SLUICE_LOG_INFO(logger, ...) SLUICE_LOG(logger, spdlog::level::info, __VA_ARGS__)
#else
#define SLUICE_LOG_INFO(logger, ...) static_cast<void>(0)
#endif

#if SLUICE_LOG_ACTIVE_LEVEL <= SPDLOG_LEVEL_WARN
#define SLUICE_LOG_WARN(logger, ...) SLUICE_LOG(logger, spdlog::level::warn, __VA_ARGS__)
#else
#define SLUICE_LOG_WARN(logger, ...) static_cast<void>(0)
#endif

#if SLUICE_LOG_ACTIVE_LEVEL <= SPDLOG_LEVEL_ERROR
#define SLUICE_LOG_ERROR(logger, ...) SLUICE_LOG(logger, spdlog::level::err, __VA_ARGS__)
#else
#define SLUICE_LOG_ERROR(logger, ...) static_cast<void>(0)
#endif

#if SLUICE_LOG_ACTIVE_LEVEL <= SPDLOG_LEVEL_CRITICAL
#define SLUICE_LOG_CRITICAL(logger, ...) SLUICE_LOG(logger, spdlog::level::critical, __VA_ARGS__)
#else
#define SLUICE_LOG_CRITICAL(logger, ...) static_cast<void>(0)
#endif
