#pragma once

/// \file
/// Sets up the default back end and its loggers, like spdlog's asynchronous mode.
///
///     sluice::log::init(8192, 1);  // optional
///     auto log = spdlog::basic_logger_mt<sluice::log::async_factory>("app", "app.log");
///     log->info("another thread writes this");
///     sluice::log::shutdown();
///
/// docs/migrating-from-spdlog-async.md compares Sluice's functions with spdlog's.
///
/// Thread safety: any thread may call any function, but no other thread may use spdlog's registry
/// during make_async().

#include <sluice/base/send_result.hpp>
#include <sluice/log/backend.hpp>
#include <sluice/log/backend_options.hpp>
#include <sluice/log/logger.hpp>

#include <spdlog/details/registry.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#if defined(SPDLOG_COMPILED_LIB)
// spdlog's compiled library instantiates the console logger functions only for spdlog's factories.
#include <spdlog/sinks/stdout_color_sinks-inl.h>
#include <spdlog/sinks/stdout_sinks-inl.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sluice::log {

/// Returns the default back end, and starts it if none is running. shutdown() and
/// spdlog::shutdown() end the default back end. At program exit, the default back end writes all
/// records; log calls after this point, for example in destructors of static objects, write on the
/// calling thread. Throws spdlog_ex if the back end cannot start.
std::shared_ptr<backend> default_backend();

/// Replaces the default back end. Existing loggers keep the old back end, which ends when its last
/// owner releases it. If `next` is null, the next logger starts a new default back end.
void set_default_backend(std::shared_ptr<backend> next);

/// A factory for spdlog's functions that create loggers. create() makes and registers a logger of
/// the default back end. Throws spdlog_ex if the name is taken or the back end cannot start.
template <Overflow Policy>
struct async_factory_impl {
    /// `args` are the arguments of the sink's constructor.
    template <class Sink, class... Args>
    static std::shared_ptr<async_logger> create(std::string name, Args&&... args) {
        auto sink = std::make_shared<Sink>(std::forward<Args>(args)...);
        auto made = std::make_shared<async_logger>(std::move(name), std::move(sink),
                                                   default_backend(), Policy);
        spdlog::details::registry::instance().initialize_logger(made);
        return made;
    }
};

// Policies for a full queue: block waits, dropOldest evicts old records, reject loses new records.
using async_factory = async_factory_impl<Overflow::block>;
using async_factory_nonblock = async_factory_impl<Overflow::dropOldest>;
using async_factory_discard = async_factory_impl<Overflow::reject>;

template <class Sink, class... Args>
std::shared_ptr<spdlog::logger> create_async(std::string name, Args&&... args) {
    return async_factory::create<Sink>(std::move(name), std::forward<Args>(args)...);
}

template <class Sink, class... Args>
std::shared_ptr<spdlog::logger> create_async_nb(std::string name, Args&&... args) {
    return async_factory_nonblock::create<Sink>(std::move(name), std::forward<Args>(args)...);
}

/// Replaces a logger with an async_logger, in spdlog's registry and as spdlog's default logger.
///
///     sluice::log::make_async(spdlog::default_logger());
///
/// Call make_async() at the start of the program, because existing pointers to the old logger still
/// log without a back end. Throws spdlog_ex if `logger` is null.
inline std::shared_ptr<async_logger>
make_async(const std::shared_ptr<spdlog::logger>& logger,
           const std::shared_ptr<backend>& by = default_backend(),
           Overflow policy = Overflow::block) {
    if (logger == nullptr) {
        spdlog::throw_spdlog_ex("make_async: the logger is null");
    }
    auto made = std::make_shared<async_logger>(*logger, by, policy);
    if (spdlog::default_logger() == logger) {
        spdlog::set_default_logger(made);
    } else if (spdlog::get(made->name()) == logger) {
        spdlog::drop(made->name());
        spdlog::register_logger(made);
    }
    return made;
}

/// Calls make_async() for spdlog's default logger and each logger in spdlog's registry, except
/// async_loggers. Do not call make_async() in spdlog::apply_all(), which locks the registry.
inline void make_all_async(const std::shared_ptr<backend>& by = default_backend(),
                           Overflow policy = Overflow::block) {
    std::vector<std::shared_ptr<spdlog::logger>> found;
    spdlog::apply_all([&](const std::shared_ptr<spdlog::logger>& one) { found.push_back(one); });
    if (std::find(found.begin(), found.end(), spdlog::default_logger()) == found.end()) {
        found.push_back(spdlog::default_logger());
    }
    for (const std::shared_ptr<spdlog::logger>& one : found) {
        if (one != nullptr && dynamic_cast<const async_logger*>(one.get()) == nullptr) {
            make_async(one, by, policy);
        }
    }
}

/// Starts a new default back end. The previous back end ends when its last owner releases it.
/// Throws spdlog_ex if an option is out of range.
void init(const backend_options& options);

/// Like spdlog::init_thread_pool(); `queue_size` is the number of records for each logging thread.
/// `thread_count` is 1 to 1000, but one thread writes: several threads could not keep the order.
void init(std::size_t queue_size, std::size_t thread_count,
          std::function<void()> on_thread_start = {}, std::function<void()> on_thread_stop = {});

/// Like spdlog::set_pattern(), but uses Sluice's pattern_formatter, and first waits at most one
/// second until the default back end has written all earlier records.
void set_pattern(const std::string& pattern,
                 spdlog::pattern_time_type type = spdlog::pattern_time_type::local);

/// Calls flush_wait() of the default back end. Returns true if there is no default back end.
bool flush_wait(std::chrono::nanoseconds timeout = no_limit);

/// Shuts down spdlog and the default back end. Returns false on timeout, or if a sink has failed,
/// like backend::shutdown(). Loggers created later start a new default back end. A program that
/// calls only spdlog::shutdown() waits at most backend_options::drain_timeout.
bool shutdown(std::chrono::nanoseconds timeout = no_limit);

}  // namespace sluice::log

// ---- Functions that sluice::log_compiled compiles once

#if defined(SLUICE_LOG_INLINE)

#include <sluice/base/spin_lock.hpp>
#include <sluice/log/detail/backend/backend_registry.hpp>
#include <sluice/log/detail/backend/frontend.hpp>
#include <sluice/log/pattern_formatter.hpp>

#include <atomic>
#include <cstdlib>
#include <mutex>

#if defined(_WIN32)
#include <corecrt_startup.h>
#endif

// NOLINTBEGIN(misc-definitions-in-headers)
namespace sluice::log {

namespace detail {

/// Holds the default back end. Never destroyed, because destructors of static objects may log.
/// BackendRegistry's lock guards backend_, because a forked child never finds this lock held.
class DefaultBackend {
public:
    /// All shared libraries use one DefaultBackend, even libraries that hide their symbols.
    [[gnu::visibility("default")]] static DefaultBackend& instance() {
        static DefaultBackend* const forEver = new DefaultBackend;
        return *forEver;
    }

    std::shared_ptr<backend> get() {
        watchExit();
        std::shared_ptr<backend> found = peek();
        if (!found) {
            // Creates the back end before locking, because backend's constructor takes the same
            // lock. If two threads create back ends simultaneously, the first back end is kept.
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
    // Happens-before edges: E1 exit: leave -> watchShutdown. E2 watch: watchExit -> watchExit.

    /// Detects spdlog::shutdown(), which destroys the ShutdownHook. A ShutdownHook replaces the
    /// thread pool in spdlog's registry, and keeps the pool alive.
    class ShutdownHook {
    public:
        explicit ShutdownHook(std::shared_ptr<spdlog::details::thread_pool> pool)
            : pool_(std::move(pool)) {}
        ~ShutdownHook() { instance().hookIsGone(); }

    private:
        const std::shared_ptr<spdlog::details::thread_pool> pool_;
    };

    void watchShutdown() {
        // A sink must not wait for spdlog::shutdown(), which may hold tp_mutex() and wait for the
        // sink.
        if (isHooked_.load(std::memory_order_relaxed) || BatchScope::isInside() ||  // hint
            hasLeft_.load(std::memory_order_acquire)) {                             // E1 exit
            return;
        }
        for (Backoff backoff; !tryHook();) {
            backoff.wait();
        }
    }

    /// Blocks fork() while holding spdlog's tp_mutex(), so that a child finds tp_mutex() free. Only
    /// tries to lock tp_mutex(), because spdlog::shutdown() takes both locks in reverse order.
    bool tryHook() {
        const std::lock_guard<BackendRegistry> noFork(BackendRegistry::instance());
        spdlog::details::registry& registry = spdlog::details::registry::instance();
        const std::unique_lock<std::recursive_mutex> lock(registry.tp_mutex(), std::try_to_lock);
        if (lock && !isHooked_.load(std::memory_order_relaxed)) {  // under tp_mutex()
            hook(registry);
        }
        return lock.owns_lock();
    }

    /// Replaces the thread pool in spdlog's registry with a ShutdownHook. Requires tp_mutex().
    void hook(spdlog::details::registry& registry) {
        const auto pool = registry.get_tp();
        const auto hook = std::make_shared<ShutdownHook>(pool);
        isHooked_.store(true, std::memory_order_relaxed);  // under tp_mutex()
        registry.set_tp(std::shared_ptr<spdlog::details::thread_pool>(hook, pool.get()));
    }

    /// Called under tp_mutex(), when spdlog releases the ShutdownHook.
    void hookIsGone() {
        if (hasLeft_.load(std::memory_order_acquire)) {  // E1 exit
            return;
        }
        isHooked_.store(false, std::memory_order_relaxed);  // under tp_mutex()
        spdlog::details::registry& registry = spdlog::details::registry::instance();
        if (registry.get_tp().use_count() != 0) {  // spdlog has a new thread pool
            if (!BatchScope::isInside()) {
                hook(registry);
            }
        } else if (const std::shared_ptr<backend> last = exchange(nullptr)) {
            last->shutdown(last->core_->options().drain_timeout);
        }
    }

    /// Registers leave() with atexit(). If two threads register leave(), the second call of leave()
    /// does nothing. Takes no lock, because a forked child could find the lock held forever.
    void watchExit() {
        if (!watchesExit_.load(std::memory_order_acquire)) {  // E2 watch
            // spdlog's registry must exist before atexit(), so that it is destroyed after leave().
            static_cast<void>(spdlog::details::registry::instance());
#if defined(_WIN32)
            // The atexit() of a DLL would call leave() after Windows has ended the worker thread.
            const bool isWatching = sluice::detail::windows::keepLoaded() &&
                                    ::_crt_atexit([] { instance().leave(); }) == 0;
#else
            const bool isWatching = std::atexit([] { instance().leave(); }) == 0;
#endif
            if (isWatching) {
                watchesExit_.store(true, std::memory_order_release);  // E2 watch
            }
        }
    }

    void leave() {
        if (!hasLeft_.exchange(true, std::memory_order_acq_rel)) {  // E1 exit
#if defined(_WIN32)
            if (sluice::detail::windows::hasEndedThreads()) {
                return;  // the DLL's own C runtime calls leave() after all other threads ended
            }
#endif
            if (const std::shared_ptr<backend> last = peek()) {
                last->leave();
            }
        }
    }

    std::shared_ptr<backend> backend_;  ///< guarded by BackendRegistry's lock
    std::atomic<bool> watchesExit_{false};
    std::atomic<bool> hasLeft_{false};   ///< leave() was called at program exit
    std::atomic<bool> isHooked_{false};  ///< spdlog holds a ShutdownHook; written under tp_mutex()
};

/// Created before main(), because a child forked during the creation would wait forever.
inline const DefaultBackend& defaultBackendFromTheStart = DefaultBackend::instance();

}  // namespace detail

SLUICE_LOG_INLINE std::shared_ptr<backend> default_backend() {
    return detail::DefaultBackend::instance().get();
}

SLUICE_LOG_INLINE void set_default_backend(std::shared_ptr<backend> next) {
    // Drops the previous back end after exchange() has unlocked the registry.
    static_cast<void>(detail::DefaultBackend::instance().exchange(std::move(next)));
}

SLUICE_LOG_INLINE void init(const backend_options& options) {
    set_default_backend(std::make_shared<backend>(options));
}

SLUICE_LOG_INLINE void init(std::size_t queue_size, std::size_t thread_count,
                            std::function<void()> on_thread_start,
                            std::function<void()> on_thread_stop) {
    if (thread_count == 0 || thread_count > 1000) {
        spdlog::throw_spdlog_ex("sluice::log::init(): thread_count: " +
                                std::to_string(thread_count) + ", valid range is 1-1000");
    }
    backend_options options;
    options.queue_size = queue_size;
    options.on_thread_start = std::move(on_thread_start);
    options.on_thread_stop = std::move(on_thread_stop);
    init(options);
}

SLUICE_LOG_INLINE void set_pattern(const std::string& pattern, spdlog::pattern_time_type type) {
    static_cast<void>(flush_wait(std::chrono::seconds(1)));
    spdlog::set_formatter(std::make_unique<pattern_formatter>(pattern, type));
}

SLUICE_LOG_INLINE bool flush_wait(std::chrono::nanoseconds timeout) {
    const std::shared_ptr<backend> current = detail::DefaultBackend::instance().peek();
    return !current || current->flush_wait(timeout);
}

SLUICE_LOG_INLINE bool shutdown(std::chrono::nanoseconds timeout) {
    const std::shared_ptr<backend> last = detail::DefaultBackend::instance().exchange(nullptr);
    spdlog::shutdown();
    return !last || last->shutdown(timeout);
}

}  // namespace sluice::log
// NOLINTEND(misc-definitions-in-headers)

#endif
