#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#if defined(__unix__)
#include <pthread.h>
#endif

namespace sluice::log::detail {

/// The interface of a back end for fork() and the crash handler.
class RegistryMember {
public:
    RegistryMember() = default;
    RegistryMember(const RegistryMember&) = delete;
    RegistryMember& operator=(const RegistryMember&) = delete;

    /// Before fork(): stops the writing thread, writes all records and flushes the sinks, so that
    /// no sink keeps text that both processes would write. Waits for a few milliseconds at most. If
    /// it returns false, all members let go, and the attempt is repeated.
    virtual bool hold() noexcept = 0;
    virtual void letGo() noexcept = 0;

    /// Locks the member's lists. Called when all members are held, because the sinks of one member
    /// may use another.
    virtual void lockLists() noexcept = 0;

    /// After fork(), in both processes. Undoes lockLists() and hold().
    virtual void afterFork(bool isChild) noexcept = 0;

    /// For fatal signals: beginRescue() requests that all records are written. isRescued() returns
    /// true when they are, or if no thread can write them.
    virtual void beginRescue() noexcept = 0;
    virtual bool isRescued() const noexcept = 0;

protected:
    ~RegistryMember() = default;

private:
    friend class BackendRegistry;
    std::atomic<RegistryMember*> next_{nullptr};
};

/// The back ends of the process, for fork() and crashes.
///
/// Thread safety: any thread may call any member. The lock is recursive, because a sink called
/// during a fork may make a back end or fork. It also guards the default back end.
class BackendRegistry {
public:
    /// All shared libraries share this object, also those that hide their symbols.
    [[gnu::visibility("default")]] static BackendRegistry& instance() {
        static BackendRegistry* const forEver = new BackendRegistry;
        return *forEver;
    }

    void add(RegistryMember& member) {
        const std::lock_guard<BackendRegistry> lock(*this);
        // Relaxed: the release of the head publishes it.
        member.next_.store(first_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        first_.store(&member, std::memory_order_release);
    }

    void remove(RegistryMember& member) {
        const std::lock_guard<BackendRegistry> lock(*this);
        std::atomic<RegistryMember*>* link = &first_;
        // Relaxed: the lock orders changes.
        while (link->load(std::memory_order_relaxed) != &member) {
            link = &link->load(std::memory_order_relaxed)->next_;
        }
        link->store(member.next_.load(std::memory_order_relaxed), std::memory_order_release);
    }

    /// Calls visit(member) for each member, without a lock, because handlers of fatal signals call
    /// it. Such a handler may crash if a member is being destroyed.
    template <class Visit>
    void forEach(Visit&& visit) {
        for (RegistryMember* member = first_.load(std::memory_order_acquire); member != nullptr;
             member = member->next_.load(std::memory_order_acquire)) {
            visit(*member);
        }
    }

    // A recursive lock. std::recursive_mutex would refuse the unlock in a forked child, whose
    // thread has another number.

    void lock() {
        // Relaxed: only this thread writes its own mark.
        if (owner_.load(std::memory_order_relaxed) != mark()) {
            mutex_.lock();
            owner_.store(mark(), std::memory_order_relaxed);
        }
        ++depth_;
    }
    void unlock() {
        if (--depth_ == 0) {
            owner_.store(nullptr, std::memory_order_relaxed);
            mutex_.unlock();
        }
    }

    // ---- For fork()

    /// Unlocks between two attempts, so that another thread may fork or make a back end.
    void beforeFork() {
        lock();
        ++forks_;
        if (forks_ > 1) {
            return;  // a sink that is called during a fork forks itself
        }
        while (!holdAll()) {
            forEach([](RegistryMember& member) { member.letGo(); });
            --forks_;
            unlock();
            std::this_thread::sleep_for(std::chrono::microseconds(100));
            lock();
            ++forks_;
        }
        forEach([](RegistryMember& member) { member.lockLists(); });
    }

    void afterFork(bool isChild) {
        --forks_;
        if (forks_ == 0) {
            forEach([isChild](RegistryMember& member) { member.afterFork(isChild); });
        }
        unlock();
    }

private:
    BackendRegistry() {
#if defined(__unix__)
        // Without memory for the handlers, fork() does not call them.
        static_cast<void>(pthread_atfork([] { instance().beforeFork(); },
                                         [] { instance().afterFork(false); },
                                         [] { instance().afterFork(true); }));
#endif
    }

    bool holdAll() {
        bool areHeld = true;
        forEach([&](RegistryMember& member) { areHeld = areHeld && member.hold(); });
        return areHeld;
    }

    [[gnu::visibility("default")]] static const void* mark() noexcept {
        static thread_local const char one = 0;
        return &one;
    }

    std::mutex mutex_;
    std::atomic<const void*> owner_{nullptr};      ///< mark() of the thread that holds the mutex
    unsigned depth_ = 0;                           ///< nested locks of that thread; guarded
    unsigned forks_ = 0;                           ///< nested fork() calls of that thread; guarded
    std::atomic<RegistryMember*> first_{nullptr};  ///< the newest member; written under the mutex
};

/// Made before main(), because a child forked while another thread makes it would wait forever.
inline const BackendRegistry& registryFromTheStart = BackendRegistry::instance();

}  // namespace sluice::log::detail
