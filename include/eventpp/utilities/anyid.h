#pragma once

#include <eventpp/internal/language.h>

#include <sluice/eventpp/any_id.hpp>

#include <functional>

namespace eventpp {

using sluice::AnyHashableId;
using sluice::AnyId;
using sluice::EmptyAnyStorage;

}  // namespace eventpp
