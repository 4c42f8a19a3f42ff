#pragma once

namespace sluice::log::detail {

/// While one lives, its thread harvests this engine. Sinks, formatters, error handlers and hooks
/// run inside.
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
    const void* before_;  ///< harvested_ outside of this scope

    /// The engine that this thread harvests, or null. All shared libraries have the same variable.
    [[gnu::visibility("default")]] inline static thread_local const void* harvested_ = nullptr;
};

}  // namespace sluice::log::detail
