#pragma once

#include <sluice/base/at_start.hpp>
#include <sluice/base/priority_mutex.hpp>

#include <mutex>

#if defined(__unix__)
#include <pthread.h>
#endif

namespace sluice {
namespace [[gnu::visibility("default")]] detail {

/// An object that is told when it is in the child of a fork, where one thread is left. So it ends
/// the operations of the other threads. Their stacks are still in memory then.
///
/// Threads: any thread makes and ends members. Each shared object has a list of those
/// that its code has made.
///
/// Progress: blocking, for a few instructions. Without memory for the handler of fork(), nobody is
/// told.
///
/// Tests: tests/unit/event/event_queue_fork_test.cpp.
template <class Lock>
class BasicForkMember {
public:
    BasicForkMember(const BasicForkMember&) = delete;
    BasicForkMember& operator=(const BasicForkMember&) = delete;

protected:
    using Tell = void (*)(BasicForkMember&) noexcept;

    explicit BasicForkMember(Tell tell) noexcept : tell_(tell) {
        // A thread that forks while another one registered would leave a registration in the child
        // that nobody ends.
        (void)&AtStart<&registerHandler>::call;
        const std::lock_guard<Lock> guard(lock_);
        next_ = first_;
        if (next_ != nullptr) {
            next_->previous_ = this;
        }
        first_ = this;
    }
    ~BasicForkMember() {
        const std::lock_guard<Lock> guard(lock_);
        (previous_ != nullptr ? previous_->next_ : first_) = next_;
        if (next_ != nullptr) {
            next_->previous_ = previous_;
        }
    }

private:
    static bool registerHandler() noexcept {
#if defined(__unix__)
        return ::pthread_atfork(nullptr, nullptr, &tellAll) == 0;
#else
        return true;
#endif
    }

    /// One thread is left, so without the lock.
    static void tellAll() noexcept {
        for (BasicForkMember* member = first_; member != nullptr; member = member->next_) {
            member->tell_(*member);
        }
    }

    const Tell tell_;
    BasicForkMember* previous_ = nullptr;
    BasicForkMember* next_ = nullptr;

    inline static Lock lock_;
    inline static BasicForkMember* first_ = nullptr;
};

using ForkMember = BasicForkMember<PriorityMutex>;

/// For objects of one thread: the thread that forks is the one that is left.
class NoForkMember {
protected:
    template <class Tell>
    explicit NoForkMember(Tell) noexcept {}
};

}  // namespace detail
}  // namespace sluice
