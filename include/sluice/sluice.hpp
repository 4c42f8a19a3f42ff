#pragma once

// All public headers of all modules but log, which needs spdlog.

#include <sluice/actor.hpp>
#include <sluice/base.hpp>
#include <sluice/bus.hpp>
#include <sluice/event.hpp>
#include <sluice/eventpp.hpp>
#include <sluice/fixed.hpp>
#include <sluice/inspect.hpp>
#include <sluice/memory.hpp>
#include <sluice/queue.hpp>
#include <sluice/wait.hpp>
#include <sluice/wire.hpp>
