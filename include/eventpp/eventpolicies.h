#pragma once

#include <eventpp/internal/language.h>

#include <sluice/base/platform.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/event/event_policies.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>

#ifndef EVENTPP_CACHELINE_SIZE
#if defined(__APPLE__) && defined(__aarch64__)
#define EVENTPP_CACHELINE_SIZE 128
#else
#define EVENTPP_CACHELINE_SIZE 64
#endif
#endif
#define EVENTPP_ALIGN_CACHELINE alignas(EVENTPP_CACHELINE_SIZE)

namespace eventpp {

using sluice::ArgumentPassingAutoDetect;
using sluice::ArgumentPassingExcludeEvent;
using sluice::ArgumentPassingIncludeEvent;
using sluice::DefaultPolicies;
using sluice::GeneralThreading;
using sluice::MixinList;
using sluice::MultipleThreading;
using sluice::SingleThreading;
using sluice::SpinLock;
using sluice::TagCallbackList;
using sluice::TagEventDispatcher;
using sluice::TagEventQueue;
using sluice::TagHeter;
using sluice::TagHeterCallbackList;
using sluice::TagHeterEventDispatcher;
using sluice::TagHeterEventQueue;
using sluice::TagHomo;

}  // namespace eventpp
