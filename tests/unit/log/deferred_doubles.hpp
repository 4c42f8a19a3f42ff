#pragma once

#include <sluice/log/deferred.hpp>

#include <spdlog/details/log_msg.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Defines the formatter of sluice::log::test::Type, which prints textOf(value).
#define SLUICE_TEST_PRINTED(Type)                                                                  \
    template <>                                                                                    \
    struct fmt::formatter<sluice::log::test::Type> : fmt::formatter<std::string_view> {            \
        template <class Context>                                                                   \
        auto format(const sluice::log::test::Type& value, Context& context) const {                \
            return fmt::formatter<std::string_view>::format(textOf(value), context);               \
        }                                                                                          \
    };

namespace sluice::log::test {

/// Keeps the text of every message, without any pattern.
class TextSink : public spdlog::sinks::base_sink<std::mutex> {
public:
    std::vector<std::string> texts;
    std::vector<spdlog::source_loc> sources;

private:
    void sink_it_(const spdlog::details::log_msg& message) override {
        texts.emplace_back(message.payload.data(), message.payload.size());
        sources.push_back(message.source);
    }
    void flush_() override {}
};

/// A logger that keeps the records of deferred calls as bytes, to be printed when they are asked
/// for: by then, what the calls were given has gone. What is formatted in place goes to its sink.
class KeepingLogger : public spdlog::logger {
public:
    struct Record {
        const detail::DeferredSite* site;
        std::vector<std::byte> bytes;
    };

    KeepingLogger() : KeepingLogger(std::make_shared<TextSink>()) {}
    explicit KeepingLogger(const std::shared_ptr<TextSink>& to) : logger("keeping", to), sink(to) {}

    template <class Write>
    // NOLINTNEXTLINE(readability-identifier-naming): as that of async_logger
    void log_deferred(const detail::DeferredSite& site, std::size_t bytes, Write&& write) {
        static_assert(noexcept(write(nullptr)));
        // At an odd address: nothing is said of the alignment of a record's parts.
        Record record{&site, std::vector<std::byte>(bytes + 1)};
        write(record.bytes.data() + 1);
        records.push_back(std::move(record));
    }

    /// The text of a record, as the back end makes it.
    static std::string print(const Record& record) {
        spdlog::memory_buf_t text;
        record.site->print(*record.site, record.bytes.data() + 1, record.bytes.size() - 1, text);
        return {text.data(), text.size()};
    }
    std::string last() const { return print(records.back()); }

    std::vector<Record> records;
    std::shared_ptr<TextSink> sink;
};

}  // namespace sluice::log::test
