#include "support/dice.hpp"
#include "unit/actor/machine_doubles.hpp"

#include <sluice/actor/state_machine.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <variant>
#include <vector>

// Random messages to a machine and to an interpreter of the same table that looks everything up
// when it runs.

namespace sluice {
namespace {

using namespace test;
using Any = std::variant<Start, Stop, Faster, Fault, Repaired, Again, Outward, Inward>;
using Names = std::vector<std::string>;

class Interpreter {
public:
    Names log;
    bool isClear = true;

    void start() {
        enter("", "Standing");
        begin("Standing");
    }

    MachineResult handle(const Any& message) {
        MachineResult result = offer(message);
        if (result == MachineResult::deferred) {
            if (deferred_.size() == TwoDeferred::maxDeferred) {
                result = MachineResult::refused;
            } else {
                deferred_.push_back(message);
            }
        }
        while (hasChanged_) {
            hasChanged_ = false;
            for (std::size_t i = 0; i < deferred_.size() && !hasChanged_;) {
                if (offer(Any(deferred_[i])) == MachineResult::deferred) {
                    ++i;
                } else {
                    deferred_.erase(deferred_.begin() + static_cast<std::ptrdiff_t>(i));
                }
            }
        }
        return result;
    }
    [[nodiscard]] const std::string& current() const { return current_; }

private:
    enum class Does : unsigned char { change, stay, defer };
    struct Row {
        std::string source;
        std::size_t message;
        Does does;
        std::string target;
        std::string guard;
        std::string action;
    };

    static const std::vector<Row>& rows() {
        static const std::vector<Row> all = {
            {"Standing", 0, Does::change, "Moving", "clear", "drive"},
            {"Standing", 0, Does::stay, "", "", "beep"},
            {"Slow", 2, Does::change, "Fast", "much", "by"},
            {"Moving", 2, Does::stay, "", "", "by"},
            {"Moving", 1, Does::change, "Standing", "", ""},
            {"Working", 3, Does::change, "Broken", "", ""},
            {"Moving", 5, Does::change, "Moving", "", ""},
            {"Fast", 6, Does::change, "Moving", "", ""},
            {"Moving", 7, Does::change, "Fast", "", ""},
            {"Broken", 0, Does::defer, "", "", ""},
            {"Broken", 1, Does::defer, "", "", ""},
            {"Broken", 4, Does::change, "Working", "", ""},
        };
        return all;
    }
    static std::string parent(const std::string& state) {
        static const std::map<std::string, std::string> all = {
            {"Standing", "Working"}, {"Moving", "Working"}, {"Slow", "Moving"}, {"Fast", "Moving"}};
        const auto found = all.find(state);
        return found == all.end() ? "" : found->second;
    }
    static std::string initial(const std::string& state) {
        return state == "Working" ? "Standing" : state == "Moving" ? "Slow" : "";
    }
    /// A state and all that it lies in, the state first; the whole machine last.
    static Names path(std::string state) {
        Names all;
        for (; !state.empty(); state = parent(state)) {
            all.push_back(state);
        }
        all.emplace_back();
        return all;
    }
    static bool isIn(const Names& names, const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    }

    [[nodiscard]] bool isAllowed(const Row& row, const Any& message) const {
        return row.guard.empty() ||
               (row.guard == "clear" ? isClear : std::get<Faster>(message).by > 10);
    }
    void act(const Row& row, const Any& message) {
        if (row.action == "by") {
            log.push_back("by " + std::to_string(std::get<Faster>(message).by));
        } else if (!row.action.empty()) {
            log.push_back(row.action);
        }
    }

    MachineResult offer(const Any& message) {
        for (const std::string& state : path(current_)) {
            for (const Row& row : rows()) {
                if (row.source == state && row.message == message.index() &&
                    isAllowed(row, message)) {
                    return take(row, message);
                }
            }
        }
        return MachineResult::unhandled;
    }
    MachineResult take(const Row& row, const Any& message) {
        if (row.does == Does::defer) {
            return MachineResult::deferred;
        }
        std::string common;
        if (row.does == Does::change) {
            hasChanged_ = true;
            common = parent(row.source);
            if (row.source != row.target) {
                const Names ofTarget = path(row.target);
                const Names ofSource = path(row.source);
                common = *std::find_if(ofSource.begin(), ofSource.end(),
                                       [&](const std::string& s) { return isIn(ofTarget, s); });
            }
            while (current_ != common) {
                log.push_back("-" + current_);
                const std::string outer = parent(current_);
                last_[outer] = current_;
                current_ = outer;
            }
        }
        act(row, message);
        if (row.does == Does::change) {
            enter(common, row.target);
            begin(row.target);
        }
        return MachineResult::handled;
    }

    void enter(const std::string& common, const std::string& state) {
        if (state != common) {
            enter(common, parent(state));
            log.push_back("+" + state);
            current_ = state;
        }
    }
    void begin(const std::string& state) {
        std::string inner = initial(state);
        if (state == "Working" && last_.count(state) != 0) {
            inner = last_[state];
        }
        if (!inner.empty()) {
            enter(state, inner);
            begin(inner);
        }
    }

    std::string current_;
    std::map<std::string, std::string> last_;
    std::deque<Any> deferred_;
    bool hasChanged_ = false;
};

Any randomMessage(Dice& dice) {
    switch (dice() % 8) {
    case 0:
        return Start{};
    case 1:
        return Stop{};
    case 2:
        return Faster{static_cast<int>(dice() % 20)};
    case 3:
        return Fault{};
    case 4:
        return Repaired{};
    case 5:
        return Again{};
    case 6:
        return Outward{};
    default:
        return Inward{};
    }
}

class StateMachineRandom : public testing::TestWithParam<std::uint32_t> {};

TEST_P(StateMachineRandom, DoesWhatTheInterpreterDoes) {
    Dice dice(GetParam());
    Robot robot;
    Machine machine(robot);
    Interpreter interpreter;
    machine.start();
    interpreter.start();
    for (int i = 0; i < 2000; ++i) {
        robot.clear = interpreter.isClear = dice() % 3 != 0;
        const Any message = randomMessage(dice);
        const MachineResult expected = interpreter.handle(message);
        const MachineResult result =
            std::visit([&machine](const auto& m) { return machine.handle(m); }, message);
        ASSERT_EQ(result, expected) << "message " << i;
        ASSERT_EQ(robot.log, interpreter.log) << "message " << i;
        robot.log.clear();
        interpreter.log.clear();
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, StateMachineRandom, testing::Range(1U, 9U));

}  // namespace
}  // namespace sluice
