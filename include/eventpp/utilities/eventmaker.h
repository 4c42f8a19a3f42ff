#pragma once

// eventpp's event macros: see sluice/event/event_maker.hpp.

#include <sluice/event/event_maker.hpp>
