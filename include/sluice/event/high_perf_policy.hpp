#pragma once

#include <sluice/event/event_policies.hpp>

namespace sluice {

/// The name by which programs ask for the fastest queue that several threads share. That is what
/// the defaults are; it says so.
struct HighPerfPolicy {
    using Threading = GeneralThreading<SpinLock>;
};

}  // namespace sluice
