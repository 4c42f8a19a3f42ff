#pragma once

#include <eventpp/internal/language.h>

#include <eventpp/eventdispatcher.h>
#include <sluice/eventpp/queue_names.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <thread>
#include <tuple>

namespace eventpp {

using sluice::HighPerfPolicy;
using sluice::PoolQueueList;
using sluice::void_enqueue::EventQueue;

template <class T, std::size_t Capacity = 4096>
using PoolAllocator = sluice::PoolQueueAllocator<T, Capacity>;

namespace internal_ {

template <class Event, class Prototype, class Policies>
using EventQueueBase = sluice::void_enqueue::EventQueue<Event, Prototype, Policies>;

}  // namespace internal_

}  // namespace eventpp
