#pragma once

#include <sluice/bus/publish_result.hpp>

#include <cstddef>

namespace sluice::detail {

/// The answer to a publisher.
struct Published {
    PublishResult result;
    std::size_t count;  ///< how many messages were accepted

    /// There was no room.
    [[nodiscard]] constexpr bool isRefused() const noexcept {
        return result == PublishResult::full || result == PublishResult::refused;
    }
};

}  // namespace sluice::detail
