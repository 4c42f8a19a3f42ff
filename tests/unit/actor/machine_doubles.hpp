#pragma once

#include <sluice/actor/state_machine.hpp>

#include <cstddef>
#include <string>
#include <vector>

// A machine with all that machines can have, for the tests of state machines.

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
