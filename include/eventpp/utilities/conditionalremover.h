#pragma once

#include <eventpp/internal/language.h>

#include <eventpp/eventpolicies.h>
#include <sluice/eventpp/removers.hpp>

namespace eventpp {

using sluice::ConditionalRemover;
using sluice::conditionalRemover;

}  // namespace eventpp
