// Random machines, made by the compiler from a seed, beside a plain model that interprets the same
// tables with a vector of states.

#include "support/dice.hpp"

#include <sluice/actor/state_machine.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {
namespace {

constexpr int states = 7;
constexpr int types = 4;      ///< of messages; the last one leads through all states
constexpr int rowsOfOne = 2;  ///< rows of one state and type that there may be
constexpr int rowCount = states * types * rowsOfOne;
constexpr int nothing = -1;
constexpr std::size_t maxDeferred = 5;

/// A random number below `limit`, the same for the same arguments.
constexpr int chosen(std::uint32_t seed, int what, int limit) {
    std::uint32_t x = (seed + 1) * 0x9E3779B9U + static_cast<std::uint32_t>(what) * 0x85EBCA6BU;
    x = (x ^ (x >> 16U)) * 0x7FEB352DU;
    x = (x ^ (x >> 15U)) * 0x846CA68BU;
    return static_cast<int>((x ^ (x >> 16U)) % static_cast<std::uint32_t>(limit));
}

enum class Kind : unsigned char { absent, on, stay, defer };

struct Row {
    Kind kind = Kind::absent;
    int source = 0;
    int type = 0;
    int target = 0;
    bool hasGuard = false;
};

/// The parts of a machine, as numbers.
struct Plan {
    std::array<int, states> parents{};
    std::array<int, states> initials{};
    std::array<bool, states> histories{};
    std::array<Row, rowCount> rows{};
};

constexpr bool isInside(const Plan& plan, int inner, int outer) {
    while (inner != nothing && inner != outer) {
        inner = plan.parents[static_cast<std::size_t>(inner)];
    }
    return inner == outer;
}

constexpr Row planRow(std::uint32_t seed, int number) {
    const int place = number % rowsOfOne;
    Row row;
    row.source = number / rowsOfOne / types;
    row.type = number / rowsOfOne % types;
    row.target = chosen(seed, 100 + number, states);
    if (row.type == types - 1) {
        row.kind = place == 0 ? Kind::on : Kind::absent;  // no state is out of reach
        row.target = (row.source + 1) % states;
        return row;
    }
    constexpr std::array<Kind, 8> kinds{Kind::absent, Kind::absent, Kind::on,    Kind::on,
                                        Kind::stay,   Kind::defer,  Kind::defer, Kind::defer};
    row.kind = kinds[static_cast<std::size_t>(chosen(seed, 200 + number, 8))];
    if (place == 0 && row.kind == Kind::defer) {
        row.kind = Kind::stay;  // it has no guard and would hide the second row
    }
    row.hasGuard = row.kind != Kind::defer && (place == 0 || chosen(seed, 300 + number, 2) == 0);
    return row;
}

constexpr Plan makePlan(std::uint32_t seed) {
    Plan plan;
    for (int state = 0; state < states; ++state) {
        const auto at = static_cast<std::size_t>(state);
        plan.parents[at] = chosen(seed, state, state + 1) - 1;
        plan.histories[at] = chosen(seed, 20 + state, 2) == 0;
        plan.initials[at] = nothing;
    }
    for (int state = 0; state < states; ++state) {
        // The first that is drawn of those inside, if there are any.
        for (int draw = 0; draw < 40; ++draw) {
            const int inside = chosen(seed, 1000 + 40 * state + draw, states);
            int& initial = plan.initials[static_cast<std::size_t>(state)];
            if (initial == nothing && inside != state && isInside(plan, inside, state)) {
                initial = inside;
            }
        }
        for (int inside = state + 1; inside < states; ++inside) {
            int& initial = plan.initials[static_cast<std::size_t>(state)];
            if (initial == nothing && isInside(plan, inside, state)) {
                initial = inside;
            }
        }
    }
    for (int row = 0; row < rowCount; ++row) {
        plan.rows[static_cast<std::size_t>(row)] = planRow(seed, row);
    }
    return plan;
}

template <std::uint32_t Seed>
constexpr Plan planOf = makePlan(Seed);

// ---- The steps as numbers: the same for the machine and the model

struct Context {
    std::vector<int> log;
};
void noteEntry(std::vector<int>& log, int state) {
    log.push_back(1000 + state);
}
void noteExit(std::vector<int>& log, int state) {
    log.push_back(2000 + state);
}
void noteAction(std::vector<int>& log, int row, std::uint32_t value) {
    log.push_back(3000 + row);
    log.push_back(static_cast<int>(value & 0xFFFFU));
}
bool guardSays(int row, std::uint32_t value) {
    return ((value >> (static_cast<unsigned>(row) % 16U)) & 1U) != 0;
}

// ---- The machine, as types

template <int Type>
struct Typed {
    std::uint32_t value;
};

template <std::uint32_t Seed, int Number>
struct Named;

struct Whole {};
template <std::uint32_t Seed, int Parent>
struct WithParent {
    using Type = Named<Seed, Parent>;
};
template <class Parented, int Number>
struct Inside {
    using Parent = typename Parented::Type;
};
template <int Number>
struct Inside<Whole, Number> {};
template <class Initially, int Number>
struct Outside {
    using Initial = typename Initially::Type;
};
template <int Number>
struct Outside<Whole, Number> {};
/// The state with this number, or none.
template <std::uint32_t Seed, int Number>
using OrNone = std::conditional_t<Number == nothing, Whole, WithParent<Seed, Number>>;

template <std::uint32_t Seed, int Number>
struct Named : Inside<OrNone<Seed, planOf<Seed>.parents[Number]>, Number>,
               Outside<OrNone<Seed, planOf<Seed>.initials[Number]>, Number> {
    static constexpr bool hasHistory = planOf<Seed>.histories[Number];
    static void enter(Context& context) { noteEntry(context.log, Number); }
    static void exit(Context& context) { noteExit(context.log, Number); }
};

template <int Number, int Type>
bool guard(const Typed<Type>& message) {
    return guardSays(Number, message.value);
}
template <int Number, int Type>
void action(Context& context, const Typed<Type>& message) {
    noteAction(context.log, Number, message.value);
}

template <std::uint32_t Seed, int Number>
constexpr auto rowTable() {
    constexpr Row row = planOf<Seed>.rows[Number];
    using Source = Named<Seed, row.source>;
    using Target = Named<Seed, row.target>;
    using Message = Typed<row.type>;
    using Act = Do<&action<Number, row.type>>;
    using Ask = If<&guard<Number, row.type>>;
    if constexpr (row.kind == Kind::absent) {
        return Transitions<>{};
    } else if constexpr (row.kind == Kind::defer) {
        return Transitions<Defer<Source, Message>>{};
    } else if constexpr (row.kind == Kind::stay && row.hasGuard) {
        return Transitions<Stay<Source, Message, Ask, Act>>{};
    } else if constexpr (row.kind == Kind::stay) {
        return Transitions<Stay<Source, Message, Act>>{};
    } else if constexpr (row.hasGuard) {
        return Transitions<On<Source, Message, Target, Ask, Act>>{};
    } else {
        return Transitions<On<Source, Message, Target, Act>>{};
    }
}

template <class... As, class... Bs>
constexpr Transitions<As..., Bs...> operator+(Transitions<As...> /*a*/, Transitions<Bs...> /*b*/) {
    return {};
}
template <std::uint32_t Seed, int... Numbers>
constexpr auto tableOf(std::integer_sequence<int, Numbers...> /*rows*/) {
    return (rowTable<Seed, Numbers>() + ...);
}
template <std::uint32_t Seed>
using RandomTable = decltype(tableOf<Seed>(std::make_integer_sequence<int, rowCount>{}));

// ---- The model

class Model {
public:
    explicit Model(const Plan& plan) : plan_(plan) { last_.fill(nothing); }

    void start() {
        enterPath(pathOf(0));
        begin(0);
    }
    void stop() {
        leaveUpTo(0);
        discarded_ += deferred_.size();
        deferred_.clear();
        last_.fill(nothing);
    }
    MachineResult handle(int type, std::uint32_t value) {
        MachineResult result = offer(type, value);
        if (result == MachineResult::deferred) {
            if (deferred_.size() == maxDeferred) {
                result = MachineResult::refused;
            } else {
                deferred_.emplace_back(type, value);
            }
        }
        while (hasChanged_) {
            hasChanged_ = false;
            std::deque<std::pair<int, std::uint32_t>> later;
            while (!deferred_.empty() && !hasChanged_) {
                const auto message = deferred_.front();
                deferred_.pop_front();
                const MachineResult again = offer(message.first, message.second);
                if (again == MachineResult::deferred) {
                    later.push_back(message);
                }
                discarded_ += again == MachineResult::unhandled ? 1U : 0U;
            }
            deferred_.insert(deferred_.begin(), later.begin(), later.end());
        }
        return result;
    }

    [[nodiscard]] bool isIn(int state) const {
        return std::find(active_.begin(), active_.end(), state) != active_.end();
    }
    [[nodiscard]] std::size_t deferredCount() const { return deferred_.size(); }
    [[nodiscard]] std::size_t discardedCount() const { return discarded_; }
    std::vector<int> log;

private:
    [[nodiscard]] std::vector<int> pathOf(int state) const {
        std::vector<int> path;
        for (; state != nothing; state = plan_.parents[static_cast<std::size_t>(state)]) {
            path.insert(path.begin(), state);
        }
        return path;
    }

    MachineResult offer(int type, std::uint32_t value) {
        const std::vector<int> active = active_;
        for (auto state = active.rbegin(); state != active.rend(); ++state) {
            for (int number = 0; number < rowCount; ++number) {
                const Row& row = plan_.rows[static_cast<std::size_t>(number)];
                if (row.kind == Kind::absent || row.source != *state || row.type != type ||
                    (row.hasGuard && !guardSays(number, value))) {
                    continue;
                }
                return follow(row, number, value);
            }
        }
        return MachineResult::unhandled;
    }

    MachineResult follow(const Row& row, int number, std::uint32_t value) {
        if (row.kind == Kind::defer) {
            return MachineResult::deferred;
        }
        if (row.kind == Kind::stay) {
            noteAction(log, number, value);
            return MachineResult::handled;
        }
        hasChanged_ = true;
        const std::vector<int> source = pathOf(row.source);
        const std::vector<int> target = pathOf(row.target);
        std::size_t shared = 0;
        while (shared < source.size() && shared < target.size() &&
               source[shared] == target[shared]) {
            ++shared;
        }
        leaveUpTo(row.source == row.target ? shared - 1 : shared);
        if (std::find(source.begin(), source.end(), row.target) != source.end()) {
            last_[static_cast<std::size_t>(row.target)] = nothing;  // a change from inside
        }
        noteAction(log, number, value);
        enterPath(target);
        begin(row.target);
        return MachineResult::handled;
    }

    void leaveUpTo(std::size_t depth) {
        while (active_.size() > depth) {
            const int left = active_.back();
            active_.pop_back();
            noteExit(log, left);
            if (!active_.empty()) {
                last_[static_cast<std::size_t>(active_.back())] = left;
            }
        }
    }
    void enterPath(const std::vector<int>& path) {
        while (active_.size() < path.size()) {
            active_.push_back(path[active_.size()]);
            noteEntry(log, active_.back());
        }
    }
    void begin(int state) {
        while (plan_.initials[static_cast<std::size_t>(state)] != nothing) {
            const auto at = static_cast<std::size_t>(state);
            const bool returns = plan_.histories[at] && last_[at] != nothing;
            state = returns ? last_[at] : plan_.initials[at];
            enterPath(pathOf(state));
        }
    }

    const Plan& plan_;
    std::vector<int> active_;  ///< from the outermost to the innermost state
    std::array<int, states> last_{};
    std::deque<std::pair<int, std::uint32_t>> deferred_;
    std::size_t discarded_ = 0;
    bool hasChanged_ = false;
};

struct RandomTraits {
    static constexpr std::size_t maxDeferred = sluice::maxDeferred;
};

/// How often each result has come, so that a test knows that all of them have.
using Results = std::array<int, 4>;

template <std::uint32_t Seed>
class Pair {
public:
    void run(Results& results) {
        machine_.start();
        model_.start();
        test::Dice dice(Seed * 7919 + 17);
        for (int step = 0; step < 2000 && !testing::Test::HasFailure(); ++step) {
            if (dice() % 200 == 0) {
                machine_.stop();
                model_.stop();
                compare(step);
                machine_.start();
                model_.start();
            }
            const int type = static_cast<int>(dice() % types);
            const std::uint32_t value = dice();
            const MachineResult result =
                handle(type, value, std::make_integer_sequence<int, types>{});
            EXPECT_EQ(result, model_.handle(type, value)) << "seed " << Seed << ", step " << step;
            ++results[static_cast<std::size_t>(result)];
            compare(step);
        }
    }

private:
    template <int... Types>
    MachineResult handle(int type, std::uint32_t value,
                         std::integer_sequence<int, Types...> /*types*/) {
        MachineResult result = MachineResult::unhandled;
        (void)((type == Types && (result = machine_.handle(Typed<Types>{value}), true)) || ...);
        return result;
    }
    template <int... Numbers>
    std::vector<int> machineStates(std::integer_sequence<int, Numbers...> /*states*/) const {
        return {(machine_.template isIn<Named<Seed, Numbers>>() ? 1 : 0)...};
    }
    void compare(int step) {
        std::vector<int> expected;
        for (int state = 0; state < states; ++state) {
            expected.push_back(model_.isIn(state) ? 1 : 0);
        }
        const auto actual = machineStates(std::make_integer_sequence<int, states>{});
        EXPECT_EQ(actual, expected) << "seed " << Seed << ", step " << step;
        EXPECT_EQ(context_.log, model_.log) << "seed " << Seed << ", step " << step;
        EXPECT_EQ(machine_.deferredCount(), model_.deferredCount());
        EXPECT_EQ(machine_.discardedCount(), model_.discardedCount());
        context_.log.clear();
        model_.log.clear();
    }

    Context context_;
    StateMachine<Context, Named<Seed, 0>, RandomTable<Seed>, RandomTraits> machine_{context_};
    Model model_{planOf<Seed>};
};

template <std::uint32_t... Seeds>
void runAll(std::integer_sequence<std::uint32_t, Seeds...> /*seeds*/) {
    Results results{};
    (Pair<Seeds>().run(results), ...);
    for (const int count : results) {
        EXPECT_GT(count, 0) << "a result that never came was not tested";
    }
}

TEST(RandomMachinesTest, StateMachinesDoWhatThePlainModelDoes) {
    runAll(std::make_integer_sequence<std::uint32_t, 12>{});
}

}  // namespace
}  // namespace sluice
