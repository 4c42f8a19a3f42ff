#pragma once

#include <sluice/base/platform.hpp>

#include <spdlog/formatter.h>
#include <spdlog/sinks/sink.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

#if SLUICE_HAS_POSIX
#include <pthread.h>
#endif

namespace sluice::log::detail {

/// Marks the calling thread as inside a batch, in which sinks, formatters, handlers and hooks run.
class BatchScope {
public:
    explicit BatchScope(const void* core) noexcept : before_(current_) { current_ = core; }
    ~BatchScope() { current_ = before_; }
    BatchScope(const BatchScope&) = delete;
    BatchScope& operator=(const BatchScope&) = delete;

    /// Returns true if the calling thread is in a batch of any back end, or of the back end `core`.
    static bool isInside() noexcept { return current_ != nullptr; }
    static bool isInside(const void* core) noexcept { return current_ == core; }

private:
    const void* before_;

    /// The back end whose batch the calling thread is in. All shared libraries use this variable.
    [[gnu::visibility("default")]] inline static thread_local const void* current_ = nullptr;
};

/// A back end as seen by fork(), the crash handler and file_sink.
class RegistryMember {
public:
    /// Before fork(), waits until the worker has flushed the sinks and paused, or until `end`.
    /// Without the flush, both processes would write the text in a sink's buffer.
    virtual void hold(std::chrono::steady_clock::time_point end) noexcept = 0;

    /// Locks the member's lists. Called after all hold() calls, which wait for sinks that use them.
    virtual void lockLists() noexcept = 0;

    /// Undoes lockLists() and hold() after fork(), in both processes.
    virtual void afterFork(bool isChild) noexcept = 0;

    /// After a fatal signal, beginRescue() requests that all records are written. isRescued()
    /// returns true when all records are written or no thread can write them.
    virtual void beginRescue() noexcept = 0;
    virtual bool isRescued() const noexcept = 0;

    /// If a logger of this back end has the sink, takes `formatter` and gives it to the sink after
    /// all earlier records. Returns false if no logger has the sink, or if the back end has ended.
    /// setFormatter() calls no user code.
    virtual bool setFormatter(const spdlog::sinks::sink& sink,
                              std::unique_ptr<spdlog::formatter>& formatter) = 0;

protected:
    ~RegistryMember() = default;

private:
    friend class BackendRegistry;
    std::atomic<RegistryMember*> next_{nullptr};
};

/// The back ends of the process, for fork() and crashes.
///
/// Thread safety: any thread may call any member. The registry's lock also guards the default back
/// end. fork() holds this lock while it waits for sinks, but at most for `mostWait`, because a sink
/// may need the lock or wait for the forking thread.
class BackendRegistry {
public:
    static constexpr std::chrono::seconds mostWait{1};

    /// Returns the object that all shared libraries use, even libraries that hide their symbols.
    [[gnu::visibility("default")]] static BackendRegistry& instance() {
        static BackendRegistry* const forEver = new BackendRegistry;
        return *forEver;
    }

    void add(RegistryMember& member) {
        const std::lock_guard<BackendRegistry> lock(*this);
        // Relaxed: the lock is held, and the E1 store publishes next_.
        member.next_.store(first_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        first_.store(&member, std::memory_order_release);  // E1 list
    }

    void remove(RegistryMember& member) {
        const std::lock_guard<BackendRegistry> lock(*this);
        std::atomic<RegistryMember*>* link = &first_;
        // Relaxed: the lock is held.
        while (link->load(std::memory_order_relaxed) != &member) {
            link = &link->load(std::memory_order_relaxed)->next_;
        }
        link->store(member.next_.load(std::memory_order_relaxed), std::memory_order_release);  // E1
    }

    /// Calls visit(member) for each member without a lock, because handlers of fatal signals call
    /// forEach(). Such a handler may crash if another thread destroys a member during the call.
    template <class Visit>
    void forEach(Visit&& visit) {
        // Acquire: E1 list.
        for (RegistryMember* member = first_.load(std::memory_order_acquire); member != nullptr;
             member = member->next_.load(std::memory_order_acquire)) {
            visit(*member);
        }
    }

    /// Calls setFormatter() of the members until one returns true. Returns false in a batch.
    bool setFormatter(const spdlog::sinks::sink& sink,
                      std::unique_ptr<spdlog::formatter>& formatter) {
        if (BatchScope::isInside()) {
            return false;  // a forking thread may hold the lock and wait for this thread
        }
        const std::lock_guard<BackendRegistry> lock(*this);
        bool isTaken = false;
        forEach([&](RegistryMember& member) {
            isTaken = isTaken || member.setFormatter(sink, formatter);
        });
        return isTaken;
    }

    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

    // ---- For fork()

    void beforeFork() {
        lock();
        const auto end = std::chrono::steady_clock::now() + mostWait;
        forEach([end](RegistryMember& member) { member.hold(end); });
        forEach([](RegistryMember& member) { member.lockLists(); });
    }

    void afterFork(bool isChild) {
        forEach([isChild](RegistryMember& member) { member.afterFork(isChild); });
        unlock();
    }

private:
    // Happens-before edge: E1 list: add and remove -> forEach.

    BackendRegistry() {
#if SLUICE_HAS_POSIX
        // If pthread_atfork() fails for lack of memory, fork() does not call these handlers.
        static_cast<void>(pthread_atfork([] { instance().beforeFork(); },
                                         [] { instance().afterFork(false); },
                                         [] { instance().afterFork(true); }));
#endif
    }

    std::mutex mutex_;
    std::atomic<RegistryMember*> first_{nullptr};  ///< the newest member; written under mutex_
};

/// Creates the registry before main(): a child forked during the creation would wait forever.
inline const BackendRegistry& registryFromTheStart = BackendRegistry::instance();

}  // namespace sluice::log::detail
