#include <sluice/actor/state_machine.hpp>

struct Context {
    bool isReady() const;
};
struct Go {};
struct Back {};

template <class First, class Table>
void make(Context& context) {
    sluice::StateMachine<Context, First, Table> machine(context);
    machine.start();
}

struct Home {};
struct Away {};
struct Far {
    using Parent = Away;
};
using sluice::Defer;
using sluice::If;
using sluice::On;
using sluice::Transitions;

#if CASE == 0
struct Outside {
    using Initial = struct Near;
};
struct Near {
    using Parent = Outside;
};
void use(Context& context) {
    make<Home, Transitions<On<Home, Go, Outside, If<&Context::isReady>>, On<Home, Go, Near>,
                           On<Outside, Back, Home>>>(context);
}
#elif CASE == 1
// EXPECT: a row of the machine is never used
void use(Context& context) {
    make<Home, Transitions<On<Home, Go, Away>, On<Home, Go, Home>>>(context);
}
#elif CASE == 2
// EXPECT: a state of the machine is never reached from its first one
void use(Context& context) {
    make<Home, Transitions<On<Away, Go, Home>>>(context);
}
#elif CASE == 3
// EXPECT: a state with inner states must name the first of them
void use(Context& context) {
    make<Home, Transitions<On<Home, Go, Far>>>(context);
}
#elif CASE == 5
// EXPECT: is no state inside of it
struct Wrong {
    using Initial = Home;
};
void use(Context& context) {
    make<Home, Transitions<On<Home, Go, Wrong>>>(context);
}
#elif CASE == 6
// EXPECT: more than one .If.: write one guard for both
template void
make<Home, Transitions<On<Home, Go, Home, If<&Context::isReady>, If<&Context::isReady>>>>(Context&);
#elif CASE == 7
// EXPECT: this state is not in the machine's table
bool use(Context& context) {
    sluice::StateMachine<Context, Home, Transitions<On<Home, Go, Home>>> machine(context);
    return machine.isIn<Away>();
}
#endif
