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
/// A function template, or a member of a class template, names a function that depends on its own
/// parameters. A program that uses the template makes the call before main(), once for each shared
/// object. A unit that includes the header and does not use the template has no code for the call.
///
/// The call comes before static objects of the program are made. Such an object may use the
/// template all the same, if `Function` allows more than one call.
///
/// Tests: tests/unit/base/at_start_test.cpp.
template <auto Function>
struct AtStart {
    [[gnu::constructor(200)]] static void call() noexcept {
        [[maybe_unused]] static const bool isDone = (static_cast<void>(Function()), true);
    }
};

}  // namespace sluice
