#pragma once

#include <eventpp/internal/language.h>

#include <eventpp/eventpolicies.h>
#include <sluice/eventpp/removers.hpp>

#include <algorithm>
#include <vector>

namespace eventpp {

using sluice::ScopedRemover;

}  // namespace eventpp
