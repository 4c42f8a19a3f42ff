#pragma once

namespace [[gnu::visibility("default")]] sluice {

/// Calls `Function` while the program starts and has one thread.
///
///     template <class Platform>
///     Registry& sharedRegistry() {
///         (void)&AtStart<&sharedRegistry<Platform>>::call;
///         static Registry registry;
///         return registry;
///     }
///
/// Name it in a function template, or in a member of a class template. `Function` must depend on
/// the parameters of the template. A program that uses the template then makes the call before
/// main(), once for each shared object. A unit that does not use it has no code for the call.
///
/// The call comes before the constructors of the program's static objects. A static object may use
/// the template, too, if `Function` allows more than one call.
///
/// Tests: tests/unit/base/at_start_test.cpp.
template <auto Function>
struct AtStart {
    [[gnu::constructor(200)]] static void call() noexcept {
        [[maybe_unused]] static const bool isDone = (static_cast<void>(Function()), true);
    }
};

}  // namespace sluice
