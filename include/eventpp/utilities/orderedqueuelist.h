#pragma once

// eventpp's OrderedQueueList: see sluice/event/ordered_queue_list.hpp.

#include <eventpp/eventpolicies.h>
#include <sluice/event/ordered_queue_list.hpp>

#include <list>

namespace eventpp {

using sluice::OrderedQueueList;
using sluice::OrderedQueueListCompare;

}  // namespace eventpp
