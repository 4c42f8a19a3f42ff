#include "support/dice.hpp"

#include <sluice/actor/state_machine.hpp>

#include "support/testing.hpp"

namespace sluice::test {

using Log = std::vector<std::string>;

struct Robot {
    bool isClear() const { return clear; }
    void drive() { log.emplace_back("drive"); }
    Log log;
    bool clear = true;
};

struct Start {};
struct Stop {};
struct Faster {
    int by;
};
struct Fault {};
struct Repaired {};
struct Again {};
struct Outward {};
struct Inward {};

template <class State>
struct Noted {
    static void enter(Robot& robot) { robot.log.emplace_back(std::string("+") + State::name); }
    static void exit(Robot& robot) { robot.log.emplace_back(std::string("-") + State::name); }
};

struct Standing;
struct Slow;
struct Working : Noted<Working> {
    static constexpr const char* name = "Working";
    using Initial = Standing;
    static constexpr bool hasHistory = true;
};
struct Standing : Noted<Standing> {
    static constexpr const char* name = "Standing";
    using Parent = Working;
};
struct Moving : Noted<Moving> {
    static constexpr const char* name = "Moving";
    using Parent = Working;
    using Initial = Slow;
};
struct Slow : Noted<Slow> {
    static constexpr const char* name = "Slow";
    using Parent = Moving;
};
struct Fast : Noted<Fast> {
    static constexpr const char* name = "Fast";
    using Parent = Moving;
};
struct Broken : Noted<Broken> {
    static constexpr const char* name = "Broken";
};

inline bool isMuch(const Faster& faster) {
    return faster.by > 10;
}
inline void note(Robot& robot, const Faster& faster) {
    robot.log.emplace_back("by " + std::to_string(faster.by));
}
inline void beep(Robot& robot) {
    robot.log.emplace_back("beep");
}

using Table = Transitions<On<Standing, Start, Moving, If<&Robot::isClear>, Do<&Robot::drive>>,  //
                          Stay<Standing, Start, Do<&beep>>,                                     //
                          On<Slow, Faster, Fast, If<&isMuch>, Do<&note>>,                       //
                          Stay<Moving, Faster, Do<&note>>,                                      //
                          On<Moving, Stop, Standing>,                                           //
                          On<Working, Fault, Broken>,                                           //
                          On<Moving, Again, Moving>,                                            //
                          On<Fast, Outward, Moving>,                                            //
                          On<Moving, Inward, Fast>,                                             //
                          Defer<Broken, Start>,                                                 //
                          Defer<Broken, Stop>,                                                  //
                          On<Broken, Repaired, Working>>;

struct TwoDeferred {
    static constexpr std::size_t maxDeferred = 2;
};
using Machine = StateMachine<Robot, Standing, Table, TwoDeferred>;

}  // namespace sluice::test

namespace sluice {
namespace {
namespace machines {

using namespace test;

struct Left {
    struct Same {};
};
struct Right {
    struct Same {};
};

struct Caller {
    void* machine = nullptr;
};
struct Calls {
    static void enter(Caller& caller);
};
using CallingMachine = StateMachine<Caller, Calls, Transitions<Stay<Calls, Start>>>;
void Calls::enter(Caller& caller) {
    static_cast<CallingMachine*>(caller.machine)->handle(Start{});
}

TEST(StateMachineDeathTest, AFunctionOfAMachineDoesNotCallIt) {
    Caller caller;
    CallingMachine machine(caller);
    caller.machine = &machine;
    EXPECT_DEATH(machine.start(), "let the function post a message");
}

/// A message whose copies must not be copied or moved.
struct Label {
    explicit Label(int n) : number(n) {}
    Label(const Label& other) : number(other.number), isCopy(true) {
        EXPECT_FALSE(other.isCopy) << "the machine keeps it in one place";
    }
    Label& operator=(const Label&) = delete;
    ~Label() = default;

    const int number;
    const bool isCopy = false;
};
struct Closed {};
struct Open {};
struct Read {};
struct Reader {
    std::vector<int> numbers;
};
bool isOdd(const Label& label) {
    return label.number % 2 != 0;
}
void read(Reader& reader, const Label& label) {
    reader.numbers.push_back(label.number);
}

TEST(StateMachineOrderTest, ADeferredMessageIsCopiedOnceAndNotMoved) {
    Reader reader;
    StateMachine<Reader, Closed,
                 Transitions<On<Closed, Start, Open>, Defer<Closed, Label>,
                             Stay<Open, Label, If<&isOdd>, Do<&read>>, Defer<Open, Label>,
                             On<Open, Stop, Closed>, On<Closed, Repaired, Read>,
                             Stay<Read, Label, Do<&read>>>>
        machine(reader);
    machine.start();
    for (int number = 1; number <= 4; ++number) {
        EXPECT_EQ(machine.handle(Label(number)), MachineResult::deferred);
    }
    machine.handle(Start{});
    EXPECT_EQ(reader.numbers, (std::vector<int>{1, 3}));
    machine.handle(Stop{});
    EXPECT_EQ(machine.handle(Label(5)), MachineResult::deferred);
    machine.handle(Repaired{});
    EXPECT_EQ(reader.numbers, (std::vector<int>{1, 3, 2, 4, 5}));
    EXPECT_EQ(machine.deferredCount(), 0U);
}

/// Its end counts the messages of a machine.
struct Counting {
    explicit Counting(std::function<void()> f) : atEnd(std::move(f)) {}
    Counting(const Counting&) = default;
    Counting& operator=(const Counting&) = default;
    ~Counting() { atEnd(); }
    std::function<void()> atEnd;
};

TEST(StateMachineOrderTest, ADiscardedMessageIsCountedOnce) {
    Robot robot;
    StateMachine<Robot, Closed, Transitions<On<Closed, Start, Open>, Defer<Closed, Counting>>>
        machine(robot);
    std::size_t counted = 0;
    machine.start();
    {
        const Counting message(
            [&] { counted = machine.deferredCount() + machine.discardedCount(); });
        EXPECT_EQ(machine.handle(message), MachineResult::deferred);
    }
    machine.stop();
    EXPECT_EQ(counted, 1U);
    EXPECT_EQ(machine.discardedCount(), 1U);
}

TEST(StateMachineSizeTest, AMachineThatDefersNothingKeepsNoRoomForIt) {
    using Small = Transitions<On<Left::Same, Start, Right::Same>>;
    EXPECT_LE(sizeof(StateMachine<Robot, Left::Same, Small>), 6 * sizeof(void*));
}

#if defined(__cpp_exceptions)
struct Careless {};
struct Home {};
struct Away {};

struct Task {
    int number;
};
struct Worker {
    std::vector<int> begun;
};
void work(Worker& worker, const Task& task) {
    worker.begun.push_back(task.number);
    if (task.number == 1) {
        throw task.number;
    }
}

TEST(StateMachineExceptionTest, ADeferredMessageThatThrowsComesBackOnceAndTheOthersFollow) {
    Worker worker;
    StateMachine<Worker, Home,
                 Transitions<On<Home, Start, Away>, Defer<Home, Task>, Stay<Away, Task, Do<&work>>,
                             Stay<Away, Stop>>>
        machine(worker);
    machine.start();
    for (int number = 1; number <= 3; ++number) {
        EXPECT_EQ(machine.handle(Task{number}), MachineResult::deferred);
    }
    EXPECT_THROW(machine.handle(Start{}), int);
    EXPECT_TRUE(machine.isIn<Away>());
    EXPECT_EQ(worker.begun, std::vector<int>{1});
    EXPECT_EQ(machine.deferredCount(), 2U);
    EXPECT_EQ(machine.handle(Stop{}), MachineResult::handled);
    EXPECT_EQ(worker.begun, (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(machine.deferredCount(), 0U);
    EXPECT_EQ(machine.discardedCount(), 0U);
}

/// A message whose copy may fail.
struct Heavy {
    explicit Heavy(bool isTooHeavy) : fails(isTooHeavy) {}
    Heavy(const Heavy& other) : fails(other.fails) {
        if (fails) {
            throw 3;
        }
    }
    Heavy& operator=(const Heavy&) = delete;
    ~Heavy() = default;
    bool fails;
};

TEST(StateMachineExceptionTest, AMessageWhoseCopyThrowsIsNotDeferred) {
    Careless context;
    StateMachine<Careless, Home,
                 Transitions<On<Home, Start, Away>, Defer<Home, Heavy>, Stay<Away, Heavy>>>
        machine(context);
    machine.start();
    EXPECT_EQ(machine.handle(Heavy(false)), MachineResult::deferred);
    EXPECT_THROW(machine.handle(Heavy(true)), int);
    EXPECT_EQ(machine.deferredCount(), 1U);
    EXPECT_EQ(machine.handle(Heavy(false)), MachineResult::deferred);
    EXPECT_EQ(machine.handle(Start{}), MachineResult::handled);
    EXPECT_EQ(machine.deferredCount(), 0U);
    EXPECT_EQ(machine.discardedCount(), 0U);
}

struct Shaky {};
struct Unsafe {
    static void enter() { throw 2; }
};

TEST(StateMachineExceptionTest, AMachineThatHasLeftAllStatesCanBeStartedAgain) {
    Shaky shaky;
    StateMachine<Shaky, Home,
                 Transitions<On<Home, Start, Away>, Stay<Home, Stop>, Defer<Away, Stop>,
                             On<Away, Start, Unsafe>, On<Unsafe, Start, Home>>>
        machine(shaky);
    machine.start();
    machine.handle(Start{});
    machine.handle(Stop{});
    EXPECT_THROW(machine.handle(Start{}), int);
    EXPECT_FALSE(machine.isRunning());
    EXPECT_EQ(machine.handle(Start{}), MachineResult::unhandled);
    EXPECT_EQ(machine.deferredCount(), 1U) << "it waits for a machine that runs";
    EXPECT_TRUE(machine.start());
    EXPECT_EQ(machine.deferredCount(), 0U) << "Home takes it";
    EXPECT_EQ(machine.discardedCount(), 0U);
}
#endif

}  // namespace machines

namespace rows {

struct Counter {
    bool isFree() const { return true; }
    bool isSmall(const struct Number& number) const;
    void count() { ++calls; }
    void countMessage(const struct Number& /*number*/) { ++calls; }
    int calls = 0;
};
struct Number {
    int value;
};
bool Counter::isSmall(const Number& number) const {
    return number.value < 10;
}

int calls = 0;
bool always() {
    return true;
}
bool hasFreeCounter(const Counter& counter) {
    return counter.isFree();
}
bool isPositive(const Number& number) {
    return number.value > 0;
}
bool isBelow(const Counter& counter, const Number& number) {
    return counter.isSmall(number);
}
void callAlone() {
    ++calls;
}
void callWithContext(Counter& counter) {
    counter.count();
}
void callWithMessage(const Number& /*number*/) {
    ++calls;
}
void callWithBoth(Counter& counter, const Number& number) {
    counter.countMessage(number);
}

struct State {};

/// Whether a machine with this guard and this action handles the message.
template <auto Guard, auto Action>
bool handles(Counter& counter, int value) {
    StateMachine<Counter, State, Transitions<Stay<State, Number, If<Guard>, Do<Action>>>> machine(
        counter);
    machine.start();
    return machine.handle(Number{value}) == MachineResult::handled;
}

TEST(TransitionsTest, GuardsAndActionsTakeWhatTheyNeed) {
    Counter counter;
    EXPECT_TRUE((handles<&always, &callAlone>(counter, 1)));
    EXPECT_TRUE((handles<&hasFreeCounter, &callWithContext>(counter, 1)));
    EXPECT_TRUE((handles<&isPositive, &callWithMessage>(counter, 1)));
    EXPECT_FALSE((handles<&isPositive, &callWithMessage>(counter, -1)));
    EXPECT_TRUE((handles<&isBelow, &callWithBoth>(counter, 1)));
    EXPECT_FALSE((handles<&isBelow, &callWithBoth>(counter, 10)));
    EXPECT_TRUE((handles<&Counter::isFree, &Counter::count>(counter, 1)));
    EXPECT_TRUE((handles<&Counter::isSmall, &Counter::countMessage>(counter, 1)));
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(counter.calls, 4);
}

}  // namespace rows
namespace randomMachines {

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
    static constexpr std::size_t maxDeferred = randomMachines::maxDeferred;
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

}  // namespace randomMachines
}  // namespace
}  // namespace sluice
