#pragma once

/// \file
/// The back end of loggers that name no other.
///
///     auto log = spdlog::basic_logger_mt<sluice::log::async_factory>("app", "app.log");
///     const auto counts = sluice::log::default_backend()->statistics();
///
/// It starts with the first logger, or with init(). It ends with shutdown() or spdlog::shutdown(),
/// which wait until all records are written and the sinks flushed. At the end of the program it
/// writes all records. A later log call, as in a static object's destructor, writes its own record.
///
/// Thread safety: any thread may call these functions. Errors: spdlog_ex if the back end cannot
/// start.

#include <sluice/log/backend.hpp>

#include <memory>

namespace sluice::log {

/// Returns the default back end. Starts one if there is none.
std::shared_ptr<backend> default_backend();

/// Replaces the default back end. Existing loggers keep the old one, which ends when its last owner
/// releases it. If `next` is null, the next logger starts a new one.
void set_default_backend(std::shared_ptr<backend> next);

}  // namespace sluice::log

// ---- Functions that sluice::log_compiled compiles once

#if defined(SLUICE_LOG_INLINE)

#include <sluice/base/spin_lock.hpp>
#include <sluice/log/detail/backend/backend_registry.hpp>
#include <sluice/log/detail/backend/frontend.hpp>

#include <spdlog/details/registry.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

// NOLINTBEGIN(misc-definitions-in-headers)
namespace sluice::log {

namespace detail {

/// Holds the default back end. Never destroyed, because destructors of static objects may log. The
/// BackendRegistry's lock guards it, so a forked child finds it free.
class DefaultBackend {
public:
    /// All shared libraries share this object, also those that hide their symbols.
    [[gnu::visibility("default")]] static DefaultBackend& instance() {
        static DefaultBackend* const forEver = new DefaultBackend;
        return *forEver;
    }

    std::shared_ptr<backend> get() {
        watchExit();
        std::shared_ptr<backend> found = peek();
        if (!found) {
            // Without a lock, because a fork() may wait for the new back end's thread. If two
            // threads make one simultaneously, one is kept.
            auto made = std::make_shared<backend>();
            const std::lock_guard<BackendRegistry> lock(BackendRegistry::instance());
            found = backend_ = backend_ ? backend_ : made;
        }
        watchShutdown();
        return found;
    }

    std::shared_ptr<backend> exchange(std::shared_ptr<backend> next) {
        if (next) {
            watchExit();
            watchShutdown();
        }
        const std::lock_guard<BackendRegistry> lock(BackendRegistry::instance());
        std::swap(backend_, next);
        return next;
    }

    std::shared_ptr<backend> peek() {
        const std::lock_guard<BackendRegistry> lock(BackendRegistry::instance());
        return backend_;
    }

private:
    /// Notices spdlog::shutdown(): spdlog's registry holds this object in place of its thread pool,
    /// which this object keeps alive, and releases it.
    class ShutdownHook {
    public:
        explicit ShutdownHook(std::shared_ptr<spdlog::details::thread_pool> pool)
            : pool_(std::move(pool)) {}
        ShutdownHook(const ShutdownHook&) = delete;
        ShutdownHook& operator=(const ShutdownHook&) = delete;
        ~ShutdownHook() { instance().hookIsGone(); }

    private:
        const std::shared_ptr<spdlog::details::thread_pool> pool_;
    };

    void watchShutdown() {
        // A sink must not wait for spdlog's lock: its holder, spdlog::shutdown(), may wait for the
        // sink. Relaxed: read again under the lock.
        if (isHooked_.load(std::memory_order_relaxed) || BatchScope::isInside() ||
            hasLeft_.load(std::memory_order_acquire)) {
            return;
        }
        for (Backoff backoff; !tryHook();) {
            backoff.wait();
        }
    }

    /// Holds both locks, so that no fork leaves spdlog's lock locked in the child. Only tries,
    /// because spdlog::shutdown() takes them in the other order.
    bool tryHook() {
        const std::lock_guard<BackendRegistry> noFork(BackendRegistry::instance());
        spdlog::details::registry& registry = spdlog::details::registry::instance();
        const std::unique_lock<std::recursive_mutex> lock(registry.tp_mutex(), std::try_to_lock);
        if (lock && !isHooked_.load(std::memory_order_relaxed)) {
            hook(registry);
        }
        return lock.owns_lock();
    }

    /// Replaces the registry's thread pool, whose lock the caller holds, by a hook.
    void hook(spdlog::details::registry& registry) {
        const auto pool = registry.get_tp();
        const auto hook = std::make_shared<ShutdownHook>(pool);
        isHooked_.store(true, std::memory_order_relaxed);
        registry.set_tp(std::shared_ptr<spdlog::details::thread_pool>(hook, pool.get()));
    }

    /// Called by spdlog under its thread pool's lock, when it releases the hook.
    void hookIsGone() {
        if (hasLeft_.load(std::memory_order_acquire)) {
            return;
        }
        isHooked_.store(false, std::memory_order_relaxed);
        spdlog::details::registry& registry = spdlog::details::registry::instance();
        if (registry.get_tp().use_count() != 0) {  // spdlog has a new thread pool
            if (!BatchScope::isInside()) {
                hook(registry);
            }
        } else if (const std::shared_ptr<backend> last = exchange(nullptr)) {
            BackendAccess::end(*last);
        }
    }

    /// Registers leave() with atexit(). Two threads may both register it; then the second leave()
    /// does nothing. Neither waits, so a forked child never waits for a missing thread.
    void watchExit() {
        if (!watchesExit_.load(std::memory_order_acquire)) {
            // Makes spdlog's registry first, so that it is destroyed after leave().
            static_cast<void>(spdlog::details::registry::instance());
            if (std::atexit([] { instance().leave(); }) == 0) {
                watchesExit_.store(true, std::memory_order_release);
            }
        }
    }

    void leave() {
        if (!hasLeft_.exchange(true, std::memory_order_acq_rel)) {
            if (const std::shared_ptr<backend> last = peek()) {
                BackendAccess::leave(*last);
            }
        }
    }

    std::shared_ptr<backend> backend_;  ///< guarded by the BackendRegistry
    std::atomic<bool> watchesExit_{false};
    std::atomic<bool> hasLeft_{false};   ///< the program ends
    std::atomic<bool> isHooked_{false};  ///< spdlog holds a hook; written under its lock
};

/// Made before main(): see registryFromTheStart.
inline const DefaultBackend& defaultBackendFromTheStart = DefaultBackend::instance();

}  // namespace detail

SLUICE_LOG_INLINE std::shared_ptr<backend> default_backend() {
    return detail::DefaultBackend::instance().get();
}

SLUICE_LOG_INLINE void set_default_backend(std::shared_ptr<backend> next) {
    // The old back end ends here, without a lock.
    static_cast<void>(detail::DefaultBackend::instance().exchange(std::move(next)));
}

}  // namespace sluice::log
// NOLINTEND(misc-definitions-in-headers)

#endif
