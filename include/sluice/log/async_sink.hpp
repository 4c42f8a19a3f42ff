#pragma once

#include <sluice/base/overflow.hpp>
#include <sluice/log/backend.hpp>
#include <sluice/log/default_backend.hpp>
#include <sluice/log/detail/backend/action_list.hpp>
#include <sluice/log/detail/backend/backend_access.hpp>
#include <sluice/log/detail/backend/logger_handle.hpp>
#include <sluice/log/detail/format/caller_state.hpp>
#include <sluice/log/detail/format/pair_writer.hpp>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/sink.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sluice::log {

/// A sink that passes its records to other sinks, on a back end's thread.
///
///     auto file = std::make_shared<spdlog::sinks::basic_file_sink_mt>("app.log");
///     auto logger = spdlog::default_logger();  // stays the same object
///     logger->sinks() = {std::make_shared<sluice::log::async_sink>(file)};
///     logger->info("another thread writes this");
///
/// Use it if a logger must stay the same object: it replaces the logger's sinks. sinks() of that
/// logger then returns the async_sink. If a program adds another sink to the logger, the logging
/// thread calls that sink. Otherwise use make_async() or async_logger: they keep the list of sinks,
/// and they copy less.
///
/// A change of the pattern or the formatter is in order with the records: a record that was logged
/// before the change is printed in the old form. An async_logger is different: its set_pattern()
/// changes the sinks at once.
///
/// Threads: any thread may call any member. Exception: call set_error_handler() only while no
/// thread logs. flush() returns at once; the back end flushes the wrapped sinks after all earlier
/// records.
///
/// Errors: the error handler of this sink gets the errors of the wrapped sinks, on the back end's
/// thread. Without a handler they go to stderr, as in spdlog. After the back end has ended, log()
/// and flush() throw spdlog_ex, which a logger passes to its own error handler.
///
/// Cost: log() copies the name and the text of the record into the lane of the calling thread. The
/// first record of a thread makes the lane. Other records take no lock, and allocate only if they
/// are larger than the lane.
///
/// Tests: tests/unit/log/async_sink_test.cpp.
class async_sink final : public spdlog::sinks::sink {
public:
    /// Wraps `sinks`; each keeps its level and its formatter. Throws spdlog_ex if `by` is null.
    async_sink(const std::vector<spdlog::sink_ptr>& sinks, const std::shared_ptr<backend>& by,
               Overflow policy = Overflow::block)
        : frontend_(existing(by)),
          policy_(policy),
          errors_(std::make_shared<detail::ErrorChannel>("async_sink", &errorHandler_)),
          handle_(frontend_, std::string(), sinks, policy, errors_) {}

    explicit async_sink(spdlog::sink_ptr wrapped,
                        const std::shared_ptr<backend>& by = default_backend(),
                        Overflow policy = Overflow::block)
        : async_sink(std::vector<spdlog::sink_ptr>{std::move(wrapped)}, by, policy) {}

    async_sink(const async_sink&) = delete;
    async_sink& operator=(const async_sink&) = delete;
    ~async_sink() override { errors_->release(); }

    void set_error_handler(spdlog::err_handler handler) { errorHandler_ = std::move(handler); }

    void log(const spdlog::details::log_msg& message) override {
        const detail::TextWriter text(message, message.logger_name);
        detail::RecordHead head = text.head();
        head.logger = &handle_.state();
        SendResult posted = SendResult::closed;
        if ((head.flags & detail::RecordHead::hasPairs) != 0) {
            const auto pairs = detail::PairWriter::take();
            posted = frontend_->post(head, pairs.size() + text.size(), policy_,
                                     [&](std::byte* to) noexcept { text.write(pairs.write(to)); });
        } else {
            posted = frontend_->post(head, text.size(), policy_,
                                     [&](std::byte* to) noexcept { text.write(to); });
        }
        refuse(posted == SendResult::closed);
    }

    void flush() override { refuse(!handle_.flush()); }

    void set_pattern(const std::string& pattern) override {
        set_formatter(std::make_unique<spdlog::pattern_formatter>(pattern));
    }

    void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
        std::unique_ptr<detail::OrderedAction> action(new detail::FunctionAction(
            [&state = handle_.state(), formatter = std::move(formatter)] {
                for (const detail::SinkEntry& entry : state.sinks) {
                    detail::guarded(*state.errors, {},
                                    [&] { entry.sink->set_formatter(formatter->clone()); });
                }
            }));
        refuse(!frontend_->send(action));
    }

private:
    static std::shared_ptr<detail::Frontend> existing(const std::shared_ptr<backend>& by) {
        std::shared_ptr<detail::Frontend> frontend = detail::BackendAccess::frontend(by);
        if (!frontend) {
            spdlog::throw_spdlog_ex("async_sink: the back end is null");
        }
        return frontend;
    }

    static void refuse(bool hasEnded) {
        if (__builtin_expect(hasEnded, 0)) {
            spdlog::throw_spdlog_ex("async_sink: the back end doesn't exist anymore");
        }
    }

    const std::shared_ptr<detail::Frontend> frontend_;
    const Overflow policy_;
    spdlog::err_handler errorHandler_;
    const std::shared_ptr<detail::ErrorChannel> errors_;
    const detail::LoggerHandle handle_;
};

}  // namespace sluice::log
