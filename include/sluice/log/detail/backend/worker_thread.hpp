#pragma once

#include <sluice/log/backend_options.hpp>
#include <sluice/log/detail/backend/error_channel.hpp>
#include <sluice/wait/event_count.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace sluice::log::detail {

/// The thread of a back end, with its name and its processor.
///
/// Unlike a std::thread, it can be joined with a time limit, and it can be given up.
///
/// Threads: one thread at a time may call the members.
class WorkerThread {
public:
    WorkerThread() = default;
    WorkerThread(const WorkerThread&) = delete;
    WorkerThread& operator=(const WorkerThread&) = delete;
    ~WorkerThread() { giveUp(); }

    /// Runs body(errors) on a new thread. The objects that `body` refers to must live until `body`
    /// has returned, also if the thread is given up. Throws std::system_error if the system refuses
    /// a thread.
    template <class Body>
    void start(const backend_options& options, Body body) {
        std::promise<void> end;
        end_ = end.get_future();
        thread_ = std::make_unique<std::thread>(
            [&options, end = std::move(end), run = std::move(body)]() mutable {
                const ErrorChannel errors(options.thread_name, &noHandler);
                settle(options, errors);
                run(errors);
                { const Body last = std::move(run); }  // destroyed before join() returns
                end.set_value();
            });
    }

    bool isRunning() const noexcept { return thread_ != nullptr; }

    /// Waits until the thread has ended. False if `atMost` passed first.
    bool join(std::chrono::nanoseconds atMost) {
        if (thread_ == nullptr) {
            return true;
        }
        if (end_.wait_until(deadlineAfter<std::chrono::steady_clock>(atMost)) !=
            std::future_status::ready) {
            return false;
        }
        thread_->join();
        thread_.reset();
        return true;
    }

    /// Detaches the thread, which ends by itself.
    void giveUp() noexcept {
        if (thread_ != nullptr) {
            thread_->detach();
            thread_.reset();
        }
    }

    /// Called in the child of a fork(). The thread does not exist there, but its handle is
    /// joinable, so the handle is leaked.
    void forget() noexcept { static_cast<void>(thread_.release()); }

private:
    /// Sets the name and the processor of the calling thread. Reports a processor that the system
    /// refuses; the thread then runs on any processor.
    static void settle(const backend_options& options, const ErrorChannel& errors) {
#if defined(__linux__)
        pthread_setname_np(pthread_self(), options.thread_name.substr(0, 15).c_str());
        if (options.cpu >= 0) {
            cpu_set_t set;
            CPU_ZERO(&set);
            if (options.cpu < CPU_SETSIZE) {
                CPU_SET(static_cast<std::size_t>(options.cpu), &set);
            }
            if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) {
                errors.report("the system refuses backend_options::cpu = " +
                              std::to_string(options.cpu));
            }
        }
#else
        static_cast<void>(options);
        static_cast<void>(errors);
#endif
    }

    inline static const spdlog::err_handler noHandler{};

    std::unique_ptr<std::thread> thread_;
    std::future<void> end_;  ///< ready when the thread has destroyed its body
};

}  // namespace sluice::log::detail
