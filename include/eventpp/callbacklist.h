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

/// The base classes that eventpp programs use to name their handle types.
namespace internal_ {

template <class Prototype, class Policies>
using CallbackListBase = sluice::CallbackList<Prototype, Policies>;

}  // namespace internal_

}  // namespace eventpp
