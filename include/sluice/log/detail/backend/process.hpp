#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#if defined(__unix__)
#include <pthread.h>
#endif

namespace sluice::log::detail {

/// What concerns the whole process. A back end is one; add() and remove() are called by any thread.
class ProcessMember {
public:
    ProcessMember() = default;
    ProcessMember(const ProcessMember&) = delete;
    ProcessMember& operator=(const ProcessMember&) = delete;

    /// Called in this order around fork(): nothing may be half done when the process is copied.
    ///
    /// The first one stops the thread that calls sinks. It waits for a few milliseconds at most,
    /// and false means that this was not enough: then every member gets goOn(), and all begin
    /// again. So a sink that forks as well, or that makes a member, has its turn in between.
    ///
    /// The second one calls the sinks; it is called when all have stopped. The third one is called
    /// when all have settled, since what one still does in the second may need another.
    virtual bool stopForFork() noexcept = 0;
    virtual void goOn() noexcept = 0;
    virtual void settleForFork() noexcept = 0;
    virtual void lockForFork() noexcept = 0;
    virtual void afterForkInParent() noexcept = 0;
    virtual void afterForkInChild() noexcept = 0;

    /// In the handler of a fatal signal: asks for everything to be written, and whether it is. True
    /// also where nobody could do it.
    virtual void beginRescue() noexcept = 0;
    virtual bool isRescued() const noexcept = 0;

protected:
    ~ProcessMember() = default;

private:
    friend class Process;
    std::atomic<ProcessMember*> next_{nullptr};
};

/// The back ends of this process, for what happens to all of them at once: fork() and
/// crashes.
///
/// The list of members; changed under a mutex, read without by handlers of fatal signals.
///
/// The mutex belongs to a thread that may lock it again: sinks that the thread calls while it forks
/// may make a member, and may fork.
class Process {
public:
    /// One for the process, also for shared libraries that hide their symbols.
    [[gnu::visibility("default")]] static Process& instance() {
        static Process* const forEver = new Process;
        return *forEver;
    }

    void add(ProcessMember& member) {
        const std::lock_guard<Process> lock(*this);
        // Relaxed: the release of the head publishes it.
        member.next_.store(first_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        first_.store(&member, std::memory_order_release);
    }

    void remove(ProcessMember& member) {
        const std::lock_guard<Process> lock(*this);
        std::atomic<ProcessMember*>* link = &first_;
        // Relaxed: changed under the mutex only.
        while (link->load(std::memory_order_relaxed) != &member) {
            link = &link->load(std::memory_order_relaxed)->next_;
        }
        link->store(member.next_.load(std::memory_order_relaxed), std::memory_order_release);
    }

    /// Takes no lock: for handlers of fatal signals, where a member that goes at this very moment
    /// makes little worse.
    template <class Visit>
    void forEach(Visit&& visit) {
        for (ProcessMember* member = first_.load(std::memory_order_acquire); member != nullptr;
             member = member->next_.load(std::memory_order_acquire)) {
            visit(*member);
        }
    }

    // For std::lock_guard.

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
    Process() {
#if defined(__unix__)
        // Without memory for this fork() goes on without us: nothing else can be done about it.
        static_cast<void>(
            pthread_atfork([] { instance().beforeFork(); },
                           [] { instance().afterFork(&ProcessMember::afterForkInParent); },
                           [] { instance().afterFork(&ProcessMember::afterForkInChild); }));
#endif
    }

    void beforeFork() {
        lock();
        ++forks_;
        if (forks_ > 1) {
            return;  // a sink forks that is called by a fork
        }
        while (!stopAll()) {
            forEach([](ProcessMember& member) { member.goOn(); });
            --forks_;
            unlock();
            std::this_thread::sleep_for(std::chrono::microseconds(100));
            lock();
            ++forks_;
        }
        forEach([](ProcessMember& member) { member.settleForFork(); });
        forEach([](ProcessMember& member) { member.lockForFork(); });
    }

    bool stopAll() {
        bool haveStopped = true;
        forEach([&](ProcessMember& member) { haveStopped = haveStopped && member.stopForFork(); });
        return haveStopped;
    }

    void afterFork(void (ProcessMember::*then)() noexcept) {
        --forks_;
        if (forks_ == 0) {
            forEach([then](ProcessMember& member) { (member.*then)(); });
        }
        unlock();
    }

    [[gnu::visibility("default")]] static const void* mark() noexcept {
        static thread_local const char one = 0;
        return &one;
    }

    std::mutex mutex_;
    std::atomic<const void*> owner_{nullptr};  // the thread that has the mutex
    unsigned depth_ = 0;                       // how often it has locked it
    unsigned forks_ = 0;                       // of its fork() calls that are under way
    std::atomic<ProcessMember*> first_{nullptr};
};

}  // namespace sluice::log::detail
