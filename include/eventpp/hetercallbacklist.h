#pragma once

#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "Sluice needs C++17: compile with -std=c++17 or later"
#else

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

#endif
