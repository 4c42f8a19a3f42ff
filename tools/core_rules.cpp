// The core, for `./dev check`: clang-tidy applies core_rules.clang-tidy to these headers.
#include <sluice/base.hpp>
#include <sluice/bus.hpp>
#include <sluice/fixed.hpp>
#include <sluice/memory.hpp>
#include <sluice/queue.hpp>
#include <sluice/wait.hpp>
