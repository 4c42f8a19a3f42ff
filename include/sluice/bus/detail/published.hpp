#pragma once

#include <sluice/bus/publish_result.hpp>

#include <cstddef>

namespace sluice::detail {

/// The answer to a publisher.
struct Published {
    PublishResult result;
    std::size_t count;  ///< how many messages were accepted
};

}  // namespace sluice::detail
