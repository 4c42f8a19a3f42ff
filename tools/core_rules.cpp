// The core, for `./dev check`: core_rules.clang-tidy is held against what these headers hold.
#include <sluice/base.hpp>
#include <sluice/bus.hpp>
#include <sluice/fixed.hpp>
#include <sluice/memory.hpp>
#include <sluice/queue.hpp>
#include <sluice/wait.hpp>
