#pragma once

/// \file
/// A sink of spdlog's that notes when records arrive. Each file that includes this has its own
/// spdlog, so the class takes the base from its user.

#include "harness/machine/clock.hpp"

#include <spdlog/common.h>
#include <spdlog/details/log_msg.h>
#include <spdlog/formatter.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace sluice::bench {

/// `Base` is spdlog::sinks::sink. For one thread; others look after a flush that they waited for.
template <class Base>
class ArrivalSink final : public Base {
public:
    ArrivalSink() { times_.reserve(room); }

    void log(const spdlog::details::log_msg&) override { times_.push_back(now()); }
    void flush() override {}
    void set_pattern(const std::string&) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

    const std::vector<Nanoseconds>& times() const noexcept { return times_; }

private:
    // More than a round has, so that no page comes into being while it is timed.
    static constexpr std::size_t room = 16384;

    std::vector<Nanoseconds> times_;
};

}  // namespace sluice::bench
