#pragma once

#include <sluice/base/at_start.hpp>
#include <sluice/base/priority_mutex.hpp>

#include <mutex>

#if defined(__unix__)
#include <pthread.h>
#endif

namespace sluice {
namespace [[gnu::visibility("default")]] detail {

/// A base that calls `tell` in the child of a fork. There `tell` ends the operations of threads
/// that exist in the parent only. Their stacks are still in memory then.
///
/// Threads: any thread makes and destroys members. Shared objects that hide their symbols have a
/// list each, of the members that their code has made.
///
/// Progress: blocking, for a few instructions. If there is no memory for the handler of fork(),
/// `tell` is never called.
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
        // Registers the handler at the start of the program. A fork during a later registration
        // would leave it unfinished in the child.
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

    /// Takes no lock, because the child has one thread.
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

/// For objects of one thread. In the child this thread exists, because it has called fork().
class NoForkMember {
protected:
    template <class Tell>
    explicit NoForkMember(Tell) noexcept {}
};

}  // namespace detail
}  // namespace sluice
