#pragma once

// All public headers of the module eventpp.

#include <sluice/eventpp/any_data.hpp>
#include <sluice/eventpp/any_id.hpp>
#include <sluice/eventpp/event_maker.hpp>
#include <sluice/eventpp/event_util.hpp>
#include <sluice/eventpp/heter_callback_list.hpp>
#include <sluice/eventpp/heter_event_dispatcher.hpp>
#include <sluice/eventpp/heter_event_queue.hpp>
#include <sluice/eventpp/listener_adapters.hpp>
#include <sluice/eventpp/mixin_filter.hpp>
#include <sluice/eventpp/ordered_queue_list.hpp>
#include <sluice/eventpp/queue_names.hpp>
#include <sluice/eventpp/removers.hpp>
