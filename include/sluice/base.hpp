#pragma once

// All public headers of the module base.

#include <sluice/base/assert.hpp>
#include <sluice/base/blocked_signals.hpp>
#include <sluice/base/counter.hpp>
#include <sluice/base/expected.hpp>
#include <sluice/base/on_exit.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/reader_registry.hpp>
#include <sluice/base/ring_storage.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/base/shared_registry.hpp>
#include <sluice/base/single_core_platform.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/base/tagged_head.hpp>
#include <sluice/base/thread_slots.hpp>
#include <sluice/base/utf8.hpp>
#include <sluice/base/version.hpp>
