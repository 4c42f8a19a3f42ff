#pragma once

#include <spdlog/logger.h>

#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace sluice::log::detail {

/// The text of an error in a log call, with its place when that is known, in spdlog's words.
inline std::string describe(const char* what, const spdlog::source_loc& source) {
    std::string text = what;
    if (source.filename != nullptr) {
        text.append(" [").append(source.filename).append("(");
        text.append(std::to_string(source.line)).append(")]");
    }
    return text;
}

/// Where a logger's errors go, as long as there are records of it.
///
/// Errors are reported by the back end, when the logger may have gone already. So this object is
/// shared by both: it asks the logger for its handler while there is one, and keeps a copy then.
///
/// Any thread may call any member. As in spdlog, a handler is set while nobody logs.
class ErrorChannel {
public:
    /// `handler` is looked at for each report until release().
    ErrorChannel(std::string name, const spdlog::err_handler* handler)
        : name_(std::move(name)), live_(handler) {}
    ErrorChannel(const ErrorChannel&) = delete;
    ErrorChannel& operator=(const ErrorChannel&) = delete;

    /// The owner of the handler goes.
    void release() noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        try {
            kept_ = *live_;
        } catch (...) {
            // A handler that cannot be copied is lost; spdlog's own speaks for it.
        }
        live_ = nullptr;
    }

    /// Calls the handler, or does what spdlog does without one: prints a line to stderr, one in a
    /// second. The handler runs under no lock. What it throws ends here.
    void report(const std::string& text) const noexcept {
        try {
            Reporter reporter(name_);
            reporter.set_error_handler(handler());
            reporter.err_handler_(text);
        } catch (...) {
            // An error in the handling of errors has nowhere to go.
        }
    }

    void report(const char* what, const spdlog::source_loc& source) const noexcept {
        try {
            report(describe(what, source));
        } catch (...) {
            // No memory for the text of an error.
        }
    }

private:
    struct Reporter : spdlog::logger {
        using spdlog::logger::err_handler_;
        using spdlog::logger::logger;
    };

    spdlog::err_handler handler() const {
        const std::lock_guard<std::mutex> lock(mutex_);
        return live_ != nullptr ? *live_ : kept_;
    }

    const std::string name_;
    mutable std::mutex mutex_;
    const spdlog::err_handler* live_;
    spdlog::err_handler kept_;
};

/// Runs an action that calls foreign code and reports whatever it throws. False if it threw.
template <class Action>
bool guarded(const ErrorChannel& errors, const spdlog::source_loc& source,
             Action&& action) noexcept {
    try {
        action();
        return true;
    } catch (const std::exception& error) {
        errors.report(error.what(), source);
    } catch (...) {
        errors.report("unknown exception in a sink", source);
    }
    return false;
}

}  // namespace sluice::log::detail
