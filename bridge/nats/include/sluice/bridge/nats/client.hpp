#pragma once

#include <sluice/base/expected.hpp>
#include <sluice/bridge/nats/detail/coding.hpp>
#include <sluice/bridge/nats/detail/requests.hpp>
#include <sluice/bridge/nats/detail/subject.hpp>
#include <sluice/bridge/nats/options.hpp>
#include <sluice/bridge/nats/statistics.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/wait/park.hpp>
#include <sluice/wire/codec.hpp>
#include <sluice/wire/envelope.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace sluice::nats {

/// The result of a request: the answer or an error.
template <class Answer>
using Reply = Expected<Answer, RequestError>;

namespace detail {

/// Sends the questions of one route, and reads the answers.
template <class Question, class Answer>
class Asker {
public:
    using Clock = Requests::Clock;

    Asker(Requests& requests, Counters& counters, const NatsRoute& route,
          const NatsOptions& options, std::uint32_t incarnation)
        : requests_(requests),
          counters_(counters),
          question_(questionTypeOf(route)),
          answer_(answerTypeOf(route)),
          origin_(options.origin),
          incarnation_(incarnation),
          maxMessageSize_(options.maxMessageSize) {
        for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
            subjects_[static_cast<std::size_t>(priority)] = subjectOf(route, {}, priority);
        }
    }

    template <class Callback>
    void ask(const Question& question, Clock::time_point deadline, Callback&& callback,
             Priority priority, std::uint64_t trace) {
        auto end = [this, callback = std::forward<Callback>(callback)](const Arrival* arrival,
                                                                       RequestError error) mutable {
            Reply<Answer> reply = arrival == nullptr ? Unexpected(error) : read(*arrival);
            count(reply);
            callback(std::move(reply));
        };
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        if (left.count() <= 0) {
            return end(nullptr, RequestError::timedOut);
        }
        // make_unique would clear the buffer.
        const std::unique_ptr<unsigned char[]> bytes(new unsigned char[maxMessageSize_]);
        std::size_t body = 0;
        const OutletResult form = encodeBody(question, bytes.get(), maxMessageSize_, body);
        if (form != OutletResult::ok) {
            return end(nullptr, errorOf(form));
        }
        wire::Envelope envelope;
        envelope.traceId = trace;
        envelope.schemaHash = wire::Codec<Question>::schemaHash();
        envelope.type = question_;
        envelope.priority = static_cast<std::uint8_t>(priority);
        envelope.origin = origin_;
        envelope.incarnation = incarnation_;
        envelope.sequence = static_cast<std::uint64_t>(left.count());
        wire::encodeEnvelope(envelope, bytes.get(), static_cast<std::uint32_t>(body));
        requests_.send(priority, subjects_[static_cast<std::size_t>(priority)].c_str(), bytes.get(),
                       wire::envelopeSize + body, deadline, std::move(end));
    }

private:
    /// Reads an answer. The envelope's sequence is 0, or a RequestError from `full` to
    /// `unencodable`.
    Reply<Answer> read(const Arrival& arrival) const noexcept {
        wire::Envelope envelope;
        if (wire::decodeEnvelope(arrival.bytes, arrival.size, envelope) !=
                wire::EnvelopeError::none ||
            envelope.type != answer_) {
            return Unexpected(RequestError::otherSchema);
        }
        if (envelope.sequence != 0) {
            const bool isKnown =
                envelope.sequence >= static_cast<std::uint64_t>(RequestError::full) &&
                envelope.sequence <= static_cast<std::uint64_t>(RequestError::unencodable);
            return Unexpected(isKnown ? static_cast<RequestError>(envelope.sequence)
                                      : RequestError::refused);
        }
        std::optional<Answer> answer;
        if (!isReadableAs<Answer>(envelope.schemaHash) ||
            decodeBody(arrival.bytes, arrival.size, answer) != Reading::ok) {
            return Unexpected(RequestError::otherSchema);
        }
        return std::move(*answer);
    }

    void count(const Reply<Answer>& reply) noexcept {
        add(reply                                        ? counters_.answered
            : reply.error() == RequestError::timedOut    ? counters_.timedOut
            : reply.error() == RequestError::noResponder ? counters_.noResponder
                                                         : counters_.failedRequests);
    }

    Requests& requests_;
    Counters& counters_;
    const std::uint32_t question_;
    const std::uint32_t answer_;
    const std::uint64_t origin_;
    const std::uint32_t incarnation_;
    const std::size_t maxMessageSize_;
    std::array<std::string, priorityCount> subjects_;
};

}  // namespace detail

/// Sends requests to programs that serve a subject with NatsBridge::serve(). The bridge owns the
/// connection, so it must outlive the client.
///
///     auto where = bridge.client<Where, Position>({"fleet.where"});
///     const auto position = where.request(Where{7}, std::chrono::milliseconds(200)).get();
///     use(position ? *position : Position{});  // otherwise position.error() is a RequestError
///
/// Each request ends exactly once, with an answer or an error, at its deadline at the latest. After
/// `timedOut`, the handler may have run, or may still run on another machine. If several programs
/// serve the subject, one of them receives each question.
///
/// Threads: any thread may call request(), including handlers and callbacks. request() does not
/// wait. A handler must not wait for the future if its own bus serves the question.
///
/// Performance: a request allocates a buffer of maxMessageSize bytes and a table entry.
template <class Question, class Answer>
class Client {
    using Asker = detail::Asker<Question, Answer>;

public:
    /// Sends a question. Throws std::bad_alloc.
    template <class Rep, class Period>
    [[nodiscard]] std::future<Reply<Answer>>
    request(const Question& question, std::chrono::duration<Rep, Period> timeout,
            Priority priority = Priority::medium, std::uint64_t trace = 0) {
        auto promise = std::make_shared<std::promise<Reply<Answer>>>();
        auto future = promise->get_future();
        request(
            question, timeout,
            [promise](Reply<Answer>&& reply) { promise->set_value(std::move(reply)); }, priority,
            trace);
        return future;
    }

    /// Calls `callback` once: on a thread of the bridge, or before the return if the question
    /// cannot be sent. The callback must not throw, wait, or close the bridge; it may publish the
    /// answer into a bus. After `full` or `closed`, it must not send another request, because
    /// requests that fail immediately would recurse without end.
    ///
    ///     where.request(Where{7}, 200ms, [](sluice::nats::Reply<Position>&& position) { ... });
    template <class Rep, class Period, class Callback,
              std::enable_if_t<std::is_invocable_v<Callback&, Reply<Answer>>, int> = 0>
    void request(const Question& question, std::chrono::duration<Rep, Period> timeout,
                 Callback callback, Priority priority = Priority::medium, std::uint64_t trace = 0) {
        static_assert(std::is_copy_constructible_v<Callback>,
                      "the function of a request is copied: capture a std::shared_ptr to an object "
                      "that cannot be copied");
        asker_.ask(question, deadlineAfter<typename Asker::Clock>(timeout), std::move(callback),
                   priority, trace);
    }

private:
    template <class AnyBus>
    friend class NatsBridge;
    explicit Client(Asker& asker) : asker_(asker) {}
    Asker& asker_;
};

}  // namespace sluice::nats
