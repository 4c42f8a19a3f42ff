#pragma once

// eventpp's AnyId: see sluice/event/any_id.hpp.

#include <sluice/event/any_id.hpp>

#include <functional>

namespace eventpp {

using sluice::AnyHashableId;
using sluice::AnyId;
using sluice::EmptyAnyStorage;

}  // namespace eventpp
