#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#if defined(__unix__)
#include <pthread.h>
#endif

namespace sluice::log::detail {

/// A back end, as fork() and the crash handler see it.
class RegistryMember {
public:
    RegistryMember() = default;
    RegistryMember(const RegistryMember&) = delete;
    RegistryMember& operator=(const RegistryMember&) = delete;

    /// Before fork(): stops the thread that calls sinks, writes all records and flushes the sinks,
    /// so that no sink keeps text that both processes would write. Waits for a few milliseconds at
    /// most. If it returns false, letGo() of all members follows, and the attempt is repeated.
    virtual bool hold() noexcept = 0;
    virtual void letGo() noexcept = 0;

    /// Locks the lists of the member. Called when all members are held, because the sinks of one
    /// member may use another member.
    virtual void lockLists() noexcept = 0;

    /// After fork(), in both processes. Undoes lockLists() and hold().
    virtual void afterFork(bool isChild) noexcept = 0;

    /// For the handler of a fatal signal. beginRescue() requests that all records are written.
    /// isRescued() returns whether they are; it is also true if no thread could write them.
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
/// Thread safety: any thread may call any member. The lock is recursive, because a sink that is
/// called during a fork may make a back end, and may fork. It also guards the default back end.
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

    /// Calls visit(member) for each member. It takes no lock, because handlers of fatal signals
    /// call it. If a member is being destroyed, such a handler may crash; the process is about to
    /// end anyway.
    template <class Visit>
    void forEach(Visit&& visit) {
        for (RegistryMember* member = first_.load(std::memory_order_acquire); member != nullptr;
             member = member->next_.load(std::memory_order_acquire)) {
            visit(*member);
        }
    }

    // A recursive lock. std::recursive_mutex would refuse the unlock in the child of a fork, whose
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

    // What the handlers of fork() call.

    /// Another thread may fork or make a back end between two attempts.
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
        // If there is no memory for the handlers, fork() does not call them, and nothing can report
        // it.
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
    std::atomic<const void*> owner_{nullptr};  ///< mark() of the thread that holds the mutex
    unsigned depth_ = 0;  ///< how often that thread has locked the mutex; guarded
    unsigned forks_ = 0;  ///< running calls of fork() of that thread; guarded
    std::atomic<RegistryMember*> first_{nullptr};  ///< the newest member; written with the mutex
};

/// Makes the registry before main(). Otherwise one thread could be making it while another thread
/// forks. The child would have it half made, and would wait for it for ever.
inline const BackendRegistry& registryFromTheStart = BackendRegistry::instance();

}  // namespace sluice::log::detail
