#pragma once

// eventpp's queue: see sluice/event/event_queue.hpp.

#include <eventpp/eventdispatcher.h>
#include <sluice/event/event_queue.hpp>
#include <sluice/event/high_perf_policy.hpp>
#include <sluice/event/pool_queue_list.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <thread>
#include <tuple>

namespace eventpp {

using sluice::EventQueue;
using sluice::HighPerfPolicy;
using sluice::PoolQueueList;

template <class T, std::size_t Capacity = 4096>
using PoolAllocator = sluice::PoolQueueAllocator<T, Capacity>;

}  // namespace eventpp
