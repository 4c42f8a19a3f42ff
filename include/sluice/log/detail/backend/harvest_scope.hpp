#pragma once

namespace sluice::log::detail {

/// Marks the calling thread as the one that harvests an engine. Sinks, formatters, error handlers
/// and hooks run in its scope.
class HarvestScope {
public:
    explicit HarvestScope(const void* engine) noexcept : before_(harvested_) {
        harvested_ = engine;
    }
    ~HarvestScope() { harvested_ = before_; }
    HarvestScope(const HarvestScope&) = delete;
    HarvestScope& operator=(const HarvestScope&) = delete;

    /// Whether the thread harvests any engine.
    static bool isInside() noexcept { return harvested_ != nullptr; }
    static bool isInside(const void* engine) noexcept { return harvested_ == engine; }

private:
    const void* before_;

    /// The engine that this thread harvests. One for all shared libraries.
    [[gnu::visibility("default")]] inline static thread_local const void* harvested_ = nullptr;
};

}  // namespace sluice::log::detail
