#pragma once

// All public headers of the module wait.

#include <sluice/wait/event_fd_wait.hpp>
#include <sluice/wait/park.hpp>
#include <sluice/wait/portable_parkers.hpp>
#include <sluice/wait/spin_waits.hpp>
#include <sluice/wait/wait_set.hpp>
