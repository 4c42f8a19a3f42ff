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

/// What the looks of a harvest have come to.
struct Looks {
    std::size_t ends = 0;      ///< of gates, found one after the other
    std::size_t used = 0;      ///< the most messages that were seen at a gate
    std::size_t backlogs = 0;  ///< that were asked for in full: of each gate one before the second
    bool isBegun = false;
};

}  // namespace sluice::detail
