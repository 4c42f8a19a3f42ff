#pragma once

// All public headers of the module actor.

#include <sluice/actor/active_event_queue.hpp>
#include <sluice/actor/active_object.hpp>
#include <sluice/actor/actor_traits.hpp>
#include <sluice/actor/coroutine.hpp>
#include <sluice/actor/executor.hpp>
#include <sluice/actor/handler_times.hpp>
#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/manual_traits.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/request.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/actor/state_machine.hpp>
#include <sluice/actor/thread_options.hpp>
#include <sluice/actor/thread_pool.hpp>
#include <sluice/actor/timer.hpp>
#include <sluice/actor/watchdog.hpp>
