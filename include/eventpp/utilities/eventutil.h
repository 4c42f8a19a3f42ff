#pragma once

#include <eventpp/internal/language.h>

#include <sluice/eventpp/event_util.hpp>

namespace eventpp {

using sluice::hasAnyListener;
using sluice::hasListener;
using sluice::removeListener;

}  // namespace eventpp
