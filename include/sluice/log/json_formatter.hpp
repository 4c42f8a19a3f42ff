#pragma once

#include <sluice/log/detail/format/current_pairs.hpp>
#include <sluice/log/detail/format/json_text.hpp>
#include <sluice/log/detail/format/pair_text.hpp>
#include <sluice/log/detail/format/thread_mdc.hpp>

#include <spdlog/common.h>
#include <spdlog/details/log_msg.h>
#include <spdlog/details/os.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/formatter.h>

#include <chrono>
#include <ctime>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::log {

/// Formats each record as a JSON object on one line.
///
///     logger->set_formatter(std::make_unique<sluice::log::json_formatter>());
///
///     {"time":"2030-01-31T12:00:00.000123Z","level":"info","logger":"core","thread":4711,
///      "message":"order done","context":{"request":9},"fields":{"order":17,"ms":1.5}}
///
/// The members are always in this order:
///
/// - "time" is UTC with microseconds.
/// - "file" and "line" follow "thread" if the record has a source location.
/// - "context" has the pairs of scoped_context and of spdlog's mdc, "fields" the pairs of the call.
///   If there are no pairs, the member is missing.
/// - Any bytes make a valid object. Each byte that is not UTF-8 becomes U+FFFD.
/// - A number that is infinite or not a number becomes `null`.
/// - If a call gives a key twice, the key is printed twice.
///
/// If a sink copies messages before it formats them, the pairs are text in "message".
///
/// Threads: one thread at a time, as with any formatter. Cost: it allocates when the second
/// changes, and if `to` lacks room for a line.
///
/// Tests: tests/unit/log/json_formatter_test.cpp.
class json_formatter final : public spdlog::formatter {
public:
    explicit json_formatter(std::string eol = spdlog::details::os::default_eol)
        : eol_(std::move(eol)) {}

    void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& to) override {
        const detail::PairedText* const paired = detail::CurrentPairs::find(message.payload);
        detail::appendText(to, "{\"time\":\"");
        appendTime(message.time, to);
        detail::appendText(to, "\",\"level\":");
        detail::appendJson(to, view(spdlog::level::to_string_view(message.level)));
        detail::appendText(to, ",\"logger\":");
        detail::appendJson(to, view(message.logger_name));
        detail::appendText(to, ",\"thread\":");
        detail::appendNumber(to, message.thread_id);
        if (!message.source.empty()) {
            detail::appendText(to, ",\"file\":");
            detail::appendJson(to, message.source.filename);
            detail::appendText(to, ",\"line\":");
            detail::appendNumber(to, message.source.line);
        }
        detail::appendText(to, ",\"message\":");
        const std::string_view text = view(message.payload);
        detail::appendJson(to, paired == nullptr ? text : text.substr(0, paired->textSize));
        appendContext(to, paired == nullptr ? detail::PairBytes() : paired->context);
        if (paired != nullptr && paired->pairs.size != 0) {
            detail::appendText(to, ",\"fields\":{");
            detail::printJsonMembers(paired->pairs, to);
            to.push_back('}');
        }
        to.push_back('}');
        detail::appendText(to, eol_);
    }

    std::unique_ptr<spdlog::formatter> clone() const override {
        return std::make_unique<json_formatter>(eol_);
    }

private:
    using Second = std::chrono::time_point<spdlog::log_clock, std::chrono::seconds>;

    static std::string_view view(spdlog::string_view_t text) noexcept {
        return {text.data(), text.size()};
    }

    static void appendContext(spdlog::memory_buf_t& to, detail::PairBytes context) {
        const detail::ThreadMdc::Map* const mdc = detail::ThreadMdc::findFull();
        if (context.size == 0 && mdc == nullptr) {
            return;
        }
        detail::appendText(to, ",\"context\":{");
        detail::printJsonMembers(context, to);
        if (mdc != nullptr) {
            for (const auto& [key, value] : *mdc) {
                detail::appendText(to, to[to.size() - 1] == '{' ? "" : ",");
                detail::appendJson(to, key);
                to.push_back(':');
                detail::appendJson(to, value);
            }
        }
        to.push_back('}');
    }

    void appendTime(spdlog::log_clock::time_point time, spdlog::memory_buf_t& to) {
        const auto second = std::chrono::floor<std::chrono::seconds>(time);
        if (second != second_) {
            beginSecond(second);
        }
        const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(time - second);
        detail::appendText(to, secondText_);
        spdlog::fmt_lib::format_to(std::back_inserter(to), ".{:06}Z", rest.count());
    }

    void beginSecond(Second second) {
        const std::tm tm =
            spdlog::details::os::gmtime(std::chrono::system_clock::to_time_t(second));
        secondText_ =
            spdlog::fmt_lib::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", tm.tm_year + 1900,
                                    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
        second_ = second;
    }

    const std::string eol_;
    Second second_ = Second::max();
    std::string secondText_;  ///< the printed text of second_
};

}  // namespace sluice::log
