#pragma once

namespace sluice::detail {

/// Calls a function at the end of a scope, even if an exception ends the scope.
template <class Function>
struct OnExit {
    Function function;
    ~OnExit() { function(); }
};
template <class Function>
OnExit(Function) -> OnExit<Function>;

}  // namespace sluice::detail
