#pragma once

#include <sluice/log/detail/backend/engine.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sluice::log::detail {

/// The end of a logger: its state goes with it.
class LoggerEnd : public Control {
public:
    LoggerEnd(Engine& engine, std::unique_ptr<LoggerState> logger)
        : engine_(engine), logger_(std::move(logger)) {
        engine_.loggers().add(*logger_);
    }
    ~LoggerEnd() override { engine_.loggers().remove(*logger_); }

    void run() noexcept override {
        engine_.harvester().tellOfDrops(*logger_);
        engine_.harvester().forget(*logger_);
    }

private:
    Engine& engine_;
    std::unique_ptr<LoggerState> logger_;
};

/// A logger's share in an engine. When it goes, the back end is told, and deletes the state when it
/// has written the records that point to it.
///
/// One thread at a time may call the members that are not const, and none other beside them.
class LoggerHandle {
public:
    LoggerHandle() = default;

    /// May throw std::bad_alloc.
    LoggerHandle(std::shared_ptr<Engine> engine, const std::string& name,
                 const std::vector<spdlog::sink_ptr>& sinks, overflow_policy policy,
                 std::shared_ptr<ErrorChannel> errors)
        : engine_(std::move(engine)) {
        auto state = std::make_unique<LoggerState>(name, sinks, policy, std::move(errors));
        if (policy == overflow_policy::overrun_oldest) {
            engine_->records().expectEviction();
        }
        state_ = state.get();
        end_ = std::make_unique<LoggerEnd>(*engine_, std::move(state));
    }
    LoggerHandle(LoggerHandle&& other) noexcept { swap(other); }
    LoggerHandle& operator=(LoggerHandle other) noexcept {
        swap(other);
        return *this;
    }
    ~LoggerHandle() {
        if (end_ && !engine_->send(end_)) {
            end_.reset();  // the back end has ended: nobody else looks at the state
        }
    }

    LoggerState& state() const noexcept { return *state_; }

    /// False when the back end has ended.
    bool flush() const noexcept { return engine_->wantFlush(*state_); }

private:
    void swap(LoggerHandle& other) noexcept {
        std::swap(engine_, other.engine_);
        std::swap(state_, other.state_);
        std::swap(end_, other.end_);
    }

    std::shared_ptr<Engine> engine_;
    LoggerState* state_ = nullptr;
    std::unique_ptr<Control> end_;
};

}  // namespace sluice::log::detail
