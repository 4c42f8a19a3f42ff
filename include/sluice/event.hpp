#pragma once

// Everything public of the module event.

#include <sluice/event/any_data.hpp>
#include <sluice/event/any_id.hpp>
#include <sluice/event/any_scoped_connection.hpp>
#include <sluice/event/any_value_storage.hpp>
#include <sluice/event/argument_adapter.hpp>
#include <sluice/event/callback_list.hpp>
#include <sluice/event/conditional_functor.hpp>
#include <sluice/event/conditional_remover.hpp>
#include <sluice/event/counter_remover.hpp>
#include <sluice/event/event_dispatcher.hpp>
#include <sluice/event/event_maker.hpp>
#include <sluice/event/event_policies.hpp>
#include <sluice/event/event_queue.hpp>
#include <sluice/event/event_queue_options.hpp>
#include <sluice/event/event_queue_statistics.hpp>
#include <sluice/event/event_util.hpp>
#include <sluice/event/heter_callback_list.hpp>
#include <sluice/event/heter_event_dispatcher.hpp>
#include <sluice/event/heter_event_queue.hpp>
#include <sluice/event/heter_tuple.hpp>
#include <sluice/event/heter_void_enqueue.hpp>
#include <sluice/event/high_perf_policy.hpp>
#include <sluice/event/member_listener.hpp>
#include <sluice/event/mixin_filter.hpp>
#include <sluice/event/mixin_heter_filter.hpp>
#include <sluice/event/ordered_queue_list.hpp>
#include <sluice/event/pool_queue_list.hpp>
#include <sluice/event/scoped_connection.hpp>
#include <sluice/event/scoped_remover.hpp>
#include <sluice/event/type_dispatcher.hpp>
#include <sluice/event/void_enqueue.hpp>
