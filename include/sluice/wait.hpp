#pragma once

// Everything public of the module wait.

#include <sluice/wait/batch_pacing.hpp>
#include <sluice/wait/event_count.hpp>
#include <sluice/wait/event_fd_wait.hpp>
#include <sluice/wait/park.hpp>
#include <sluice/wait/spin_waits.hpp>
