#pragma once

// All public headers of the module event.

#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>
#include <sluice/event/event_policies.hpp>
#include <sluice/event/event_queue.hpp>
#include <sluice/event/event_queue_options.hpp>
#include <sluice/event/scoped_connection.hpp>
