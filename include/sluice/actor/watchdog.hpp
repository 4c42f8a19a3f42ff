#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/wait/park.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

namespace sluice {

/// Reports handlers that run for longer than a limit.
///
///     sluice::Watchdog watchdog(std::chrono::milliseconds(100), [](const char* name, auto time) {
///         std::fprintf(stderr, "%s: a handler has run for %lld ms\n", name, ms(time));
///     });
///     const auto watch = watchdog.watch(motor, "motor");
///     watchdog.start(std::chrono::milliseconds(20));  // starts a thread that checks every 20 ms
///
/// Thread safety: any thread may call any member. The report must not call the watchdog, which
/// holds a lock during the report.
///
/// Errors: as for std::thread and setupError(). A handler is reported once, at most two intervals
/// after `limit` has passed, even if the handler's thread is preempted. failedReports() counts the
/// reports that threw.
///
/// Performance: no cost for the watched objects. watch() and start() allocate.
class Watchdog {
    struct Entry;

public:
    using TimePoint = std::chrono::steady_clock::time_point;
    /// Receives the name of an object, and the minimum time for which its handler has run.
    using Report = std::function<void(const char* name, std::chrono::nanoseconds atLeast)>;

    /// Watches an object. Destroy a Watch before the watched object and the watchdog.
    class [[nodiscard]] Watch {
    public:
        Watch(Watch&& other) noexcept
            : watchdog_(other.watchdog_), entry_(std::exchange(other.entry_, nullptr)) {}
        Watch& operator=(Watch&&) = delete;
        ~Watch() {
            if (entry_ != nullptr) {
                watchdog_->forget(*entry_);
            }
        }

    private:
        friend class Watchdog;
        Watch(Watchdog& watchdog, Entry& entry) noexcept : watchdog_(&watchdog), entry_(&entry) {}

        Watchdog* watchdog_;
        Entry* entry_;
    };

    Watchdog(std::chrono::nanoseconds limit, Report report)
        : limit_(limit), report_(std::move(report)) {}
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;
    ~Watchdog() {
        isEnding_.store(true, std::memory_order_relaxed);
        changed_.notifyAll();
        if (thread_.joinable()) {
            thread_.join();
        }
    }

    /// Watches an ActiveObject or a PooledObject. `name` must outlive the watchdog, because
    /// lateName() returns it.
    template <class Object>
    Watch watch(const Object& object, const char* name) {
        const Guard guard(mutex_);
        entries_.push_back({name, &object, [](const void* o) {
                                const auto& watched = *static_cast<const Object*>(o);
                                return Activity{watched.isAwake(), watched.progress()};
                            }});
        return Watch(*this, entries_.back());
    }

    /// Checks all objects once, for programs that have their own loop. `now` must never decrease.
    void look(TimePoint now = std::chrono::steady_clock::now()) {
        const Guard guard(mutex_);
        for (Entry& entry : entries_) {
            check(guard, entry, now);
        }
    }

    [[nodiscard]] std::uint64_t failedReports() const noexcept {
        return failedReports_.load(std::memory_order_relaxed);  // value only
    }

    // ---- Any thread: the results of the last check

    [[nodiscard]] std::size_t lateCount() const noexcept {
        return lateCount_.load(std::memory_order_relaxed);
    }
    /// The name of the object whose handler was reported last, or "" if no handler is late.
    [[nodiscard]] const char* lateName() const noexcept {
        return lateCount() == 0 ? "" : lateName_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t reportCount() const noexcept {
        return reportCount_.load(std::memory_order_relaxed);
    }

    /// Starts a thread that checks all watched objects once per interval. Call start() at most
    /// once. Calls setupError() if the interval is 0.
    void start(std::chrono::nanoseconds interval) {
        if (interval <= interval.zero()) {
            setupError("interval of a watchdog", 0, 1);
        }
        SLUICE_ASSERT(!thread_.joinable(), "a watchdog is started once");
        thread_ = std::thread([this, interval] {
            const auto isOver = [this] { return isEnding_.load(std::memory_order_relaxed); };
            while (
                !changed_.waitUntil(isOver, deadlineAfter<std::chrono::steady_clock>(interval))) {
                look();
            }
        });
    }

private:
    using Guard = std::lock_guard<std::mutex>;

    struct Activity {
        bool isAwake;            ///< false while the object waits for messages
        std::uint64_t progress;  ///< the object's progress()
    };

    struct Entry {
        const char* name;
        const void* object;
        Activity (*activityOf)(const void*);
        std::uint64_t progress = 0;  ///< the object's progress() at the last check
        bool wasAwake = false;
        bool isReported = false;
        TimePoint since{};  ///< time of the first check that saw `progress`
    };

    void check(const Guard& /*guard*/, Entry& entry, TimePoint now) {
        const Activity activity = entry.activityOf(entry.object);
        if (!activity.isAwake || !entry.wasAwake || activity.progress != entry.progress) {
            entry.progress = activity.progress;
            entry.wasAwake = activity.isAwake;
            entry.since = now;
            endReport(entry);
        } else if (now - entry.since >= limit_ && !entry.isReported) {
            entry.isReported = true;
            lateName_.store(entry.name, std::memory_order_relaxed);
            lateCount_.fetch_add(1, std::memory_order_relaxed);
            reportCount_.fetch_add(1, std::memory_order_relaxed);
            report(entry.name, now - entry.since);
        }
    }
    void endReport(Entry& entry) noexcept {
        if (std::exchange(entry.isReported, false)) {
            lateCount_.fetch_sub(1, std::memory_order_relaxed);
        }
    }
    void report(const char* name, std::chrono::nanoseconds atLeast) {
#if defined(__cpp_exceptions)
        try {
            report_(name, atLeast);
        } catch (...) {
            failedReports_.fetch_add(1, std::memory_order_relaxed);
        }
#else
        report_(name, atLeast);
#endif
    }

    void forget(Entry& entry) noexcept {
        const Guard guard(mutex_);
        endReport(entry);
        entries_.remove_if([&entry](const Entry& each) { return &each == &entry; });
    }

    const std::chrono::nanoseconds limit_;
    const Report report_;
    std::mutex mutex_;
    std::list<Entry> entries_;                     ///< guarded by mutex_
    std::atomic<std::uint64_t> failedReports_{0};  ///< written under mutex_
    // Written under mutex_. Relaxed: value only.
    std::atomic<std::uint64_t> reportCount_{0};
    std::atomic<std::size_t> lateCount_{0};
    std::atomic<const char*> lateName_{""};
    std::atomic<bool> isEnding_{false};
    Park changed_;
    std::thread thread_;
};

}  // namespace sluice
