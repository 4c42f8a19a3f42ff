#pragma once

#include <spdlog/logger.h>

#include <exception>
#include <mutex>
#include <string>
#include <utility>

namespace sluice::log::detail {

/// The text of an error in a log call, with its source location if that is known, in spdlog's
/// words.
inline std::string describe(const char* what, const spdlog::source_loc& source) {
    std::string text = what;
    if (source.filename != nullptr) {
        text.append(" [").append(source.filename).append("(");
        text.append(std::to_string(source.line)).append(")]");
    }
    return text;
}

/// Passes errors to the error handler of a logger, until its last record is written.
///
/// The back end reports errors, perhaps after the logger has ended. So both share this object. It
/// reads the handler of the logger as long as the logger lives, and keeps a copy then.
///
/// Any thread may call any member. As in spdlog, the program sets a handler while no thread logs.
class ErrorChannel {
public:
    /// Each report reads `handler` until release().
    ErrorChannel(std::string name, const spdlog::err_handler* handler)
        : name_(std::move(name)), live_(handler) {}
    ErrorChannel(const ErrorChannel&) = delete;
    ErrorChannel& operator=(const ErrorChannel&) = delete;

    /// The owner of the handler ends.
    void release() noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        try {
            kept_ = *live_;
        } catch (...) {
            // A handler that cannot be copied is replaced by spdlog's own.
        }
        live_ = nullptr;
    }

    /// Calls the handler. Without a handler it prints a line to stderr, at most one in a second, as
    /// spdlog does. It holds no lock during the call. It catches all exceptions of the handler.
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
    mutable std::mutex mutex_;         ///< guards the following
    const spdlog::err_handler* live_;  ///< the logger's handler; null after release()
    spdlog::err_handler kept_;         ///< the copy of release()
};

/// Runs an action that calls foreign code. Reports its exception. False if it threw.
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
