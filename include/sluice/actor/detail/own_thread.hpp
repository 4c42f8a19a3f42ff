#pragma once

#include <sluice/actor/thread_options.hpp>
#include <sluice/base/on_exit.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/setup_error.hpp>

#if defined(_WIN32)
#include <process.h>
#else
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

#if defined(_WIN32)
extern "C" {
__declspec(dllimport) int __stdcall CloseHandle(void*);
__declspec(dllimport) void* __stdcall GetCurrentThread();
__declspec(dllimport) int __stdcall GetThreadPriority(void*);
__declspec(dllimport) int __stdcall MultiByteToWideChar(unsigned, unsigned long, const char*, int,
                                                        wchar_t*, int);
__declspec(dllimport) unsigned long __stdcall ResumeThread(void*);
__declspec(dllimport) std::size_t __stdcall SetThreadAffinityMask(void*, std::size_t);
__declspec(dllimport) long __stdcall SetThreadDescription(void*, const wchar_t*);
__declspec(dllimport) int __stdcall SetThreadPriority(void*, int);
__declspec(dllimport) unsigned long __stdcall WaitForSingleObject(void*, unsigned long);
}
#endif

namespace sluice::detail {

#if defined(_WIN32)

class OwnThread {
public:
    using Work = void (*)(void*) noexcept;

    /// Starts a thread that calls work(object). Calls setupError() if the thread cannot start.
    void start(const ThreadOptions& options, Work work, void* object) {
        const std::size_t length = std::strlen(options.name);
        requireAtMost("length of the name of an object's thread", length, 15);
        work_ = work;
        object_ = object;
        thread_ = reinterpret_cast<void*>(
            ::_beginthreadex(nullptr, 0, &run, this, 4 /* suspended */, nullptr));
        if (thread_ == nullptr) {
            setupError("one more thread, refused by Windows with this error",
                       static_cast<unsigned>(errno), 0);
        }
        wchar_t name[16] = L"";  // UTF-16 never has more units than UTF-8
        (void)::MultiByteToWideChar(65001 /* UTF-8 */, 0, options.name, -1, name, 16);
        (void)::SetThreadDescription(thread_, name);
        const bool hasPriority = ::SetThreadPriority(thread_, priorityOf(options)) != 0;
        const std::size_t processor = options.processor.value_or(0);
        const bool hasProcessor =
            !options.processor ||
            (processor < 8 * sizeof processor &&
             ::SetThreadAffinityMask(thread_, std::size_t{1} << processor) != 0);
        if (!hasPriority || !hasProcessor) {
            work_ = [](void*) noexcept {};
        }
        (void)::ResumeThread(thread_);
        if (hasPriority && hasProcessor) {
            return;
        }
        join();
        if (!hasPriority) {
            setupError("priority of an object's thread: 0 for `other`, 1, 2 or 15 for "
                       "`roundRobin`; Windows has no `fifo`",
                       options.priority, 15);
        }
        setupError("processor of an object's thread, not usable by this program", processor,
                   8 * sizeof processor - 1);
    }

    /// join() must be called once for each start().
    void join() const noexcept {
        (void)::WaitForSingleObject(thread_, ~0UL);
        (void)::CloseHandle(thread_);
    }

private:
    /// The priority on Windows, or an invalid number if the policy does not allow options.priority.
    static int priorityOf(const ThreadOptions& options) noexcept {
        const bool isZero = options.policy == SchedulingPolicy::other;
        if (options.policy == SchedulingPolicy::inherited) {
            return ::GetThreadPriority(::GetCurrentThread());
        }
        return options.policy == SchedulingPolicy::fifo || isZero != (options.priority == 0)
                   ? 99
                   : static_cast<int>(options.priority);
    }

    static unsigned __stdcall run(void* self) noexcept {
        const OwnThread& thread = *static_cast<OwnThread*>(self);
        thread.work_(thread.object_);
        return 0;
    }

    void* thread_ = nullptr;  ///< written by start(), read by join()
    Work work_ = nullptr;     ///< written by start(), read by the thread
    void* object_ = nullptr;
};

#else

/// A thread. start() passes the options to the system, and fails if the system refuses one.
class OwnThread {
public:
    using Work = void (*)(void*) noexcept;

    /// Starts a thread that calls work(object). Calls setupError() if the thread cannot start.
    void start(const ThreadOptions& options, Work work, void* object) {
        const std::size_t length = std::strlen(options.name);
        if (length >= sizeof name_) {
            setupError("length of the name of an object's thread", length, sizeof name_ - 1);
        }
        std::memcpy(name_, options.name, length + 1);
        work_ = work;
        object_ = object;
        const Attributes attributes;
        setPolicy(attributes, options);
        setProcessor(attributes, options);
#if defined(__linux__) && !defined(__GLIBC__)
        const InheritedProcessor inherited(options);
#endif
        const int error = pthread_create(&thread_, &attributes.value, &run, this);
        if (error != 0) {
            refused(error, options);
        }
    }

    /// join() must be called once for each start().
    void join() const noexcept { (void)pthread_join(thread_, nullptr); }

private:
    struct Attributes {
        Attributes() { (void)pthread_attr_init(&value); }
        ~Attributes() { (void)pthread_attr_destroy(&value); }
        Attributes(const Attributes&) = delete;
        Attributes& operator=(const Attributes&) = delete;
        mutable pthread_attr_t value{};
    };

    static void setPolicy(const Attributes& attributes, const ThreadOptions& options) {
        if (options.policy == SchedulingPolicy::inherited) {
            return;
        }
        const int policy = options.policy == SchedulingPolicy::fifo         ? SCHED_FIFO
                           : options.policy == SchedulingPolicy::roundRobin ? SCHED_RR
                                                                            : SCHED_OTHER;
        const auto lowest = static_cast<unsigned>(sched_get_priority_min(policy));
        const auto highest = static_cast<unsigned>(sched_get_priority_max(policy));
        if (options.priority > highest) {
            setupError("priority of an object's thread", options.priority, highest);
        }
        if (options.priority < lowest) {
            setupError("priority of an object's thread, below the limit", options.priority, lowest);
        }
        sched_param parameters{};
        parameters.sched_priority = static_cast<int>(options.priority);
        (void)pthread_attr_setinheritsched(&attributes.value, PTHREAD_EXPLICIT_SCHED);
        (void)pthread_attr_setschedpolicy(&attributes.value, policy);
        (void)pthread_attr_setschedparam(&attributes.value, &parameters);
    }

    static void setProcessor([[maybe_unused]] const Attributes& attributes,
                             const ThreadOptions& options) {
        if (!options.processor) {
            return;
        }
#if defined(__linux__)
        if (*options.processor >= CPU_SETSIZE) {
            setupError("processor of an object's thread", *options.processor, highestProcessor());
        }
#if defined(__GLIBC__)
        const cpu_set_t processors = only(*options.processor);
        (void)pthread_attr_setaffinity_np(&attributes.value, sizeof processors, &processors);
#endif
#else
        setupError("processor of an object's thread, which only Linux lets choose",
                   *options.processor, 0);
#endif
    }

#if defined(__linux__)
    static cpu_set_t only(unsigned processor) noexcept {
        cpu_set_t processors;
        CPU_ZERO(&processors);
        CPU_SET(processor, &processors);
        return processors;
    }
#if !defined(__GLIBC__)
    /// musl has no attribute for the processor, so a new thread inherits its creator's processor.
    struct InheritedProcessor {
        explicit InheritedProcessor(const ThreadOptions& options) {
            (void)sched_getaffinity(0, sizeof before, &before);
            if (options.processor) {
                const cpu_set_t processors = only(*options.processor);
                if (sched_setaffinity(0, sizeof processors, &processors) != 0) {
                    refused(errno, options);
                }
            }
        }
        ~InheritedProcessor() { (void)sched_setaffinity(0, sizeof before, &before); }
        InheritedProcessor(const InheritedProcessor&) = delete;
        InheritedProcessor& operator=(const InheritedProcessor&) = delete;
        cpu_set_t before{};
    };
#endif
#endif

    static unsigned long long highestProcessor() noexcept {
        const long count = sysconf(_SC_NPROCESSORS_CONF);
        return count > 0 ? static_cast<unsigned long long>(count) - 1 : 0;
    }

    static unsigned long long limitOf(decltype(RLIMIT_NPROC) resource) noexcept {
        rlimit limit{};
        return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : 0;
    }

    [[noreturn]] static void refused(int error, const ThreadOptions& options) {
        if (error == EPERM) {
#if defined(RLIMIT_RTPRIO)
            const unsigned long long highest = limitOf(RLIMIT_RTPRIO);
#else
            const unsigned long long highest = 0;
#endif
            setupError("priority of an object's thread, refused by the system: see RLIMIT_RTPRIO",
                       options.priority, highest);
        }
        if (error == EINVAL && options.processor) {
            setupError("processor of an object's thread, not usable by this program",
                       *options.processor, highestProcessor());
        }
        setupError("one more thread, refused by the system with this error: see RLIMIT_NPROC",
                   static_cast<unsigned long long>(error), limitOf(RLIMIT_NPROC));
    }

    static void* run(void* self) noexcept {
        OwnThread& thread = *static_cast<OwnThread*>(self);
#if defined(__linux__)
        if (thread.name_[0] != '\0') {
            (void)pthread_setname_np(pthread_self(), thread.name_);
        }
#elif defined(__APPLE__)
        (void)pthread_setname_np(thread.name_);
#endif
        thread.work_(thread.object_);
        return nullptr;
    }

    pthread_t thread_{};   ///< written by start(), read by join()
    char name_[16] = "";   ///< written by start(), read by the thread
    Work work_ = nullptr;  ///< written by start(), read by the thread
    void* object_ = nullptr;
};

#endif

/// Starts and joins the thread of an object. Any thread may call any member.
template <class Platform, class Wait>
class ThreadLifecycle {
public:
    [[nodiscard]] bool isIdle() const noexcept { return state() == State::idle; }
    [[nodiscard]] bool isIdleOrEnded() const noexcept {
        return state() == State::idle || state() == State::ended;
    }

    /// Returns false if the thread was started before, or if the object ended without a thread.
    /// Calls announce(true) before the thread runs. If the system refuses a thread, calls
    /// announce(false), and the state becomes idle again.
    template <class Announce>
    bool start(const ThreadOptions& options, OwnThread::Work work, void* object,
               const Announce& announce) {
        if (!take(State::idle, State::starting)) {
            return false;
        }
        bool isStarted = false;
        const OnExit idleUnlessStarted{[&] {
            if (!isStarted) {
                announce(false);
                become(State::idle);
            }
        }};
        announce(true);
        thread_.start(options, work, object);
        isStarted = true;
        become(State::running);  // E1 start
        return true;
    }

    /// Waits until the thread, if any, has ended; the thread itself must not call join().
    void join() {
        for (;;) {
            awaitStart();
            State seen = State::running;
            // Acquire: E1 start, E2 end.
            if (state_.compare_exchange_strong(seen, State::joining, std::memory_order_acq_rel,
                                               std::memory_order_acquire)) {
                thread_.join();
                become(State::ended);  // E2 end
                return;
            }
            if (seen == State::joining) {
                changed_.wait([this] { return state() == State::ended; });
                return;
            }
            // In the state `starting`, another thread is in start(), so join() retries.
            if (seen != State::starting) {
                return;
            }
        }
    }

    /// Waits for a running start(), and prevents a later start(). Returns true if no thread was
    /// started; the caller must then end the object and call endedWithoutThread().
    [[nodiscard]] bool takeUnstarted() {
        do {
            awaitStart();
            if (state() != State::idle) {
                return false;
            }
        } while (!take(State::idle, State::joining));
        return true;
    }
    void endedWithoutThread() noexcept { become(State::ended); }

    /// The object's thread may sleep on changed(); notifyAll() wakes that thread.
    [[nodiscard]] Wait& changed() noexcept { return changed_; }

private:
    // Happens-before edges (states: docs/algorithms/actors.md):
    //   E1 start: start -> join.
    //   E2 end: thread -> join.

    enum class State : unsigned char { idle, starting, running, joining, ended };

    [[nodiscard]] State state() const noexcept { return state_.load(std::memory_order_acquire); }
    void become(State next) noexcept {
        state_.store(next, std::memory_order_release);
        changed_.notifyAll();
    }
    [[nodiscard]] bool take(State from, State to) noexcept {
        return state_.compare_exchange_strong(from, to, std::memory_order_acq_rel,
                                              std::memory_order_relaxed);  // value only
    }
    void awaitStart() {
        changed_.wait([this] { return state() != State::starting; });
    }

    typename Platform::template Atomic<State> state_{State::idle};
    Wait changed_;      ///< notified when the state changes
    OwnThread thread_;  ///< used only by the thread that has set the state to starting or joining
};

}  // namespace sluice::detail
