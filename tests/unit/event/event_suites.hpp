#pragma once

#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>
#include <sluice/event/event_policies.hpp>

#include "support/testing.hpp"

namespace sluice::test {

struct SingleThreadPolicies {
    using Threading = SingleThreading;
};

struct OwnLockPolicies {
    using Threading = GeneralThreading<SpinLock>;
};

/// The policies under which lists and dispatchers must behave the same. Suites of the code that
/// depends on the policies use AllPolicies. The other suites use CommonPolicies: the default, and
/// the policies that differ the most. With SLUICE_TEST_ALL_POLICIES these have all of them, too.
using AllPolicies = testing::Types<DefaultPolicies, SingleThreadPolicies, OwnLockPolicies>;
#ifdef SLUICE_TEST_ALL_POLICIES
using CommonPolicies = AllPolicies;
#else
using CommonPolicies = testing::Types<DefaultPolicies, SingleThreadPolicies>;
#endif

struct PolicyNames {
    template <class Policies>
    static std::string GetName(int) {
        if (std::is_same_v<Policies, SingleThreadPolicies>) {
            return "SingleThreading";
        }
        return std::is_same_v<Policies, DefaultPolicies> ? "MultipleThreading" : "GeneralThreading";
    }
};

}  // namespace sluice::test
