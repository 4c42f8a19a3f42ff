#pragma once

#include <eventpp/internal/language.h>

#include <eventpp/hetercallbacklist.h>
#include <sluice/eventpp/mixin_filter.hpp>

namespace eventpp {

using sluice::MixinHeterFilter;

}  // namespace eventpp
