#pragma once

#include "support/temporary_folder.hpp"

#include <sluice/log/batch_sink.hpp>

#include <gtest/gtest.h>
#include <spdlog/details/log_msg.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {

inline spdlog::details::log_msg message(std::string_view text,
                                        spdlog::level::level_enum level = spdlog::level::info) {
    return {"core", level, spdlog::string_view_t(text.data(), text.size())};
}

inline void logBatch(log::batch_sink& sink, const std::vector<std::string>& texts) {
    std::vector<spdlog::details::log_msg> messages;
    for (const std::string& text : texts) {
        messages.push_back(message(text));
    }
    std::size_t taken = 0;
    sink.log_batch(messages.data(), messages.size(), taken);
    EXPECT_EQ(taken, texts.size());
}

class LogFileSink : public testing::Test {
protected:
    const TemporaryFolder folder_;
    const std::string path_ = folder_ / "log.txt";
};

}  // namespace sluice::test
