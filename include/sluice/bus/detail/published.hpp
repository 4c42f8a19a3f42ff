#pragma once

#include <sluice/bus/publish_result.hpp>

#include <cstddef>

namespace sluice::detail {

/// The answer to a publisher, and a number of messages in the bus that was never exceeded since
/// the call began.
struct Published {
    PublishResult result;
    std::size_t count;  ///< how many were let in
    std::size_t usedAtMost;
};

}  // namespace sluice::detail
