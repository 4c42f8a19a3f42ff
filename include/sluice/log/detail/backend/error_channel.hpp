#pragma once

#include <spdlog/logger.h>

#include <exception>
#include <mutex>
#include <string>
#include <utility>

namespace sluice::log::detail {

/// Returns the text of an error in spdlog's words: the error, then the source location of the log
/// call if it is known.
inline std::string describe(const char* what, const spdlog::source_loc& source) {
    std::string text = what;
    if (source.filename != nullptr) {
        text.append(" [").append(source.filename).append("(");
        text.append(std::to_string(source.line)).append(")]");
    }
    return text;
}

/// Passes the errors of sinks to the error handler of a logger.
///
/// The back end may report an error after the logger has ended. So the logger and the back end
/// share this object. While the logger lives, a report reads the handler of the logger. When the
/// logger ends, this object copies the handler.
///
/// Threads: any thread may call any member. As in spdlog, the program sets a handler only while no
/// thread logs.
class ErrorChannel {
public:
    /// Each report before release() reads `handler`.
    ErrorChannel(std::string name, const spdlog::err_handler* handler)
        : name_(std::move(name)), live_(handler) {}
    ErrorChannel(const ErrorChannel&) = delete;
    ErrorChannel& operator=(const ErrorChannel&) = delete;

    /// Called when the owner of the handler ends. Copies the handler.
    void release() noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        try {
            kept_ = *live_;
        } catch (...) {
            // If the handler cannot be copied, later reports use spdlog's own.
        }
        live_ = nullptr;
    }

    /// Calls the handler. Without a handler it prints a line to stderr, as spdlog does: at most one
    /// line a second. It holds no lock during the call, and catches all exceptions of the handler.
    void report(const std::string& text) const noexcept {
        try {
            Reporter reporter(name_);
            reporter.set_error_handler(handler());
            reporter.err_handler_(text);
        } catch (...) {
            // The handler itself has failed, so nothing can report it.
        }
    }

    void report(const char* what, const spdlog::source_loc& source) const noexcept {
        try {
            report(describe(what, source));
        } catch (...) {
            // There is no memory for the text of the error.
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
    spdlog::err_handler kept_;         ///< the copy that release() made
};

/// Runs an action that calls code of the user. If the action throws, reports the exception and
/// returns false.
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
