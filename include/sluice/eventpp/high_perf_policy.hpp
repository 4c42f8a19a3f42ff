#pragma once

#include <sluice/base/spin_lock.hpp>
#include <sluice/event/event_policies.hpp>
#include <sluice/eventpp/pool_queue_list.hpp>

namespace sluice {

/// For programs written for eventpp, which ask by this name for the fastest shared queue. A queue
/// with the default policies is as fast.
struct HighPerfPolicy {
    using Threading = GeneralThreading<SpinLock>;
    template <class T>
    using QueueList = PoolQueueList<T, 8192>;
};

}  // namespace sluice
