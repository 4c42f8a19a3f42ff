#pragma once

#include <sluice/base/overflow.hpp>
#include <sluice/log/detail/backend/action_list.hpp>
#include <sluice/log/detail/backend/error_channel.hpp>
#include <sluice/log/detail/backend/frontend.hpp>
#include <sluice/log/detail/backend/logger_state.hpp>

#include <spdlog/sinks/sink.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sluice::log::detail {

/// The action that ends a logger and destroys its state.
class LoggerEnd : public OrderedAction {
public:
    LoggerEnd(Frontend& frontend, std::unique_ptr<LoggerState> logger)
        : frontend_(frontend), logger_(std::move(logger)) {
        frontend_.loggers().add(*logger_);
    }
    ~LoggerEnd() override { frontend_.loggers().remove(*logger_); }

    void run() noexcept override { frontend_.retire(*logger_); }

private:
    Frontend& frontend_;
    std::unique_ptr<LoggerState> logger_;
};

/// Connects a logger with a back end. Its destructor sends an action to the back end. The back end
/// then destroys the state of the logger, after it has written the records that point to that
/// state.
///
/// Threads: while one thread calls a member that is not const, no other thread uses the object.
class LoggerHandle {
public:
    LoggerHandle() = default;

    /// Throws std::bad_alloc if there is no memory.
    LoggerHandle(std::shared_ptr<Frontend> frontend, const std::string& name,
                 const std::vector<spdlog::sink_ptr>& sinks, Overflow policy,
                 std::shared_ptr<ErrorChannel> errors)
        : frontend_(std::move(frontend)) {
        auto state = std::make_unique<LoggerState>(name, sinks, policy, std::move(errors));
        if (policy == Overflow::dropOldest) {
            frontend_->records().expectEviction();
        }
        state_ = state.get();
        end_ = std::make_unique<LoggerEnd>(*frontend_, std::move(state));
    }
    LoggerHandle(LoggerHandle&& other) noexcept { swap(other); }
    LoggerHandle& operator=(LoggerHandle other) noexcept {
        swap(other);
        return *this;
    }
    ~LoggerHandle() {
        if (end_ && !frontend_->send(end_)) {
            end_.reset();  // the back end has ended, so no other thread uses the state
        }
    }

    LoggerState& state() const noexcept { return *state_; }

    /// Requests a flush of the sinks. False if the back end has ended.
    bool flush() const noexcept { return frontend_->wantFlush(*state_); }

private:
    void swap(LoggerHandle& other) noexcept {
        std::swap(frontend_, other.frontend_);
        std::swap(state_, other.state_);
        std::swap(end_, other.end_);
    }

    std::shared_ptr<Frontend> frontend_;
    LoggerState* state_ = nullptr;
    std::unique_ptr<OrderedAction> end_;
};

}  // namespace sluice::log::detail
