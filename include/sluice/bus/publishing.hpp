#pragma once

#include <sluice/base/send_result.hpp>
#include <sluice/bus/detail/publish_answer.hpp>
#include <sluice/bus/message_header.hpp>
#include <sluice/bus/messages.hpp>

#include <chrono>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace sluice {

/// The functions of a Bus that publish. Any thread may call them, also a handler. (With
/// Producers::one, one thread at a time.) With a result other than `ok` the caller keeps the
/// message.
///
///     bus.publish(Temperature{21.5});                      // medium priority
///     bus.publish(EmergencyStop{}, sluice::Priority::high);
///     bus.publishFor(5ms, Picture{...});                   // waits for room for 5 ms
///
/// A function that takes options also takes a Priority alone, if the bus has priorities. The
/// default is medium.
///
/// The first call of a thread allocates its counters, unless it has called attachThread(). Later
/// calls allocate nothing. An exception of a message's constructor passes to the caller. Then this
/// message is not published, and none after it in a range.
template <class Derived, class MessageList, class Traits, class QueuedMessage>
class Publishing {
public:
    /// Publishes a message, which it copies or moves.
    template <class T, class Options = PublishOptions>
    SendResult publish(T&& message, const Options& options = {}) {
        return emplaceWith<std::decay_t<T>>(options, std::forward<T>(message));
    }

    /// Builds a T in its slot. The arguments are used only if the message is accepted.
    template <class T, class... Args>
    SendResult emplace(Args&&... args) {
        return emplaceWith<T>(PublishOptions{}, std::forward<Args>(args)...);
    }
    template <class T, class Options = PublishOptions, class... Args>
    SendResult emplaceWith(const Options& options, Args&&... args) {
        return emplaced<T>(detail::optionsOf<Traits>(options), detail::WaitByPolicy(),
                           std::forward<Args>(args)...);
    }

    /// As publish(), but never waits for room, with any overflow policy.
    template <class T, class Options = PublishOptions>
    SendResult tryPublish(T&& message, const Options& options = {}) {
        return publishFor(std::chrono::nanoseconds(0), std::forward<T>(message), options);
    }

    /// As publish(), but waits for room for at most `timeout`, with any overflow policy. On the
    /// thread that consumes this bus it never waits, because the thread would wait for itself. In a
    /// handler of another bus it does not wait if the timeout leads beyond the range of the clock.
    template <class T, class Rep, class Period, class Options = PublishOptions>
    SendResult publishFor(std::chrono::duration<Rep, Period> timeout, T&& message,
                          const Options& options = {}) {
        return emplaced<std::decay_t<T>>(detail::optionsOf<Traits>(options), timeout,
                                         std::forward<T>(message));
    }

    /// Publishes copies of the messages of a range, as many as there is room for, in as few steps
    /// as possible. Returns the number of accepted messages; the others follow them in the range.
    /// Messages of other threads come between two steps only.
    template <class Iterator, class Options = PublishOptions>
    [[nodiscard]] std::size_t publishAll(Iterator first, Iterator last,
                                         const Options& options = {}) {
        const PublishOptions& all = detail::optionsOf<Traits>(options);
        using T = typename std::iterator_traits<Iterator>::value_type;
        static_assert(std::is_base_of_v<std::forward_iterator_tag,
                                        typename std::iterator_traits<Iterator>::iterator_category>,
                      "publishAll() counts the range first: it needs forward iterators");
        constexpr std::size_t type = detail::listedIndex<MessageList, T>();
        bool isFirst = true;
        const auto build = [&](QueuedMessage& queued) {
            if (!std::exchange(isFirst, false)) {
                ++first;  // before the message is built: ++ may throw
            }
            queued.template build<T>(*first);
        };
        const auto count = static_cast<std::size_t>(std::distance(first, last));
        [[maybe_unused]] const auto staying = derived().stay();  // also between the steps
        std::size_t accepted = 0;
        while (accepted < count) {
            const std::size_t n =
                derived()
                    .publishThrough(type, all, count - accepted, detail::WaitByPolicy(), build)
                    .count;
            if (n == 0) {
                break;
            }
            accepted += n;
        }
        return accepted;
    }

private:
    friend Derived;

    template <class T, class Waiting, class... Args>
    [[gnu::always_inline]] SendResult emplaced(const PublishOptions& options,
                                               const Waiting& waiting, Args&&... args) {
        const auto build = [&](QueuedMessage& queued) {
            queued.template build<T>(std::forward<Args>(args)...);
        };
        return derived()
            .publishThrough(detail::listedIndex<MessageList, T>(), options, detail::One(), waiting,
                            build)
            .result;
    }

    Publishing() = default;
    ~Publishing() = default;

    Derived& derived() noexcept { return static_cast<Derived&>(*this); }
};

}  // namespace sluice
