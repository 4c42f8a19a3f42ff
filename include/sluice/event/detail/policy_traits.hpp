#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/event/event_policies.hpp>

#include <functional>
#include <type_traits>
#include <utility>

// Reads the settings of a policy struct, with defaults for missing settings.

namespace sluice::detail {

template <template <class...> class Query, class Enable, class... Args>
struct IsDetected : std::false_type {};
template <template <class...> class Query, class... Args>
struct IsDetected<Query, std::void_t<Query<Args...>>, Args...> : std::true_type {};

template <template <class...> class Query, class... Args>
inline constexpr bool isDetected = IsDetected<Query, void, Args...>::value;

/// False for all types. A static_assert on this dependent name fails only at instantiation.
template <class...>
inline constexpr bool never = false;

template <class Prototype>
struct PrototypeTag {};

template <class Default, template <class...> class Query, class Policies, class = void>
struct PolicyOr {
    using Type = Default;
};
template <class Default, template <class...> class Query, class Policies>
struct PolicyOr<Default, Query, Policies, std::void_t<Query<Policies>>> {
    using Type = Query<Policies>;
};

template <class P>
using ThreadingMember = typename P::Threading;
template <class Policies>
using ThreadingOf = typename PolicyOr<MultipleThreading, ThreadingMember, Policies>::Type;

template <class Threading>
inline constexpr bool isSingleThreading = std::is_base_of_v<SingleThreading, Threading>;

template <class Threading>
using LockOf = std::conditional_t<std::is_same_v<Threading, MultipleThreading>, SpinLock,
                                  typename Threading::Mutex>;

struct SingleThreadPlatform {
    template <class T>
    using Atomic = SingleThreading::Atomic<T>;
    template <class T>
    using Cell = sluice::Cell<T>;
    using Clock = StdPlatform::Clock;
    static constexpr char mark = 0;
    static const void* thisThread() noexcept { return &mark; }
    static void pause() noexcept {}
    static void yield() noexcept {}
};

template <class T>
using PlatformMember = typename T::Platform;
template <class Threading>
using PlatformOf =
    std::conditional_t<isSingleThreading<Threading>, SingleThreadPlatform,
                       typename PolicyOr<StdPlatform, PlatformMember, Threading>::Type>;

template <class P>
using CallbackMember = typename P::Callback;
template <class Policies, class Prototype>
using CallbackOf = typename PolicyOr<std::function<Prototype>, CallbackMember, Policies>::Type;

}  // namespace sluice::detail
