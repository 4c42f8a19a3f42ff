#pragma once

#include "memory.hpp"
#include "site.hpp"

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace sluice::model {

/// One step of an execution.
struct Event {
    std::size_t thread;
    Action action;
    std::size_t object = 0;  // the number of the atomic or of the plain object
    std::memory_order order = std::memory_order_relaxed;
    Word value = 0;
    std::size_t age = 0;  // the number of stores that are newer than the value read
    Site site{"", "", 0};
};

/// The steps of an execution, for the report of a failure.
class Trace {
public:
    void clear() noexcept { events_.clear(); }
    void add(const Event& event) { events_.push_back(event); }
    std::size_t size() const noexcept { return events_.size(); }

    std::string text() const {
        std::string text;
        for (std::size_t i = 0; i < events_.size(); ++i) {
            if (i == shownAtStart && events_.size() > shownAtStart + shownAtEnd) {
                i = events_.size() - shownAtEnd;
                text += " ...\n";
            }
            text += line(i + 1, events_[i]);
        }
        return text;
    }

private:
    static constexpr std::size_t shownAtStart = 150;
    static constexpr std::size_t shownAtEnd = 50;

    static std::string line(std::size_t number, const Event& event) {
        char buffer[256];
        std::snprintf(buffer, sizeof buffer, "%4zu  T%zu%*s %-11s %-8s", number, event.thread,
                      static_cast<int>(4 * event.thread), "", nameOf(event.action),
                      object(event).c_str());
        std::string text = buffer;
        text += details(event);
        if (event.site.line != 0) {
            text.resize(text.size() < 66 ? 66 : text.size(), ' ');
            text += "  " + std::string(event.site.fileName()) + ":" +
                    std::to_string(event.site.line) + " " + std::string(event.site.functionName());
        }
        return text + "\n";
    }

    static std::string object(const Event& event) {
        switch (event.action) {
        case Action::rest:
        case Action::end:
        case Action::lightFence:
        case Action::heavyFence:
            return "";
        case Action::readCell:
        case Action::writeCell:
            return "c" + std::to_string(event.object);
        default:
            return "a" + std::to_string(event.object);
        }
    }

    static std::string details(const Event& event) {
        switch (event.action) {
        case Action::load:
        case Action::failedCompare: {
            const std::string age =
                event.age == 0 ? "" : ", " + std::to_string(event.age) + " behind";
            return " = " + valueText(event.value) + " " + nameOf(event.order) + age;
        }
        case Action::create:
            return " <- " + valueText(event.value);
        case Action::store:
        case Action::update:
            return " <- " + valueText(event.value) + " " + nameOf(event.order);
        default:
            return "";
        }
    }

    static std::string valueText(Word value) {
        char buffer[32];
        std::snprintf(buffer, sizeof buffer, value < 100000 ? "%llu" : "0x%llx",
                      static_cast<unsigned long long>(value));
        return buffer;
    }

    std::vector<Event> events_;
};

}  // namespace sluice::model
