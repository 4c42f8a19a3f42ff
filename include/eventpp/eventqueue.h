#pragma once

// eventpp's queue: see sluice/event/event_queue.hpp.

#include <eventpp/eventdispatcher.h>
#include <sluice/event/event_queue.hpp>

#include <array>
#include <chrono>
#include <thread>
#include <tuple>

namespace eventpp {

using sluice::EventQueue;

}  // namespace eventpp
