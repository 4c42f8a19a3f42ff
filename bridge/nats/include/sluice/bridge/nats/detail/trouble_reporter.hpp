#pragma once

#include <sluice/bridge/nats/link.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <string>
#include <utility>

namespace sluice::nats::detail {

/// Tells the observer about trouble on a route: one line for each kind of trouble.
///
/// Threads: any thread may call it.
class TroubleReporter {
public:
    enum Kind : unsigned {
        malformed = 1U << 0U,
        otherSchema = 1U << 1U,
        tooManyHops = 1U << 2U,
        refused = 1U << 3U,
        gap = 1U << 4U,
        clock = 1U << 5U,
        tooLarge = 1U << 6U,
        congested = 1U << 7U,
        unencodable = 1U << 8U
    };

    /// The observer may be null. Each line begins with the name of the route.
    TroubleReporter(LinkObserver* observer, std::string route)
        : observer_(observer), route_(std::move(route)) {}

    /// Tells the observer about this kind, if it has not been told yet. A line has at most 255
    /// bytes.
    void tellOnce(Kind kind, const char* text) noexcept {
        // Relaxed: the bits order nothing. The load keeps repeated trouble cheap.
        if (observer_ == nullptr || (told_.load(std::memory_order_relaxed) & kind) != 0 ||
            (told_.fetch_or(kind, std::memory_order_relaxed) & kind) != 0) {
            return;
        }
        std::array<char, 256> line{};
        (void)std::snprintf(line.data(), line.size(), "nats: %s: %s", route_.c_str(), text);
        observer_->trouble(line.data());
    }

private:
    LinkObserver* const observer_;
    const std::string route_;
    std::atomic<unsigned> told_{0};  ///< bits of the kinds that the observer was told
};

}  // namespace sluice::nats::detail
