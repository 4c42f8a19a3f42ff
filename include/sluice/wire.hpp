#pragma once

// Everything public of the module wire.

#include <sluice/wire/envelope.hpp>
