#pragma once

#include <sluice/base/presence.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/event/detail/list/policy_traits.hpp>

#include <mutex>
#include <type_traits>

// Lets calls read a list without a lock while other threads change it. Each call tells which list
// it is in, so a removal waits only for calls of its own list.
//
// A library that hides its symbols, or a program that does not export them, has a registry of its
// own. So each list keeps the registry that it began with. All shared objects use this registry for
// the list.

namespace sluice {
namespace [[gnu::visibility("default")]] detail {

template <class Threading>
inline constexpr bool isSingleThreading = std::is_base_of_v<SingleThreading, Threading>;

template <class T>
using PlatformMember = typename T::Platform;

/// The lock of a list: see MultipleThreading.
template <class Threading>
using LockOf = std::conditional_t<std::is_same_v<Threading, MultipleThreading>, SpinLock,
                                  typename Threading::Mutex>;

/// The registry for the calls of new lists. It is never destroyed, because static objects may use
/// it to the end. A thread also keeps its slot after the shared object that made the registry is
/// unloaded.
template <class Platform>
BasicPresence<Platform>& sharedPresence() noexcept {
    static BasicPresence<Platform>& shared = BasicPresence<Platform>::makeForGood();
    return shared;
}

/// For objects of several threads.
template <class Threading>
class ReadSide {
public:
    using Platform = typename PolicyOr<StdPlatform, PlatformMember, Threading>::Type;
    using Registry = BasicPresence<Platform>;
    using GracePeriod = typename Registry::GracePeriod;

    /// The threads that are calling one list.
    class Users {
    public:
        Users() noexcept : Users(sharedPresence<Platform>()) {}
        explicit Users(Registry& registry) noexcept : registry_(registry) {}
        Users(const Users&) = delete;
        Users& operator=(const Users&) = delete;

        bool isInside() const noexcept { return registry_.isInside(this); }
        /// Whether no other thread that still runs has ever called a list of this registry.
        bool isAlone() const noexcept { return registry_.isAlone(); }
        GracePeriod beginGrace() const noexcept { return registry_.beginGrace(); }
        bool hasPassed(GracePeriod& period) const noexcept {
            return registry_.hasPassed(period, this);
        }
        void waitForOthers() const noexcept { registry_.waitForOthers(this); }

    private:
        friend class ReadSide;
        Registry& registry_;
    };

    /// The time in which a thread is one of the users.
    class Section {
    public:
        explicit Section(const Users& users) : section_(users.registry_.enter(&users)) {}

    private:
        typename Registry::Section section_;
    };

    static const void* thisThread() noexcept { return Platform::thisThread(); }

    /// Orders the end of a section before the check for removals.
    static void fence() noexcept { Platform::Fence::light(); }
};

/// For objects of one thread at a time.
struct SingleThreadPlatform {
    template <class T>
    using Atomic = SingleThreading::Atomic<T>;
    template <class T>
    using Cell = sluice::Cell<T>;
    using Clock = StdPlatform::Clock;
    static void pause() noexcept {}
    static void yield() noexcept {}
};

class SingleThreadReadSide {
public:
    using Platform = SingleThreadPlatform;
    struct GracePeriod {};

    class Users {
    public:
        Users() noexcept = default;
        Users(const Users&) = delete;
        Users& operator=(const Users&) = delete;

        bool isInside() const noexcept { return calls_ != 0; }
        bool isAlone() const noexcept { return true; }
        GracePeriod beginGrace() const noexcept { return {}; }
        bool hasPassed(GracePeriod& /*period*/) const noexcept { return !isInside(); }
        void waitForOthers() const noexcept {}

    private:
        friend class SingleThreadReadSide;
        mutable unsigned calls_ = 0;
    };

    class Section {
    public:
        explicit Section(const Users& users) noexcept : users_(&users), outer_(users.calls_) {
            users.calls_ = outer_ + 1;
        }
        Section(const Section&) = delete;
        Section& operator=(const Section&) = delete;
        ~Section() { users_->calls_ = outer_; }

    private:
        const Users* const users_;
        // A copy in a register: reading calls_ again would make each call wait for the call before.
        const unsigned outer_;
    };

    static const void* thisThread() noexcept { return nullptr; }
    static void fence() noexcept {}
};

template <class Threading>
using ReadSideOf =
    std::conditional_t<isSingleThreading<Threading>, SingleThreadReadSide, ReadSide<Threading>>;

}  // namespace detail
}  // namespace sluice
