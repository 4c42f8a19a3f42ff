#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#if defined(__unix__)
#include <pthread.h>
#endif

namespace sluice::log::detail {

/// An object that is called when its process forks or crashes, such as a back end.
class RegistryMember {
public:
    RegistryMember() = default;
    RegistryMember(const RegistryMember&) = delete;
    RegistryMember& operator=(const RegistryMember&) = delete;

    /// The registry calls these functions in this order around fork(), so that the child finds no
    /// work half done.
    ///
    /// stopForFork() stops the thread that calls sinks. It waits for a few milliseconds at most. If
    /// it returns false, the registry calls goOn() of each member and begins again. Between the two
    /// attempts another thread may fork or make a member.
    ///
    /// settleForFork() calls the sinks, after all members have stopped. lockForFork() is called
    /// after all members have settled, because the sinks of one member may use another member.
    virtual bool stopForFork() noexcept = 0;
    virtual void goOn() noexcept = 0;
    virtual void settleForFork() noexcept = 0;
    virtual void lockForFork() noexcept = 0;
    virtual void afterForkInParent() noexcept = 0;
    virtual void afterForkInChild() noexcept = 0;

    /// For the handler of a fatal signal. beginRescue() requests that all records are written.
    /// isRescued() tells whether they are. It is also true if no thread could write them.
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
/// Any thread may call add() and remove(). A mutex guards the list against other changes. Handlers
/// of fatal signals read the list without the mutex. The thread that holds the mutex may lock it
/// again, because a sink that it calls during a fork may make a member, and may fork.
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
        // Relaxed: the mutex orders changes.
        while (link->load(std::memory_order_relaxed) != &member) {
            link = &link->load(std::memory_order_relaxed)->next_;
        }
        link->store(member.next_.load(std::memory_order_relaxed), std::memory_order_release);
    }

    /// Calls visit(member) for each member. It takes no lock, because handlers of fatal signals
    /// call it. If a member ends meanwhile, such a handler may crash; the process is about to end
    /// anyway.
    template <class Visit>
    void forEach(Visit&& visit) {
        for (RegistryMember* member = first_.load(std::memory_order_acquire); member != nullptr;
             member = member->next_.load(std::memory_order_acquire)) {
            visit(*member);
        }
    }

    // The functions that std::lock_guard calls. The thread that holds the mutex may lock it again.

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

private:
    BackendRegistry() {
#if defined(__unix__)
        // If there is no memory for the handlers, fork() does not call them, and nothing can report
        // it.
        static_cast<void>(
            pthread_atfork([] { instance().beforeFork(); },
                           [] { instance().afterFork(&RegistryMember::afterForkInParent); },
                           [] { instance().afterFork(&RegistryMember::afterForkInChild); }));
#endif
    }

    void beforeFork() {
        lock();
        ++forks_;
        if (forks_ > 1) {
            return;  // a sink that was called during a fork forks itself
        }
        while (!stopAll()) {
            forEach([](RegistryMember& member) { member.goOn(); });
            --forks_;
            unlock();
            std::this_thread::sleep_for(std::chrono::microseconds(100));
            lock();
            ++forks_;
        }
        forEach([](RegistryMember& member) { member.settleForFork(); });
        forEach([](RegistryMember& member) { member.lockForFork(); });
    }

    bool stopAll() {
        bool haveStopped = true;
        forEach([&](RegistryMember& member) { haveStopped = haveStopped && member.stopForFork(); });
        return haveStopped;
    }

    void afterFork(void (RegistryMember::*then)() noexcept) {
        --forks_;
        if (forks_ == 0) {
            forEach([then](RegistryMember& member) { (member.*then)(); });
        }
        unlock();
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
