#pragma once

#include <sluice/actor/detail/replies/room_waiters.hpp>
#include <sluice/actor/request.hpp>
#include <sluice/base/handler_thread.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/bus/message_header.hpp>
#include <sluice/wait/deadline.hpp>

#include <chrono>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// A post that a coroutine awaits. See Coroutine.
template <class Object, class T>
struct PostToAwait {
    Object& object;
    T message;
    std::chrono::nanoseconds timeout;
    PublishOptions options;
};

/// Whether the post failed because there was no room.
[[nodiscard]] constexpr bool isWithoutRoom(SendResult result) noexcept {
    return result == SendResult::full;
}

/// Adds posts that wait for room, by a thread or by a coroutine. Object has `tryPost`. If it is
/// off, which is the default, it adds nothing to the object.
template <class Object, class Traits, bool IsOn = Traits::awaitedPosts>
class AwaitedPosting {
public:
    template <class... Args>
    void awaitPost(Args&&...) {
        refuse<Args...>();
    }

protected:
    template <class... Args>
    SendResult tryFor(Args&&...) {
        refuse<Args...>();
        return SendResult::full;
    }
    void tellRoom() noexcept {}

private:
    template <class... Args>
    static void refuse() {
        static_assert(sizeof...(Args) == 0,
                      "to wait for room, set awaitedPosts to true in the traits of this object");
    }
};

template <class Object, class Traits>
class AwaitedPosting<Object, Traits, true> {
public:
    /// Returns an object for `co_await`. The coroutine then waits for room for at most `timeout`,
    /// and posts the message.
    template <class T, class Rep, class Period, class Options = PublishOptions>
    [[nodiscard]] auto awaitPost(T&& message, std::chrono::duration<Rep, Period> timeout,
                                 const Options& options = {}) {
        using Nanoseconds = std::chrono::time_point<StdPlatform::Clock, std::chrono::nanoseconds>;
        static_assert(std::is_nothrow_move_constructible_v<std::decay_t<T>>,
                      "a message whose post is awaited must have a noexcept move constructor");
        return PostToAwait<Object, std::decay_t<T>>{
            static_cast<Object&>(*this), std::forward<T>(message),
            deadlineAfter(Nanoseconds(), timeout).time_since_epoch(), optionsOf<Traits>(options)};
    }
    /// Returns a future that is ready when messages have left the mailbox, or earlier.
    [[nodiscard]] Future<void> room() { return waiters_.add(); }

protected:
    /// Calls tryOnce() until it finds room, for at most `timeout`. Between two calls it waits for
    /// room. In a handler it does not wait. Returns the last result.
    template <class Rep, class Period, class TryOnce>
    SendResult tryFor(std::chrono::duration<Rep, Period> timeout, const TryOnce& tryOnce) {
        const auto deadline = deadlineAfter<StdPlatform::Clock>(timeout);
        for (;;) {
            Future<void> room = waiters_.add(deadline);
            const SendResult result = tryOnce();
            if (!isWithoutRoom(result) || HandlerThread<StdPlatform>::isHere()) {
                return result;
            }
            if (!room.get()) {
                // Once more: a thread that is stopped in add() may have kept the news of room.
                return tryOnce();
            }
        }
    }
    /// Called by the object's thread, after it has handled messages.
    void tellRoom() noexcept { waiters_.tell(); }

private:
    RoomWaiters<RequestTraits> waiters_;
};

}  // namespace sluice::detail
