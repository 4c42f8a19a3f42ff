#pragma once

#include <eventpp/internal/language.h>

#include <sluice/eventpp/listener_adapters.hpp>

#include <memory>

namespace eventpp {

using sluice::ArgumentAdapter;
using sluice::argumentAdapter;

}  // namespace eventpp
