#pragma once

#include <eventpp/internal/language.h>

#include <sluice/eventpp/listener_adapters.hpp>

#include <utility>

namespace eventpp {

using sluice::ConditionalFunctor;
using sluice::conditionalFunctor;

}  // namespace eventpp
