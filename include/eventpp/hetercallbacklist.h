#pragma once

#include <eventpp/internal/language.h>

#include <eventpp/callbacklist.h>
#include <sluice/eventpp/heter_callback_list.hpp>

#include <array>

namespace eventpp {

using sluice::HeterCallbackList;
using sluice::HeterTuple;
using sluice::HeterTupleSize;

namespace internal_ {

template <class PrototypeList, class Policies>
using HeterCallbackListBase = sluice::HeterCallbackList<PrototypeList, Policies>;

}  // namespace internal_

}  // namespace eventpp
