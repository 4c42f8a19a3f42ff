#pragma once

#include <eventpp/internal/language.h>

#include <eventpp/eventpolicies.h>
#include <sluice/eventpp/ordered_queue_list.hpp>

#include <list>

namespace eventpp {

using sluice::OrderedQueueList;
using sluice::OrderedQueueListCompare;

}  // namespace eventpp
