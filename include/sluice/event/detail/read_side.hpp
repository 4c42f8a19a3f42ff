#pragma once

#include <sluice/base/epoch.hpp>
#include <sluice/event/detail/policy_traits.hpp>

#include <type_traits>

// How listeners are read while others change them, and freed when nobody reads them any more.

namespace sluice::detail {

template <class Threading>
inline constexpr bool isSingleThreading = std::is_base_of_v<SingleThreading, Threading>;

template <class T>
using PlatformMember = typename T::Platform;

/// The lock of a list. A polling one by default: see MultipleThreading.
template <class Threading>
using LockOf = std::conditional_t<std::is_same_v<typename Threading::Mutex, std::mutex> &&
                                      std::is_same_v<Threading, MultipleThreading>,
                                  SpinLock, typename Threading::Mutex>;

/// For objects of several threads: sections of an epoch domain that all of them share, so that a
/// list can be destroyed by its own callback. Never destroyed itself, as static objects may use it
/// to the end.
///
/// A Threading may bring a domain of its own as `static EpochDomain& epochDomain()`: for callbacks
/// that stay inside for long, such as an event loop, and would hold back what others remove.
template <class Threading>
class ReadSide {
public:
    using Platform = typename PolicyOr<StdPlatform, PlatformMember, Threading>::Type;
    using Domain = BasicEpochDomain<Platform>;

    [[nodiscard]] static typename Domain::Guard enter() { return domain().enter(); }

    /// Frees the node as soon as no call can be using it: at once if no other thread has ever
    /// called anything and this one is in no callback.
    static void retire(EpochNode& node, void (*free)(EpochNode&)) noexcept {
        domain().retire(node, free);
    }

    /// Waits for all calls that are running.
    static void synchronize() noexcept { domain().synchronize(); }

private:
    template <class T>
    using OwnDomain = decltype(T::epochDomain());

    static Domain& domain() {
        if constexpr (isDetected<OwnDomain, Threading>) {
            return Threading::epochDomain();
        } else {
            return sharedDomain<Platform>();
        }
    }

    template <class P>
    static BasicEpochDomain<P>& sharedDomain() {
        static BasicEpochDomain<P>& shared = *new BasicEpochDomain<P>(promptly());
        return shared;
    }

    static EpochOptions promptly() {
        EpochOptions options;
        options.prompt = true;
        return options;
    }
};

/// For objects of one thread at a time: counting the calls that this thread is in.
struct SinglePlatform {
    template <class T>
    using Atomic = SingleThreading::Atomic<T>;
    template <class T>
    using Cell = sluice::Cell<T>;
};

struct SingleThreadState {
    unsigned depth = 0;
    bool hasGarbage = false;
    EpochStack<SinglePlatform> garbage;
};

class SingleThreadReadSide {
public:
    using Platform = SinglePlatform;

    class [[nodiscard]] Guard {
    public:
        Guard() noexcept { ++state_.depth; }
        Guard(const Guard&) = delete;
        Guard& operator=(const Guard&) = delete;
        ~Guard() {
            if (--state_.depth == 0 && state_.hasGarbage) {
                reclaim();
            }
        }
    };

    static Guard enter() noexcept { return Guard(); }

    static void retire(EpochNode& node, void (*free)(EpochNode&)) noexcept {
        state_.garbage.push(node, free);
        state_.hasGarbage = true;
        if (state_.depth == 0) {
            reclaim();
        }
    }

    /// Other threads have no calls running.
    static void synchronize() noexcept {}

private:
    /// What the freed objects retire in turn is freed by the same loop, so a long chain needs no
    /// deep stack.
    static void reclaim() noexcept {
        ++state_.depth;
        while (state_.hasGarbage) {
            state_.hasGarbage = false;
            state_.garbage.takeAll().reclaim();
        }
        --state_.depth;
    }

    inline static thread_local SingleThreadState state_{};
};

template <class Threading>
using ReadSideOf =
    std::conditional_t<isSingleThreading<Threading>, SingleThreadReadSide, ReadSide<Threading>>;

}  // namespace sluice::detail
