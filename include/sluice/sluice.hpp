#pragma once

// Everything public of every module.

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
