#pragma once

#include <sluice/base/send_result.hpp>
#include <sluice/bridge/nats/detail/coding.hpp>
#include <sluice/bridge/nats/detail/importer.hpp>
#include <sluice/bridge/nats/detail/link.hpp>
#include <sluice/bridge/nats/detail/subject.hpp>
#include <sluice/bridge/nats/detail/trouble_reporter.hpp>
#include <sluice/bridge/nats/options.hpp>
#include <sluice/bridge/nats/statistics.hpp>
#include <sluice/bus/messages.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/wait/park.hpp>
#include <sluice/wire/envelope.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice::nats::detail {

/// Publishes the questions of one type and priority into the bus, and sends the answers of their
/// handler.
///
/// Each question has a number in its header's `sender`. The table maps the number to the subject
/// for the answer. A question is answered when its number is removed from the table: by its
/// handler, by the receiving thread if the bus is full, or by stop().
///
/// The bus may lose a question: by dropOldest, by discard(), or because an earlier handler throws.
/// Questions of one priority are handled in the order of their numbers, so earlier questions that
/// are still in the table were lost. They end as `full`. All questions were lost if the table is
/// full but the bus is empty.
///
/// Threads: a thread of libnats calls receive(), the bus' consumer calls handle(), the owner calls
/// stop().
template <class Question, class Answer, class AnyBus>
class Responder final : public ArrivalReceiver {
    static_assert(std::is_default_constructible_v<Question>,
                  "a question must have a default constructor");

public:
    using Header = typename AnyBus::Header;
    using Handler = std::function<Answer(const Question&, const Header&)>;

    Responder(AnyBus& bus, Link& link, Counters& counters, const NatsOptions& options,
              const NatsRoute& route, Priority priority, std::shared_ptr<const Handler> handler)
        : bus_(bus),
          link_(link),
          counters_(counters),
          most_(options.maxRequests),
          question_(questionTypeOf(route)),
          priority_(priority),
          handler_(std::move(handler)),
          bytes_(options.maxMessageSize),
          reporter_(options.observer, "nats: " + route.subject + "." + toString(priority) + ": ") {
        head_.type = answerTypeOf(route);
        head_.schemaHash = wire::Codec<Answer>::schemaHash();
        head_.priority = static_cast<std::uint8_t>(priority);
        head_.origin = options.origin;
    }

    void receive(const Arrival& arrival) noexcept override {
        add(counters_.questions);
        Asked asked;
        try {
            if (const auto error = publish(arrival, asked)) {
                decline(asked, *error);
            }
        } catch (const std::bad_alloc&) {
            decline(asked, RequestError::full);
        }
    }

    /// Answers the question if it belongs to this responder. Called by the bus' consumer.
    void handle(const Question& question, const Header& header) {
        if (header.origin == 0) {
            return;  // a local message, whose program has chosen the sender
        }
        Table lost;
        const auto taken = take(header.sender, &lost);
        declineAll(lost, RequestError::full);
        if (!taken) {
            return;
        }
        const Asked& asked = taken.mapped();
        if (Clock::now() >= asked.deadline) {
            add(counters_.declined);  // the client no longer waits
            return;
        }
        try {
            answer(asked, (*handler_)(question, header));
        } catch (...) {
            decline(asked, RequestError::refused);
            throw;
        }
    }

    void stop() noexcept override {
        Table left;
        {
            const std::lock_guard guard(mutex_);
            isStopped_ = true;
            left.swap(table_);
        }
        declineAll(left, RequestError::refused);
    }

private:
    using Clock = Link::Clock;
    /// The destination of the answer to a question.
    struct Asked {
        std::string reply;
        std::uint64_t trace = 0;
        Clock::time_point deadline = Clock::time_point::max();
    };
    using Table = std::map<std::uint64_t, Asked>;  ///< by question number

    /// Publishes a question to the bus. If the question is refused, returns the reason and
    /// completes `asked`.
    std::optional<RequestError> publish(const Arrival& arrival, Asked& asked) {
        if (arrival.reply != nullptr) {
            asked.reply = arrival.reply;
        }
        const auto now = Clock::now();
        wire::Envelope envelope;
        if (wire::decodeEnvelope(arrival.bytes, arrival.size, envelope) !=
                wire::EnvelopeError::none ||
            envelope.priority != head_.priority || envelope.type != question_ ||
            !isReadableAs<Question>(envelope.schemaHash)) {
            return refuseSchema();
        }
        constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
        const auto left = static_cast<std::int64_t>(std::min(envelope.sequence, most));
        asked.deadline = deadlineAfter(now, std::chrono::milliseconds(left));
        asked.trace = envelope.traceId;
        std::optional<Question> question;
        const Reading reading = decodeBody(arrival.bytes, arrival.size, question);
        if (reading != Reading::ok) {
            return reading == Reading::noMemory ? RequestError::full : refuseSchema();
        }
        const std::uint32_t sender = number_.senderOf(++count_);
        Table lost;
        const auto error = enter(asked, now, lost);
        declineAll(lost, RequestError::full);
        if (error) {
            return error;
        }
        const SendResult result = publish(std::move(*question), sender, envelope);
        if (result == SendResult::ok || !take(sender)) {
            return std::nullopt;  // the handler or stop() answers
        }
        return result == SendResult::full ? RequestError::full : RequestError::refused;
    }

    /// A constructor that throws counts as a closed bus.
    SendResult publish(Question&& question, std::uint32_t sender,
                       const wire::Envelope& envelope) noexcept try {
        PublishOptions options;
        options.priority = priority_;
        options.origin = shortOrigin(envelope.origin);
        options.trace = envelope.traceId;
        options.sender = sender;
        return bus_.publish(std::move(question), options);
    } catch (...) {
        return SendResult::closed;
    }

    RequestError refuseSchema() noexcept {
        reporter_.report({"questions of another version or type arrive"});
        return RequestError::otherSchema;
    }

    /// Adds the newest question to the table, or returns an error if the table is full. Moves the
    /// other questions to `lost` if the bus has lost them.
    std::optional<RequestError> enter(const Asked& asked, Clock::time_point now, Table& lost) {
        const std::lock_guard guard(mutex_);
        if (isStopped_) {
            return RequestError::refused;
        }
        for (auto at = table_.begin(); table_.size() >= most_ && at != table_.end();) {
            const bool isOver = at->second.deadline <= now;
            at = isOver ? table_.erase(at) : std::next(at);
            add(counters_.declined, isOver ? 1 : 0);
        }
        if (table_.size() >= most_ && bus_.sizeApprox() == 0) {
            lost.swap(table_);
        }
        const bool isEntered = table_.size() < most_ && table_.emplace(count_, asked).second;
        return isEntered ? std::nullopt : std::optional(RequestError::full);
    }

    /// Removes a question from the table, and moves earlier questions to `lost`. Returns null if
    /// the table does not contain the question.
    typename Table::node_type take(std::uint32_t sender, Table* lost = nullptr) noexcept {
        if (!number_.isOf(sender)) {
            return {};
        }
        const std::lock_guard guard(mutex_);
        if (table_.empty()) {
            return {};
        }
        const auto at = table_.find(ImportNumber::upTo(table_.rbegin()->first, sender));
        if (at == table_.end()) {
            return {};
        }
        while (lost != nullptr && table_.begin() != at) {
            lost->insert(table_.extract(table_.begin()));
        }
        return table_.extract(at);
    }

    void answer(const Asked& asked, const Answer& answer) noexcept {
        std::size_t body = 0;
        const OutletResult form = encodeBody(answer, bytes_.data(), bytes_.size(), body);
        if (form != OutletResult::ok || wire::envelopeSize + body > link_.maxPayload()) {
            reporter_.report({"an answer is too large, or its codec refuses it"});
            return decline(asked,
                           form == OutletResult::ok ? RequestError::tooLarge : errorOf(form));
        }
        wire::Envelope envelope = head_;
        envelope.traceId = asked.trace;
        wire::encodeEnvelope(envelope, bytes_.data(), static_cast<std::uint32_t>(body));
        add(send(asked, bytes_.data(), wire::envelopeSize + body) ? counters_.answers
                                                                  : counters_.declined);
    }

    void declineAll(const Table& questions, RequestError error) noexcept {
        for (const auto& [number, asked] : questions) {
            decline(asked, error);
        }
    }

    /// Sends an error instead of an answer.
    void decline(const Asked& asked, RequestError error) noexcept {
        add(counters_.declined);
        std::array<unsigned char, wire::envelopeSize> bytes{};
        wire::Envelope envelope = head_;
        envelope.traceId = asked.trace;
        envelope.sequence = static_cast<std::uint64_t>(error);
        wire::encodeEnvelope(envelope, bytes.data(), 0);
        (void)send(asked, bytes.data(), bytes.size());
    }

    bool send(const Asked& asked, const unsigned char* bytes, std::size_t size) noexcept {
        if (asked.reply.empty()) {
            return false;  // not a question
        }
        if (link_.publish(asked.reply.c_str(), bytes, size, "", asked.deadline)) {
            return true;
        }
        reporter_.report({"the link has no room for an answer, and its client waits in vain"});
        return false;
    }

    AnyBus& bus_;
    Link& link_;
    Counters& counters_;
    const std::size_t most_;
    const std::uint32_t question_;  ///< type number of a question
    const ImportNumber number_ = ImportNumber::next();
    const Priority priority_;
    const std::shared_ptr<const Handler> handler_;
    wire::Envelope head_;               ///< of each answer
    std::uint64_t count_ = 0;           ///< number of questions; written by receive()
    std::vector<unsigned char> bytes_;  ///< buffer of the answer; written by the bus' consumer
    TroubleReporter reporter_;
    std::mutex mutex_;  ///< guards the following
    Table table_;
    bool isStopped_ = false;
};

}  // namespace sluice::nats::detail
