#pragma once

#include <sluice/log/detail/backend/control_list.hpp>
#include <sluice/log/detail/backend/signal.hpp>

#include <memory>
#include <utility>

namespace sluice::log::detail {

/// Runs `finish` and gives its result to a signal. Gives false if the back end ends first.
template <class Finish>
class Barrier : public Control {
public:
    Barrier(Finish finish, std::shared_ptr<Signal> done)
        : finish_(std::move(finish)), done_(std::move(done)) {}

    void run() noexcept override { done_->give(finish_()); }
    void abandon() noexcept override { done_->give(false); }

private:
    Finish finish_;
    std::shared_ptr<Signal> done_;
};

}  // namespace sluice::log::detail
