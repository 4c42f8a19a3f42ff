#pragma once

#include <sluice/actor/detail/mailbox/flight_limits.hpp>
#include <sluice/actor/detail/replies/requesting.hpp>
#include <sluice/actor/detail/replies/room_requests.hpp>
#include <sluice/actor/detail/threads/handler_thread.hpp>
#include <sluice/bus/bus.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// The mailbox of an active object, and the ways into it.
template <class MessageList, class Traits>
class Posting : public Requesting<Posting<MessageList, Traits>>,
                public RoomRequests<Posting<MessageList, Traits>, Traits> {
public:
    using Statistics = typename Bus<MessageList, Traits>::Statistics;

    /// Posts a copy of, or moves in, a message. Medium priority unless told otherwise.
    template <class T>
    PublishResult post(T&& message) {
        return admit<std::decay_t<T>>(Priority::medium,
                                      [&] { return mailbox_.publish(std::forward<T>(message)); });
    }
    template <class T>
    PublishResult post(T&& message, Priority priority) {
        return admit<std::decay_t<T>>(
            priority, [&] { return mailbox_.publish(std::forward<T>(message), priority); });
    }
    template <class T>
    PublishResult post(T&& message, const PublishOptions& options) {
        return admit<std::decay_t<T>>(
            options.priority, [&] { return mailbox_.publish(std::forward<T>(message), options); });
    }

    /// Builds a T in its slot. The arguments are used only if it is accepted.
    template <class T, class... Args>
    PublishResult emplace(Args&&... args) {
        return admit<T>(Priority::medium,
                        [&] { return mailbox_.template emplace<T>(std::forward<Args>(args)...); });
    }
    template <class T, class... Args>
    PublishResult emplaceWith(const PublishOptions& options, Args&&... args) {
        return admit<T>(options.priority, [&] {
            return mailbox_.template emplaceWith<T>(options, std::forward<Args>(args)...);
        });
    }

    /// Never waits for room, whatever the overflow policy.
    template <class T>
    PublishResult tryPost(T&& message, const PublishOptions& options = {}) {
        return admit<std::decay_t<T>>(options.priority, [&] {
            return mailbox_.tryPublish(std::forward<T>(message), options);
        });
    }
    /// Waits for room for at most `timeout`, whatever the overflow policy. Not in a handler, and
    /// not before the start.
    template <class T, class Rep, class Period>
    PublishResult postFor(std::chrono::duration<Rep, Period> timeout, T&& message,
                          const PublishOptions& options = {}) {
        return admit<std::decay_t<T>>(options.priority, [&] {
            return mailbox_.publishFor(timeout, std::forward<T>(message), options);
        });
    }

    /// See Bus::attachThread().
    bool attachThread() noexcept { return mailbox_.attachThread(); }

    // ---- Anybody

    /// Whether the caller is the object's thread: a handler, or something called by one.
    [[nodiscard]] bool isHere() const noexcept {
        // Relaxed: equal only if this thread wrote it.
        return servedBy_.load(std::memory_order_relaxed) == Traits::Platform::thisThread();
    }
    /// Whether the object refuses messages.
    [[nodiscard]] bool isClosed() const noexcept { return mailbox_.isClosed(); }
    [[nodiscard]] Pressure pressure() const noexcept { return mailbox_.pressure(); }
    [[nodiscard]] std::size_t sizeApprox() const noexcept { return mailbox_.sizeApprox(); }
    [[nodiscard]] static constexpr std::size_t capacity() noexcept {
        return MailboxBus::capacity();
    }
    /// The accounts of the mailbox.
    [[nodiscard]] Statistics statistics() const { return mailbox_.statistics(); }

protected:
    using MailboxBus = Bus<MessageList, Traits>;

    /// The calling thread is the object's, as long as this lives.
    struct Serving {
        // Relaxed, both: only this thread compares equal.
        explicit Serving(Posting& o) noexcept : object(o) {
            object.servedBy_.store(Traits::Platform::thisThread(), std::memory_order_relaxed);
        }
        ~Serving() { object.servedBy_.store(nullptr, std::memory_order_relaxed); }
        Serving(const Serving&) = delete;
        Serving& operator=(const Serving&) = delete;
        Posting& object;
        const HandlerThread handlers;
    };

    /// Until the object is started nobody makes room, so posts do not wait.
    Posting() noexcept { mailbox_.letPublishersWait(false); }
    ~Posting() = default;

    static typename MailboxBus::Clock::time_point now() noexcept {
        return MailboxBus::Clock::now();
    }
    /// Has the object's thread look at its timers. The wait strategy has the fences.
    void tell() noexcept { mailbox_.waiting().notifyAll(); }

    MailboxBus mailbox_;
    FlightLimits<MessageList, Traits> flights_;

private:
    /// Posts by publish() unless the type has as many in flight as it may have. Such a refusal is
    /// in the accounts of the mailbox, too.
    template <class T, class Publish>
    PublishResult admit(Priority priority, const Publish& publish) {
        return flights_.template takeOff<T>(publish, [&] {
            if (isClosed()) {
                return publish();  // which says so
            }
            mailbox_.template countAsFull<T>(priority);
            return PublishResult::full;
        });
    }

    /// The object's thread while it runs. Written by that thread.
    typename Traits::Platform::template Atomic<const void*> servedBy_{nullptr};
};

}  // namespace sluice::detail
