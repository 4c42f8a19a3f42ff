#pragma once

// Everything public of the module eventpp.

#include <sluice/eventpp/any_data.hpp>
#include <sluice/eventpp/any_id.hpp>
#include <sluice/eventpp/any_value_storage.hpp>
#include <sluice/eventpp/argument_adapter.hpp>
#include <sluice/eventpp/conditional_functor.hpp>
#include <sluice/eventpp/conditional_remover.hpp>
#include <sluice/eventpp/counter_remover.hpp>
#include <sluice/eventpp/event_maker.hpp>
#include <sluice/eventpp/event_util.hpp>
#include <sluice/eventpp/heter_callback_list.hpp>
#include <sluice/eventpp/heter_event_dispatcher.hpp>
#include <sluice/eventpp/heter_event_queue.hpp>
#include <sluice/eventpp/heter_tuple.hpp>
#include <sluice/eventpp/heter_void_enqueue.hpp>
#include <sluice/eventpp/high_perf_policy.hpp>
#include <sluice/eventpp/mixin_filter.hpp>
#include <sluice/eventpp/mixin_heter_filter.hpp>
#include <sluice/eventpp/ordered_queue_list.hpp>
#include <sluice/eventpp/pool_queue_list.hpp>
#include <sluice/eventpp/scoped_remover.hpp>
#include <sluice/eventpp/void_enqueue.hpp>
