#pragma once

namespace sluice::log::detail {

/// Marks its thread as one that harvests this engine, while it lives. Sinks, formatters, error
/// handlers and hooks run inside such a scope.
class HarvestScope {
public:
    explicit HarvestScope(const void* engine) noexcept : before_(harvested_) {
        harvested_ = engine;
    }
    ~HarvestScope() { harvested_ = before_; }
    HarvestScope(const HarvestScope&) = delete;
    HarvestScope& operator=(const HarvestScope&) = delete;

    /// Whether the calling thread harvests any engine.
    static bool isInside() noexcept { return harvested_ != nullptr; }
    /// Whether the calling thread harvests this engine.
    static bool isInside(const void* engine) noexcept { return harvested_ == engine; }

private:
    const void* before_;  ///< the value of harvested_ outside of this scope

    /// The engine that this thread harvests, or null. All shared libraries share this variable.
    [[gnu::visibility("default")]] inline static thread_local const void* harvested_ = nullptr;
};

}  // namespace sluice::log::detail
