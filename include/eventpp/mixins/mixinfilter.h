#pragma once

#include <eventpp/internal/language.h>

#include <eventpp/callbacklist.h>
#include <sluice/eventpp/mixin_filter.hpp>

namespace eventpp {

using sluice::MixinFilter;

}  // namespace eventpp
