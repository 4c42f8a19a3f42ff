#pragma once

/// \file
/// SLUICE_LOG_INFO and similar macros: log calls whose arguments the back end formats.
///
///     auto log = spdlog::basic_logger_mt<sluice::log::async_factory>("app", "app.log");
///     SLUICE_LOG_INFO(log, "order {} of {}", 17, "ACME");
///     SLUICE_LOG_ERROR(log, "sensor {:>3} fails: {}", id, reason);
///     SLUICE_LOG(log, spdlog::level::warn, "order done", kv("ms", 1.5));
///
/// Use the macros on hot paths, and for calls with fields. Use logger->info(...) outside hot paths,
/// and for format strings made at run time. The macros print the same text as logger->info(...),
/// except that they print a null `char*` as "(null)".
///
/// The argument `logger` is a spdlog::logger or a derived class, by reference, pointer or smart
/// pointer. The calling thread formats the text if the logger keeps a backtrace or is not an
/// async_logger, or if an argument's type is not copied (see copy_when_logging). With std::format
/// (SPDLOG_USE_STD_FORMAT), the calling thread always formats.
///
/// The compiler removes calls below SLUICE_LOG_ACTIVE_LEVEL, except calls of SLUICE_LOG. A call
/// below the logger's level evaluates only `logger`. The format string is a constant without named
/// arguments. Fields, made by kv(), have no placeholder in the format string. A format string
/// without arguments is printed unchanged.
///
/// Thread safety: as for logger->info(...). `{:L}` reads the global locale during formatting.
///
/// Errors: exceptions of formatters go to the logger's error handler, and the record is lost.

#include <sluice/base/platform.hpp>
#include <sluice/log/detail/format/record_head.hpp>
#include <sluice/log/fields.hpp>
#include <sluice/log/logger.hpp>

#include <spdlog/fmt/fmt.h>
#include <spdlog/logger.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <exception>
#include <iterator>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#if SLUICE_HAS_POSIX && defined(__PIC__) && !defined(__PIE__)
#define SLUICE_LOG_IN_LIBRARY  // this translation unit may be part of a shared library
#include <dlfcn.h>
#endif

/// The lowest level that is compiled in, from SPDLOG_LEVEL_TRACE to SPDLOG_LEVEL_OFF. Define
/// SLUICE_LOG_ACTIVE_LEVEL before the first include.
#if !defined(SLUICE_LOG_ACTIVE_LEVEL)
#define SLUICE_LOG_ACTIVE_LEVEL SPDLOG_ACTIVE_LEVEL
#endif

#define SLUICE_LOG_FIRST_OF(first, ...) first

/// SLUICE_LOG(logger, severity, "format {}", arguments...): `severity` is a constant from
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

namespace sluice::log::detail {

// ---- The call site. `Site` is the class that SLUICE_LOG declares for each call.

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

/// Keeps a shared library with log calls in memory after dlclose(), because records and ending
/// threads refer to the library's data and code.
struct StaysLoaded {
    StaysLoaded() noexcept {
#if defined(SLUICE_LOG_IN_LIBRARY)
        Dl_info self{};
        if (dladdr(this, &self) != 0) {
            static_cast<void>(dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
        }
#endif
    }
};

/// staysLoaded is a template, so that only libraries with log calls have the object.
template <class = void>
[[gnu::visibility("hidden")]] inline const StaysLoaded staysLoaded;

#if !defined(SPDLOG_USE_STD_FORMAT)

// ---- The check of the format string

/// Checks the format string at compile time with fmt. A compiler error in this function means that
/// the format string is invalid or does not fit the arguments.
template <class Site, class... Arguments>
void checkSpecifications() noexcept {
    if constexpr (sizeof...(Arguments) != 0) {
        static_cast<void>(spdlog::format_string_t<Arguments...>(FMT_STRING(Site::text())));
    }
}

// ---- The back end's side: DeferredSite::print

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

/// Returns true if a valid format string has only text and `{}` placeholders.
constexpr bool isPlainFormat(std::string_view format) noexcept {
    for (std::size_t at = 0; at < format.size(); ++at) {
        if (format[at] == '}' || (format[at] == '{' && format[++at] != '}')) {
            return false;
        }
    }
    return true;
}

template <class T>
void appendPlain(spdlog::memory_buf_t& to, T& value) {
    if constexpr (std::is_same_v<T, std::string_view>) {
        to.append(value.data(), value.data() + value.size());
    } else if constexpr (std::is_same_v<T, char>) {
        to.push_back(value);
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> &&
                         sizeof(T) <= sizeof(long long)) {
        const fmt::format_int digits(+value);
        to.append(digits.data(), digits.data() + digits.size());
    } else {
        fmt::vformat_to(fmt::appender(to), "{}", fmt::make_format_args(value));
    }
}

/// Prints a plain format (see isPlainFormat) in less than half the instructions of fmt's parser.
/// Ignores values without a placeholder.
template <class... Codecs>
void printPlain(const DeferredSite& site, const std::byte* arguments, std::size_t size,
                spdlog::memory_buf_t& to) {
    auto values = decodeArguments<Codecs...>(arguments, size);
    const char* from = site.format.data();
    const char* const end = from + site.format.size();
    const auto append = [&](auto& value) {
        const auto* const field =
            static_cast<const char*>(std::memchr(from, '{', static_cast<std::size_t>(end - from)));
        if (field != nullptr) {
            to.append(from, field);
            from = field + 2;
            appendPlain(to, value);
        }
    };
    std::apply([&append](auto&... value) { (append(value), ...); }, values);
    to.append(from, end);
}

template <class Site, class... Codecs>
constexpr auto printerOf() noexcept {
    if constexpr (sizeof...(Codecs) == 0 || isPlainFormat(Site::text())) {
        return &printPlain<Codecs...>;
    } else {
        return &printArguments<Codecs...>;
    }
}

template <class Site, class... Codecs>
inline constexpr DeferredSite siteOf{Site::severity(), Site::source(), Site::text(),
                                     printerOf<Site, Codecs...>()};

// ---- The calling thread's side

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

/// Returns the logger if it has log_deferred(), otherwise null. Cheaper than a dynamic_cast.
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

/// Converts a `char*`, which may be null, or a `char` array, which may lack a NUL, to a view.
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
void logInPlace(spdlog::logger& logger, FieldList /*none*/, Arguments&&... arguments) {
#if !defined(SPDLOG_USE_STD_FORMAT)
    checkSpecifications<Site, Arguments...>();
#endif
    logger.log(Site::source(), Site::severity(), spdlog::string_view_t(Site::text()),
               std::forward<Arguments>(arguments)...);
}

/// Logs a text with fields. If the logger keeps a backtrace or is not an async_logger, appends the
/// fields to the text, and formatters find the fields with CurrentFields.
inline void logTextWithFields(spdlog::logger& logger, spdlog::source_loc source,
                              spdlog::level::level_enum level, FieldList fields,
                              spdlog::memory_buf_t& text) {
    if (!logger.should_backtrace() && dynamic_cast<async_logger*>(&logger) != nullptr) {
        const CallerState::Fields scope(fields);
        logger.log(source, level, spdlog::string_view_t(text.data(), text.size()));
        return;
    }
    std::vector<std::byte> bytes(sizeOfFields(fields));
    writeFields(bytes.data(), fields);
    const FieldBytes encoded{bytes.data(), bytes.size()};
    const std::size_t textSize = text.size();
    printFields(encoded, text);
    const MessageFields message{{text.data(), text.size()}, textSize, {}, encoded};
    const CurrentFields scope(&message, 1);
    logger.log(source, level, message.payload);
}

template <class Site, std::size_t N, class... Arguments>
void logInPlace(spdlog::logger& logger, const std::array<key_value, N>& fields,
                Arguments&&... arguments) {
#if !defined(SPDLOG_USE_STD_FORMAT)
    checkSpecifications<Site, Arguments...>();
#endif
    spdlog::memory_buf_t text;
    try {
        const spdlog::string_view_t format = Site::text();
        if constexpr (sizeof...(Arguments) == 0) {
            text.append(format.data(), format.data() + format.size());
        } else {
            spdlog::fmt_lib::vformat_to(std::back_inserter(text), format,
                                        spdlog::fmt_lib::make_format_args(arguments...));
        }
    } catch (const std::exception&) {
        // Lets spdlog format the message again and pass its exception to the error handler.
        return logInPlace<Site>(logger, FieldList{}, std::forward<Arguments>(arguments)...);
    }
    logTextWithFields(logger, Site::source(), Site::severity(), {fields.data(), N}, text);
}

/// Logs a call that isWanted() accepted. `fields` is a key_value array or an empty FieldList.
template <class Site, class Logger, class Fields, class... Arguments>
void logAt(Logger& logger, const Fields& fields, Arguments&&... arguments) {
#if !defined(SPDLOG_USE_STD_FORMAT)
    constexpr bool areFormattable = (fmt::is_formattable<std::decay_t<Arguments>>::value && ...);
    static_assert(areFormattable, "an argument has no formatter: specialise fmt::formatter for it");
    if constexpr (!areFormattable) {
        return;  // so that the compiler prints only the static_assert's error
    } else if constexpr ((isCopied<Arguments> && ...)) {
        // A logger with a backtrace needs formatted text, because spdlog keeps backtraces as text.
        if (auto* const that = deferring(logger); that != nullptr && !that->should_backtrace()) {
            if constexpr (std::is_same_v<Fields, FieldList>) {
                return logDeferred<Site>(*that, arguments...);
            } else {
                const CallerState::Fields scope({fields.data(), fields.size()});
                return logDeferred<Site>(*that, arguments...);
            }
        }
    }
#endif
    logInPlace<Site>(logger, fields, shownInPlace(std::forward<Arguments>(arguments))...);
}

template <class Argument>
inline constexpr bool isField = std::is_same_v<std::decay_t<Argument>, key_value>;

template <bool Wanted, class Argument>
auto onlyIf(Argument&& argument) noexcept {
    if constexpr (isField<Argument> == Wanted) {
        return std::forward_as_tuple(std::forward<Argument>(argument));
    } else {
        return std::tuple<>();
    }
}

template <class Site, class Logger, class Format, class... Arguments>
void logCall(Logger& logger, const Format& /*format*/, Arguments&&... arguments) {
    static_cast<void>(&staysLoaded<>);
    if constexpr ((isField<Arguments> || ...)) {
        const auto fields = std::apply([](const auto&... field) { return std::array{field...}; },
                                       std::tuple_cat(onlyIf<true>(std::as_const(arguments))...));
        std::apply(
            [&](auto&&... rest) {
                logAt<Site>(logger, fields, std::forward<decltype(rest)>(rest)...);
            },
            std::tuple_cat(onlyIf<false>(std::forward<Arguments>(arguments))...));
    } else {
        logAt<Site>(logger, FieldList{}, std::forward<Arguments>(arguments)...);
    }
}

}  // namespace sluice::log::detail
