#pragma once

#include "support/log_sinks.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/logger.hpp>

#include <gtest/gtest.h>

#include <memory>

namespace sluice::test {

class LogLogger : public testing::Test {
protected:
    std::shared_ptr<log::async_logger> make(const std::shared_ptr<spdlog::sinks::sink>& to,
                                            Overflow policy = Overflow::block) {
        auto made = std::make_shared<log::async_logger>("core", to, writer, policy);
        made->set_error_handler(errors.handler());
        return made;
    }

    Errors errors;
    std::shared_ptr<CollectingSink> sink = std::make_shared<CollectingSink>();
    std::shared_ptr<log::backend> writer = std::make_shared<log::backend>();
    std::shared_ptr<log::async_logger> logger = make(sink);
};

}  // namespace sluice::test
