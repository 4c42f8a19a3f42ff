#pragma once

#include <sluice/base/utf8.hpp>
#include <sluice/log/fields.hpp>

#include <spdlog/common.h>
#include <spdlog/details/log_msg.h>
#include <spdlog/details/os.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/formatter.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace sluice::log {

namespace detail {

/// Appends the text as a JSON string. Each byte that is not valid UTF-8 becomes U+FFFD.
inline void appendJson(spdlog::memory_buf_t& to, std::string_view text) {
    to.push_back('"');
    while (!text.empty()) {
        const char c = text.front();
        const std::size_t length = characterSize(text, 0);
        if (c == '"' || c == '\\') {
            to.push_back('\\');
            to.push_back(c);
        } else if (length == 1 && static_cast<unsigned char>(c) < 0x20) {
            appendEscape(to, static_cast<unsigned char>(c));
        } else {
            appendText(to, length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length));
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    to.push_back('"');
}

inline void appendJson(spdlog::memory_buf_t& to, const key_value::value_type& value) {
    std::visit(
        [&](auto held) {
            using T = decltype(held);
            if constexpr (std::is_same_v<T, std::string_view>) {
                appendJson(to, held);
            } else if constexpr (std::is_null_pointer_v<T>) {
                appendText(to, "null");
            } else if constexpr (std::is_floating_point_v<T>) {
                std::isfinite(held) ? appendNumber(to, held) : appendText(to, "null");
            } else {
                appendNumber(to, held);
            }
        },
        value);
}

}  // namespace detail

/// Formats each record as a JSON object on one line.
///
///     logger->set_formatter(std::make_unique<sluice::log::json_formatter>());
///
///     {"time":"2030-01-31T12:00:00.000123Z","level":"info","logger":"core","thread":4711,
///      "message":"order done","context":{"request":9},"fields":{"order":17,"ms":1.5}}
///
/// Members have the order of the example. "time" is UTC. "file" and "line" follow "thread" if the
/// record has a source location. "context" contains the fields of scoped_context and spdlog's mdc,
/// and "fields" contains the fields of the call. Empty objects are omitted. Duplicate keys are
/// printed twice. If a sink formats a copy of a message, the fields are part of "message".
///
/// The JSON is always valid: invalid UTF-8 becomes U+FFFD, and infinity and NaN become `null`.
///
/// Thread safety: one thread at a time may use a formatter.
///
/// Performance: format() allocates for the first record of a second, and if `to` lacks space.
class json_formatter final : public spdlog::formatter {
public:
    explicit json_formatter(std::string eol = spdlog::details::os::default_eol)
        : eol_(std::move(eol)) {}

    void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& to) override {
        using detail::appendText;
        const detail::MessageFields* const found = detail::CurrentFields::find(message.payload);
        appendText(to, "{\"time\":\"");
        appendTime(message.time, to);
        appendText(to, "\",\"level\":");
        detail::appendJson(to, view(spdlog::level::to_string_view(message.level)));
        appendText(to, ",\"logger\":");
        detail::appendJson(to, view(message.logger_name));
        appendText(to, ",\"thread\":");
        detail::appendNumber(to, message.thread_id);
        if (!message.source.empty()) {
            appendText(to, ",\"file\":");
            detail::appendJson(to, std::string_view(message.source.filename));
            appendText(to, ",\"line\":");
            detail::appendNumber(to, message.source.line);
        }
        appendText(to, ",\"message\":");
        const std::string_view text = view(message.payload);
        detail::appendJson(to, found == nullptr ? text : text.substr(0, found->textSize));
        if (found != nullptr) {
            appendFields(to, ",\"context\":{", found->context);
            appendFields(to, ",\"fields\":{", found->fields);
        }
        to.push_back('}');
        appendText(to, eol_);
    }

    std::unique_ptr<spdlog::formatter> clone() const override {
        return std::make_unique<json_formatter>(eol_);
    }

private:
    using Second = std::chrono::time_point<spdlog::log_clock, std::chrono::seconds>;

    static std::string_view view(spdlog::string_view_t text) noexcept {
        return {text.data(), text.size()};
    }

    static void appendFields(spdlog::memory_buf_t& to, std::string_view begin,
                             detail::FieldBytes fields) {
        if (fields.size == 0) {
            return;
        }
        detail::appendText(to, begin);
        detail::forEachField(fields, [&to](const key_value& field) {
            if (to[to.size() - 1] != '{') {
                to.push_back(',');
            }
            detail::appendJson(to, field.key());
            to.push_back(':');
            detail::appendJson(to, field.value());
        });
        to.push_back('}');
    }

    void appendTime(spdlog::log_clock::time_point time, spdlog::memory_buf_t& to) {
        const auto second = std::chrono::floor<std::chrono::seconds>(time);
        if (second != second_) {
            const std::tm tm =
                spdlog::details::os::gmtime(std::chrono::system_clock::to_time_t(second));
            secondText_ = spdlog::fmt_lib::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
                                                  tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
                                                  tm.tm_hour, tm.tm_min, tm.tm_sec);
            second_ = second;
        }
        const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(time - second);
        detail::appendText(to, secondText_);
        spdlog::fmt_lib::format_to(std::back_inserter(to), ".{:06}Z", rest.count());
    }

    const std::string eol_;
    Second second_ = Second::max();
    std::string secondText_;  ///< the printed text of second_
};

}  // namespace sluice::log
