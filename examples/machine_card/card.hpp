#pragma once

#include "parts.hpp"

#include <string>

namespace machine_card {

/// One page about a machine, written as the parts arrive.
class Card {
public:
    void add(const Load& load);
    void add(const Memory& memory);
    void add(const Disk& disk);
    void add(const Interface& interface);

    /// How many parts it has.
    int parts() const noexcept { return parts_; }
    const std::string& text() const noexcept { return text_; }

private:
    void addLine(const char* label, const std::string& value);

    std::string text_;
    int parts_ = 0;
};

}  // namespace machine_card
