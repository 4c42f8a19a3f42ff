#include <sluice/bridge/nats/detail/trouble_reporter.hpp>

#include <algorithm>
#include <functional>
#include <mutex>

namespace sluice::nats::detail {

void TroubleReporter::tell(Parts parts, Parts detail) noexcept {
    if (observer_ == nullptr || !isNew(parts)) {
        return;
    }
    std::array<char, 512> line;
    char* end = line.data();
    const auto append = [&](std::string_view part) {
        const auto room = static_cast<std::size_t>(line.data() + line.size() - 1 - end);
        end = std::copy_n(part.data(), std::min(part.size(), room), end);
    };
    append(prefix_);
    std::for_each(parts.begin(), parts.end(), append);
    std::for_each(detail.begin(), detail.end(), append);
    *end = '\0';
    observer_->trouble(line.data());
}

/// Whether the line of these parts was not told in the last ten minutes. If so, it now counts as
/// told.
bool TroubleReporter::isNew(Parts parts) noexcept {
    std::size_t hash = 0;
    for (const std::string_view part : parts) {
        hash = hash * 31 + std::hash<std::string_view>{}(part);
    }
    const auto now = Clock::now();
    const std::lock_guard<SpinLock> guard(mutex_);
    const auto isOlder = [](const Line& a, const Line& b) { return a.forgotten < b.forgotten; };
    Line* line = std::find_if(lines_.begin(), lines_.end(),
                              [hash](const Line& each) { return each.hash == hash; });
    if (line == lines_.end()) {
        line = std::min_element(lines_.begin(), lines_.end(), isOlder);
    } else if (now < line->forgotten) {
        return false;
    }
    *line = {hash, now + std::chrono::minutes(10)};
    return true;
}

}  // namespace sluice::nats::detail
