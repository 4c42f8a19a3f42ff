#pragma once

namespace sluice::log::detail {

/// Marks its thread as one that harvests this back end, while it lives. Sinks, formatters, error
/// handlers and hooks run inside such a scope.
class HarvestScope {
public:
    explicit HarvestScope(const void* core) noexcept : before_(harvested_) { harvested_ = core; }
    ~HarvestScope() { harvested_ = before_; }
    HarvestScope(const HarvestScope&) = delete;
    HarvestScope& operator=(const HarvestScope&) = delete;

    /// Whether the calling thread harvests any back end.
    static bool isInside() noexcept { return harvested_ != nullptr; }
    /// Whether the calling thread harvests this back end.
    static bool isInside(const void* core) noexcept { return harvested_ == core; }

private:
    const void* before_;  ///< the value of harvested_ outside of this scope

    /// The core that this thread harvests, or null. All shared libraries share this variable.
    [[gnu::visibility("default")]] inline static thread_local const void* harvested_ = nullptr;
};

}  // namespace sluice::log::detail
