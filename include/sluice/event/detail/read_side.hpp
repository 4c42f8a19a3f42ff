#pragma once

#include <sluice/base/epoch.hpp>
#include <sluice/event/detail/policy_traits.hpp>

#include <type_traits>

// How listeners are read while others change them, and freed when nobody reads them any more.
//
// What a thread knows about its calls, and the domain, exist once in a program, though its parts be
// shared libraries that hide their symbols: hence the visibility, here and where they are made.

namespace sluice {
namespace [[gnu::visibility("default")]] detail {

template <class Threading>
inline constexpr bool isSingleThreading = std::is_base_of_v<SingleThreading, Threading>;

/// A traversal of a chain of callbacks. This thread's traversals, one line of them for each kind of
/// chain, are linked innermost first, so that who removes a callback knows whether this thread may
/// be standing on it.
template <class Kind>
class Traversal {
public:
    explicit Traversal(const void* chain) noexcept : chain_(chain), outer_(innermost_) {}
    Traversal(const Traversal&) = delete;
    Traversal& operator=(const Traversal&) = delete;

    /// Its time in the line.
    class Scope {
    public:
        explicit Scope(Traversal& traversal) noexcept : outer_(traversal.outer_) {
            innermost_ = &traversal;
        }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;
        ~Scope() { innermost_ = outer_; }

    private:
        // In a register: read back from the traversal, which others may write, it would make each
        // call wait for the one before it.
        Traversal* const outer_;
    };

    bool isLost() const noexcept { return chain_ == anyChain; }

    static bool isAnywhere() noexcept { return innermost_ != nullptr; }

    /// Whether this thread may be on a callback of the chain.
    static bool isOn(const void* chain) noexcept {
        const Traversal* traversal = innermost_;
        while (traversal != nullptr && traversal->chain_ != chain &&
               traversal->chain_ != anyChain) {
            traversal = traversal->outer_;
        }
        return traversal != nullptr;
    }

    /// The callbacks of the chain are now those of another one, or gone.
    static void lose(const void* chain) noexcept {
        for (Traversal* traversal = innermost_; traversal != nullptr;
             traversal = traversal->outer_) {
            if (traversal->chain_ == chain) {
                traversal->chain_ = anyChain;
            }
        }
    }

private:
    static constexpr const void* anyChain = nullptr;

    inline static thread_local Traversal* innermost_ = nullptr;

    const void* chain_;
    Traversal* const outer_;
};

/// The end of a callback, within which others may end that it owns. Deep down they are left to
/// retire(), which frees one after the other.
class Freeing {
public:
    Freeing() noexcept { ++depth_; }
    Freeing(const Freeing&) = delete;
    Freeing& operator=(const Freeing&) = delete;
    ~Freeing() { --depth_; }

    static bool isDeep() noexcept { return depth_ > 100; }

private:
    inline static thread_local unsigned depth_ = 0;
};

template <class T>
using PlatformMember = typename T::Platform;

/// The lock of a list. A polling one by default: see MultipleThreading.
template <class Threading>
using LockOf = std::conditional_t<std::is_same_v<typename Threading::Mutex, std::mutex> &&
                                      std::is_same_v<Threading, MultipleThreading>,
                                  SpinLock, typename Threading::Mutex>;

template <class Platform>
BasicEpochDomain<Platform>& sharedDomain() {
    static BasicEpochDomain<Platform>& shared = *new BasicEpochDomain<Platform>([] {
        EpochOptions options;
        options.prompt = true;
        return options;
    }());
    return shared;
}

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
    using Traversal = detail::Traversal<struct SharedCalls>;

    using Guard = typename Domain::Guard;
    /// A call of the callbacks of a chain, inside a guard.
    using Call = typename Traversal::Scope;

    /// A section in which nothing is freed that can be found in it.
    [[nodiscard]] static Guard enter() { return domain().enter(); }

    /// Whether no other thread can be using what this one has unlinked.
    static bool isQuiet() noexcept { return domain().isQuiet(); }

    /// Frees the node as soon as no call can be using it.
    static void retire(EpochNode& node, void (*free)(EpochNode&)) noexcept {
        domain().retire(node, free);
    }

    /// Waits for all calls that are running, and frees what waits for them.
    static void synchronize() noexcept {
        domain().synchronize();
        (void)domain().collect();
    }

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
};

/// For objects of one thread at a time: what is removed waits for the calls of this thread only.
struct SinglePlatform {
    template <class T>
    using Atomic = SingleThreading::Atomic<T>;
    template <class T>
    using Cell = sluice::Cell<T>;
};

struct SingleThreadState {
    bool hasGarbage = false;
    bool isReclaiming = false;
    EpochStack<SinglePlatform> garbage;
};

class SingleThreadReadSide {
public:
    using Platform = SinglePlatform;
    using Traversal = detail::Traversal<struct OwnCalls>;

    /// Nothing: between finding and using, nobody else does anything.
    struct Guard {};
    static Guard enter() noexcept { return Guard(); }

    class Call {
    public:
        explicit Call(Traversal& traversal) noexcept : scope_(traversal) {}

    private:
        struct Reclaiming {
            ~Reclaiming() {
                if (__builtin_expect(state_.hasGarbage, 0)) {
                    reclaim();
                }
            }
        };

        Reclaiming reclaiming_;  // ends after the traversal
        Traversal::Scope scope_;
    };

    static bool isQuiet() noexcept { return true; }

    static void retire(EpochNode& node, void (*free)(EpochNode&)) noexcept {
        state_.garbage.push(node, free);
        state_.hasGarbage = true;
        reclaim();
    }

    /// Other threads have no calls running.
    static void synchronize() noexcept {}

private:
    /// Outside of calls. What the freed objects retire in turn is freed by the same loop, so a long
    /// chain needs no deep stack.
    [[gnu::cold, gnu::noinline]] static void reclaim() noexcept {
        if (state_.isReclaiming || Traversal::isAnywhere()) {
            return;
        }
        state_.isReclaiming = true;
        while (state_.hasGarbage) {
            state_.hasGarbage = false;
            state_.garbage.takeAll().reclaim();
        }
        state_.isReclaiming = false;
    }

    inline static thread_local SingleThreadState state_{};
};

template <class Threading>
using ReadSideOf =
    std::conditional_t<isSingleThreading<Threading>, SingleThreadReadSide, ReadSide<Threading>>;

}  // namespace detail
}  // namespace sluice
