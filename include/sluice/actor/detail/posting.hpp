#pragma once

#include <sluice/actor/detail/awaited_posting.hpp>
#include <sluice/actor/detail/in_flight_limits.hpp>
#include <sluice/actor/request.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/bus/bus.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// The mailbox of an active object, and its posting functions.
template <class MessageList, class Traits>
class Posting : public Requesting<Posting<MessageList, Traits>>,
                public AwaitedPosting<Posting<MessageList, Traits>, Traits> {
public:
    using Statistics = typename Bus<MessageList, Traits>::Statistics;

    /// Posts a message: copies or moves it into the mailbox. The default priority is medium.
    /// `options` may be a Priority.
    template <class T, class Options = PublishOptions>
    SendResult post(T&& message, const Options& options = {}) {
        return admit<std::decay_t<T>>(
            options, [&] { return mailbox_.publish(std::forward<T>(message), options); });
    }

    /// Posts a T, which it builds in its slot from the arguments. If the message is refused, it
    /// does not touch the arguments.
    template <class T, class... Args>
    SendResult emplace(Args&&... args) {
        return emplaceWith<T>(PublishOptions{}, std::forward<Args>(args)...);
    }
    template <class T, class Options = PublishOptions, class... Args>
    SendResult emplaceWith(const Options& options, Args&&... args) {
        return admit<T>(options, [&] {
            return mailbox_.template emplaceWith<T>(options, std::forward<Args>(args)...);
        });
    }

    /// Posts a message. With any overflow policy, it does not wait for room.
    template <class T, class Options = PublishOptions>
    SendResult tryPost(T&& message, const Options& options = {}) {
        return admit<std::decay_t<T>>(
            options, [&] { return mailbox_.tryPublish(std::forward<T>(message), options); });
    }
    /// Posts a message. With any overflow policy, it waits for room for at most `timeout`. In a
    /// handler and before the start it does not wait.
    template <class T, class Rep, class Period, class Options = PublishOptions>
    SendResult postFor(std::chrono::duration<Rep, Period> timeout, T&& message,
                       const Options& options = {}) {
        return admit<std::decay_t<T>>(options, [&] {
            return mailbox_.publishFor(timeout, std::forward<T>(message), options);
        });
    }

    // ---- Any thread

    /// Whether the caller is the object's thread.
    [[nodiscard]] bool isHere() const noexcept {
        // Relaxed: the values are equal only if this thread wrote servedBy_.
        return servedBy_.load(std::memory_order_relaxed) == Traits::Platform::thisThread();
    }
    /// Whether the object refuses messages.
    [[nodiscard]] bool isClosed() const noexcept { return mailbox_.isClosed(); }
    [[nodiscard]] Pressure pressure() const noexcept { return mailbox_.pressure(); }
    [[nodiscard]] std::size_t sizeApprox() const noexcept { return mailbox_.sizeApprox(); }
    [[nodiscard]] static constexpr std::size_t capacity() noexcept {
        return MailboxBus::capacity();
    }
    /// The counts of the mailbox.
    [[nodiscard]] Statistics statistics() const { return mailbox_.statistics(); }

protected:
    using MailboxBus = Bus<MessageList, Traits>;

    /// While a Serving lives, its thread is the object's thread.
    struct Serving {
        // Relaxed, both: other threads only find that the value is not their own.
        explicit Serving(Posting& o) noexcept : object(o) {
            object.servedBy_.store(Traits::Platform::thisThread(), std::memory_order_relaxed);
        }
        ~Serving() { object.servedBy_.store(nullptr, std::memory_order_relaxed); }
        Serving(const Serving&) = delete;
        Serving& operator=(const Serving&) = delete;
        Posting& object;
        const HandlerThread<typename Traits::Platform> handlers;
    };

    /// Before the start no thread makes room, so posts must not wait.
    Posting() noexcept { mailbox_.letPublishersWait(false); }
    ~Posting() = default;

    static typename MailboxBus::Clock::time_point now() noexcept {
        return MailboxBus::Clock::now();
    }
    /// Makes the object's thread check its timers. notifyAll() has the fences.
    void tell() noexcept { mailbox_.waiting().notifyAll(); }

    MailboxBus mailbox_;
    InFlightLimits<MessageList, Traits> flights_;

private:
    /// Posts by publish(), if the limit of the type allows it. A refusal because of this limit is
    /// also counted in the mailbox.
    template <class T, class Options, class Publish>
    SendResult admit(const Options& options, const Publish& publish) {
        return flights_.template takeOff<T>(publish, [&] {
            if (isClosed()) {
                return publish();  // publish() counts and returns the refusal
            }
            mailbox_.template countAsFull<T>(optionsOf<Traits>(options).priority);
            return SendResult::full;
        });
    }

    /// The object's thread, or null if it does not run. Written by that thread.
    typename Traits::Platform::template Atomic<const void*> servedBy_{nullptr};
};

}  // namespace sluice::detail
