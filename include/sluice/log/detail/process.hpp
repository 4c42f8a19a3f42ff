#pragma once

/// \file
/// Process: the back ends of this process, for what happens to all of them at once: fork() and
/// crashes.

#include <atomic>
#include <mutex>

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

    /// Called in this order around fork(): nothing may be half done when the process is copied. The
    /// second one when all have settled: what one still does in the first may need another.
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

/// The list of members; changed under a mutex, read without by handlers of fatal signals.
class Process {
public:
    static Process& instance() {
        static Process* const forEver = new Process;
        return *forEver;
    }

    void add(ProcessMember& member) {
        const std::lock_guard<std::mutex> lock(mutex_);
        // Relaxed: the release of the head publishes it.
        member.next_.store(first_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        first_.store(&member, std::memory_order_release);
    }

    void remove(ProcessMember& member) {
        const std::lock_guard<std::mutex> lock(mutex_);
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

private:
    Process() {
#if defined(__unix__)
        // Without memory for this fork() goes on without us: nothing else can be done about it.
        static_cast<void>(pthread_atfork(
            [] {
                instance().mutex_.lock();
                instance().forEach([](ProcessMember& member) { member.settleForFork(); });
                instance().forEach([](ProcessMember& member) { member.lockForFork(); });
            },
            [] {
                instance().forEach([](ProcessMember& member) { member.afterForkInParent(); });
                instance().mutex_.unlock();
            },
            [] {
                instance().forEach([](ProcessMember& member) { member.afterForkInChild(); });
                instance().mutex_.unlock();
            }));
#endif
    }

    std::mutex mutex_;
    std::atomic<ProcessMember*> first_{nullptr};
};

}  // namespace sluice::log::detail
