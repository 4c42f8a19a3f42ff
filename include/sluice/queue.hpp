#pragma once

// All public headers of the module queue.

#include <sluice/queue/blocking_queue.hpp>
#include <sluice/queue/latest.hpp>
#include <sluice/queue/mpmc_lanes.hpp>
#include <sluice/queue/mpmc_ring.hpp>
#include <sluice/queue/mpsc_lanes.hpp>
#include <sluice/queue/mpsc_ring.hpp>
#include <sluice/queue/overwrite_ring.hpp>
#include <sluice/queue/queue_traits.hpp>
#include <sluice/queue/segment_queue.hpp>
#include <sluice/queue/spsc_ring.hpp>
