#pragma once

// All public headers of the module bus.

#include <sluice/bus/bus.hpp>
#include <sluice/bus/bus_statistics.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/component.hpp>
#include <sluice/bus/drop_oldest.hpp>
#include <sluice/bus/last_value.hpp>
#include <sluice/bus/loan.hpp>
#include <sluice/bus/messages.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/bus/single_publisher.hpp>
#include <sluice/bus/subscription.hpp>
#include <sluice/bus/visitor.hpp>
