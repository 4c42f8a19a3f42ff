#pragma once

#include <sluice/base/spin_lock.hpp>
#include <sluice/event/event_policies.hpp>
#include <sluice/event/pool_queue_list.hpp>

namespace sluice {

/// The name by which programs written for eventpp ask for the fastest queue that several threads
/// share. The defaults are as fast.
struct HighPerfPolicy {
    using Threading = GeneralThreading<SpinLock>;
    template <class T>
    using QueueList = PoolQueueList<T, 8192>;
};

}  // namespace sluice
