#pragma once

/// \file
/// The functions of backend.

#include <sluice/log/backend.hpp>
#include <sluice/log/detail/backend/backend_access.hpp>
#include <sluice/log/detail/backend/backend_core.hpp>
#include <sluice/log/detail/compiled/inline.hpp>
#include <sluice/log/statistics.hpp>

#include <spdlog/common.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

// Not inline in the compiled library, which includes each of these headers once.
// NOLINTBEGIN(misc-definitions-in-headers)
namespace sluice::log {

namespace detail {

SLUICE_LOG_INLINE void checkOption(const char* setting, std::size_t value, std::size_t least,
                                   std::size_t most) {
    if (value < least || value > most) {
        spdlog::throw_spdlog_ex(std::string("sluice::log::backend: ") + setting + ": " +
                                std::to_string(value) + ", limit " +
                                std::to_string(value < least ? least : most));
    }
}

SLUICE_LOG_INLINE std::shared_ptr<BackendCore> makeBackendCore(const backend_options& options) {
    using Limits = RecordQueueOptions;
    using Records = RecordWriter<RecordHead, RecordQueueTraits>;
    checkOption("queue_size", options.queue_size, 1, Limits::mostMessages);
    checkOption("queue_bytes", options.bytes_of_room(), Records::leastBytes, Limits::mostBytes);
    if (options.max_hold <= options.max_hold.zero()) {
        spdlog::throw_spdlog_ex("sluice::log::backend: max_hold in nanoseconds must be at least 1");
    }
    return std::make_shared<BackendCore>(options);
}

SLUICE_LOG_INLINE void BackendAccess::leave(backend& which) {
    which.leave();
}

SLUICE_LOG_INLINE void BackendAccess::end(backend& which) {
    which.shutdown(which.core_->options().drain_timeout);
}

SLUICE_LOG_INLINE std::shared_ptr<Frontend>
BackendAccess::frontend(const std::shared_ptr<backend>& of) noexcept {
    return of ? of->core_ : nullptr;
}

}  // namespace detail

SLUICE_LOG_INLINE backend::backend(const backend_options& options)
    : core_(detail::makeBackendCore(options)) {
    try {
        if (!options.manual) {
            core_->start();
        }
    } catch (const std::system_error& error) {
        spdlog::throw_spdlog_ex(std::string("sluice::log::backend: the system refuses a thread: ") +
                                error.what());
    }
}

SLUICE_LOG_INLINE backend::~backend() {
    shutdown(core_->options().drain_timeout);
}

SLUICE_LOG_INLINE std::size_t backend::poll() noexcept {
    return core_->poll();
}

SLUICE_LOG_INLINE bool backend::flush_wait(std::chrono::nanoseconds timeout) {
    return core_->flushAndWait(timeout);
}

SLUICE_LOG_INLINE bool backend::shutdown(std::chrono::nanoseconds timeout) {
    const std::unique_lock<std::mutex> lock = lockToEnd();
    if (lock && !isEnded_) {
        isEnded_ = true;
        isComplete_ = core_->close(timeout);
    }
    return lock && isComplete_;
}

SLUICE_LOG_INLINE std::size_t backend::overrun_counter() const {
    return static_cast<std::size_t>(core_->records().overrun());
}
SLUICE_LOG_INLINE std::size_t backend::discard_counter() const {
    return static_cast<std::size_t>(core_->records().discarded());
}
SLUICE_LOG_INLINE void backend::reset_overrun_counter() {
    core_->records().resetOverrun();
}
SLUICE_LOG_INLINE void backend::reset_discard_counter() {
    core_->records().resetDiscarded();
}
SLUICE_LOG_INLINE std::size_t backend::refused_counter() const {
    return static_cast<std::size_t>(core_->refused());
}
SLUICE_LOG_INLINE std::size_t backend::queue_size() const {
    return core_->records().statistics().messages;
}

SLUICE_LOG_INLINE backend_statistics backend::statistics() const {
    // Reserved first, because the visit must not allocate: it runs with a lock.
    std::vector<thread_statistics> threads;
    threads.reserve(2 * core_->records().laneCount() + 16);
    backend_statistics result = core_->records().statistics([&threads](thread_statistics& lane) {
        if (threads.size() < threads.capacity()) {
            threads.push_back(std::move(lane));
        }
    });
    result.threads = std::move(threads);
    result.written = core_->harvester().written();
    result.lost_in_sinks = core_->harvester().lost();
    result.refused = core_->refused();
    return result;
}

/// Called at the end of the program. Writes all records. From now on each thread that logs writes
/// its own records.
SLUICE_LOG_INLINE void backend::leave() {
    const std::chrono::nanoseconds timeout = core_->options().drain_timeout;
    core_->poll();  // the polling thread of a manual back end may have ended
    core_->flushAndWait(timeout);
    const std::unique_lock<std::mutex> lock = lockToEnd();
    if (lock && !isEnded_) {
        core_->leave(timeout);
    }
}

/// Locks the end of the back end. A sink only tries to lock: another thread may have the lock and
/// wait for this sink.
SLUICE_LOG_INLINE std::unique_lock<std::mutex> backend::lockToEnd() {
    return detail::BackendCore::isInHarvest()
               ? std::unique_lock<std::mutex>(ending_, std::try_to_lock)
               : std::unique_lock<std::mutex>(ending_);
}

}  // namespace sluice::log
// NOLINTEND(misc-definitions-in-headers)
