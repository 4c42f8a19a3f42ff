#pragma once

#include <sluice/bridge/nats/options.hpp>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

namespace sluice::test {

/// The lines that a bridge tells its observer.
class Notes : public nats::BridgeObserver {
public:
    void changed(const char* link, nats::LinkState state) noexcept override {
        const std::lock_guard guard(mutex_);
        lines_.push_back(std::string(link) + " " + toString(state));
    }
    void trouble(const char* line) noexcept override {
        const std::lock_guard guard(mutex_);
        lines_.emplace_back(line);
    }
    /// How many lines contain the text.
    [[nodiscard]] long count(const std::string& part) {
        const std::lock_guard guard(mutex_);
        return std::count_if(lines_.begin(), lines_.end(), [&](const std::string& line) {
            return line.find(part) != std::string::npos;
        });
    }
    /// How many lines are the text.
    [[nodiscard]] long countExactly(const std::string& line) {
        const std::lock_guard guard(mutex_);
        return std::count(lines_.begin(), lines_.end(), line);
    }
    [[nodiscard]] bool has(const std::string& part) { return count(part) != 0; }

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
};

}  // namespace sluice::test
