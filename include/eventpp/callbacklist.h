#pragma once

#include <eventpp/internal/language.h>

#include <eventpp/eventpolicies.h>
#include <sluice/event/callback_list.hpp>

#include <cassert>
#include <functional>
#include <mutex>
#include <vector>

namespace eventpp {

using sluice::CallbackList;

/// eventpp's own bases, which programs name for their handles.
namespace internal_ {

template <class Prototype, class Policies>
using CallbackListBase = sluice::CallbackList<Prototype, Policies>;

}  // namespace internal_

}  // namespace eventpp
