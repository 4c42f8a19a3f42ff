#pragma once

#include <sluice/log/backend.hpp>
#include <sluice/log/logger.hpp>

#include <memory>

namespace sluice::test {

/// A logger "core" of the back end.
inline std::shared_ptr<log::async_logger> loggerOf(const std::shared_ptr<log::backend>& by,
                                                   const std::shared_ptr<spdlog::sinks::sink>& sink,
                                                   Overflow policy = Overflow::block) {
    return std::make_shared<log::async_logger>("core", sink, by, policy);
}

}  // namespace sluice::test
