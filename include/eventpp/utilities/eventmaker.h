#pragma once

#include <eventpp/internal/language.h>

#include <sluice/eventpp/event_maker.hpp>
