#include <sluice/log/deferred.hpp>

#include <string>
#include <vector>

struct WithoutFormatter {
    int value;
};

struct NotTrivial {
    std::string text;
};
template <>
struct sluice::log::copy_when_logging<NotTrivial> : std::true_type {};
template <>
struct fmt::formatter<NotTrivial> : fmt::formatter<int> {
    template <class Context>
    auto format(const NotTrivial&, Context& context) const {
        return fmt::formatter<int>::format(0, context);
    }
};

struct Throwing {};
template <>
struct sluice::log::argument_codec<Throwing> {
    static std::size_t size(const Throwing&) { return 0; }
    static void write(std::byte*, std::size_t, const Throwing&) noexcept {}
    static int read(const std::byte*, std::size_t) { return 0; }
};
template <>
struct fmt::formatter<Throwing> : fmt::formatter<int> {
    template <class Context>
    auto format(const Throwing&, Context& context) const {
        return fmt::formatter<int>::format(0, context);
    }
};

struct Deferring : spdlog::logger {
    using spdlog::logger::logger;
    template <class Write>
    void log_deferred(const sluice::log::detail::DeferredSite&, std::size_t, Write&& write) {
        write(nullptr);
    }
};

#if CASE == 0
void allThatTheOtherCasesNearlyAre(Deferring& logger, spdlog::logger& plain) {
    SLUICE_LOG_INFO(logger, "{} {:d} {{}} {:>{}}", "text", 1, 2, 3);
    SLUICE_LOG_INFO(plain, "{0} {0:>9}", std::string("text"));
    SLUICE_LOG_INFO(logger, "{}", WithoutFormatter{1}.value);
    SLUICE_LOG(logger, spdlog::level::info, "{}", NotTrivial{}.text);
}
#elif CASE == 1
// EXPECT: on_error|report_error|throw_format_error|constant expression
void tooFewArguments(Deferring& logger) {
    SLUICE_LOG_INFO(logger, "{} {}", 1);
}
#elif CASE == 3
// EXPECT: an argument has no formatter
void withoutFormatter(Deferring& logger) {
    SLUICE_LOG_INFO(logger, "{} {}", 1, WithoutFormatter{1});
}
#elif CASE == 5
// EXPECT: on_error|report_error|throw_format_error|constant expression
void aSpecificationOfAnotherTypeInPlace(spdlog::logger& plain) {
    SLUICE_LOG_INFO(plain, "{:.3s}", 1);
}
#elif CASE == 7
// EXPECT: copy_when_logging is for trivially copyable types: specialise argument_codec
void aCopyOfWhatCannotBeCopied(Deferring& logger) {
    SLUICE_LOG_INFO(logger, "{}", NotTrivial{});
}
#elif CASE == 8
// EXPECT: containing function|enclosing function|constant expression
void aFormatOfTheMoment(Deferring& logger, const char* format) {
    SLUICE_LOG_INFO(logger, format, 1);
}
#elif CASE == 10
// EXPECT: size\(\) and write\(\) of an argument_codec must be noexcept
void aCodecThatMayThrow(Deferring& logger) {
    SLUICE_LOG_INFO(logger, "{}", Throwing{});
}
#endif
