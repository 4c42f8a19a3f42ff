#include "outbox_lane.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace sluice::nats::detail {
namespace {

/// The server's code for a message that is too large for its stream.
constexpr std::string_view tooLargeForStream = "\"err_code\":10054";

std::string newInbox() {
    natsInbox* made = nullptr;
    require(natsInbox_Create(&made), "inbox");
    std::string inbox = made;
    natsInbox_Destroy(made);
    return inbox;
}

std::string_view textOf(natsMsg* message) noexcept {
    return {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))};
}

/// A short text of parts. printf would take longer than the rest of a send.
class Text {
public:
    Text& add(std::string_view part) noexcept {
        end_ = std::copy(part.begin(), part.end(), end_);
        return *this;
    }
    Text& add(std::uint64_t number, int base) noexcept {
        end_ = std::to_chars(end_, text_.data() + text_.size(), number, base).ptr;
        return *this;
    }
    [[nodiscard]] const char* get() noexcept {
        *end_ = '\0';
        return text_.data();
    }

private:
    std::array<char, 128> text_;
    char* end_ = text_.data();
};

}  // namespace

OutboxLane::OutboxLane(Link& link, const NatsOptions& options, OutboxFile* file,
                       OutboxAccounts& accounts)
    : link_(link.parts()),
      options_(options.durable),
      file_(file),
      inbox_(newInbox()),
      accounts_(accounts),
      ring_(options.durable.outboxMessages),
      window_(options.durable.inFlight),
      nextLook_(Clock::now()) {
    natsSubscription* const answers = link_.subscribe(inbox_ + ".*", &answered, this);
    (void)natsSubscription_SetPendingLimits(answers, -1, -1);  // the window limits them
}

void OutboxLane::start() {
    thread_ = std::thread([this] { run(); });
}

void OutboxLane::push(Record&& record) noexcept {
    // The ring has a slot for each message that the outbox has room for.
    const PushResult result = ring_.tryPush(std::move(record));
    SLUICE_ASSERT(result == PushResult::ok, "the outbox holds more messages than it has places");
    (void)result;
    wake_.notifyAll();
}

void OutboxLane::stop() noexcept {
    isStopped_.store(true);
    wake_.notifyAll();
    if (thread_.joinable()) {
        thread_.join();
    }
}

Answer OutboxLane::readAnswer(natsMsg* message) noexcept {
    const std::string_view text = textOf(message);
    if (text.find("\"error\"") == std::string_view::npos) {
        // Only an empty message says that there is no stream.
        return text.find("\"seq\"") != std::string_view::npos ? Answer::stored : Answer::again;
    }
    return text.find(tooLargeForStream) != std::string_view::npos ? Answer::never : Answer::again;
}

void OutboxLane::answered(natsConnection*, natsSubscription*, natsMsg* message, void* closure) {
    static_cast<OutboxLane*>(closure)->answer(message);
    natsMsg_Destroy(message);
}

void OutboxLane::answer(natsMsg* message) noexcept {
    const char* const number = natsMsg_GetSubject(message) + inbox_.size() + 1;
    const std::uint64_t position = std::strtoull(number, nullptr, 10);
    const Answer answer = readAnswer(message);
    settle(position, answer);
    if (answer == Answer::stored) {
        isTroubleTold_ = false;
    } else if (!std::exchange(isTroubleTold_, true)) {
        const std::string_view text = textOf(message);
        link_.tell("nats: the server does not store messages: " +
                   std::string(text.empty() ? "no stream takes them" : text));
    }
}

void OutboxLane::settle(std::uint64_t position, Answer answer) noexcept {
    slotAt(position).word.settle(position, answer);
    wake_.notifyAll();
}

bool OutboxLane::canSend() const noexcept {
    return next_ - oldest_ < window_.size() && ring_.hasArrival() &&
           link_.state.load() == LinkState::connected;
}

void OutboxLane::run() noexcept {
    while (!isStopped_.load()) {
        const auto now = Clock::now();
        collect();
        sendAgain(now);
        sendNew(now);
        // Without a message, the thread waits for a push or a stop, otherwise also for time and
        // link.
        const bool isIdle = oldest_ == next_ && !ring_.hasArrival();
        const auto nap =
            isIdle ? std::chrono::milliseconds(std::chrono::minutes(1)) : options_.retryWait;
        (void)wake_.awaitUntil(
            [&] {
                return isStopped_.load() || canSend() || (isIdle && ring_.hasArrival()) ||
                       (oldest_ != next_ && isDone(oldest_));
            },
            now + nap);
    }
}

void OutboxLane::collect() noexcept {
    for (; oldest_ != next_ && isDone(oldest_); ++oldest_) {
        Slot& slot = slotAt(oldest_);
        const bool isStored = slot.word.answerTo(oldest_) == Answer::stored;
        (isStored ? accounts_.acknowledged : accounts_.undeliverable).fetch_add(1);
        isSilenceTold_ = isSilenceTold_ && !isStored;
        if (file_ != nullptr) {
            file_->freeOldest();
        }
        slot.record.reservation = Outbox::Reservation();
    }
}

void OutboxLane::sendAgain(Clock::time_point now) noexcept {
    if (link_.state.load() != LinkState::connected) {
        return;
    }
    // The server may have lost messages that were on their way when the link broke.
    const std::uint64_t reconnects = link_.reconnects.load();
    const bool isNewLink = std::exchange(reconnects_, reconnects) != reconnects;
    if (!isNewLink && now < nextLook_) {
        return;
    }
    nextLook_ = now + options_.retryWait;
    for (std::uint64_t position = oldest_; position != next_; ++position) {
        Slot& slot = slotAt(position);
        const Answer answer = slot.word.answerTo(position);
        const bool isDue = answer == Answer::again ? now - slot.sentAt >= options_.retryWait
                           : answer == Answer::waiting
                               ? isNewLink || now - slot.sentAt >= options_.ackWait
                               : false;
        if (isDue && answer == Answer::waiting && !isNewLink) {
            tellSilence(slot.record.message.subject);
        }
        if (isDue) {
            accounts_.resent.fetch_add(1);
            send(position, now);
        }
    }
}

/// A server whose disk is full does not answer at all.
void OutboxLane::tellSilence(const char* subject) noexcept {
    if (!std::exchange(isSilenceTold_, true)) {
        link_.tell(std::string("nats: the server does not answer messages on ") + subject +
                   ", and they are sent again: its log says why");
    }
}

void OutboxLane::sendNew(Clock::time_point now) noexcept {
    const std::size_t room = window_.size() - static_cast<std::size_t>(next_ - oldest_);
    if (room == 0 || link_.state.load() != LinkState::connected) {
        return;
    }
    (void)ring_.consume(
        [&](Record& record) {  // E1
            slotAt(next_).record = std::move(record);
            send(next_++, now);
        },
        room);
}

void OutboxLane::send(std::uint64_t position, Clock::time_point now) noexcept {
    Slot& slot = slotAt(position);
    slot.sentAt = now;
    if (!slot.word.beginTry(position)) {
        return;
    }
    const natsStatus status = transmit(slot.record, position);
    if (status == NATS_MAX_PAYLOAD && !std::exchange(isTooLargeTold_, true)) {
        link_.tell(std::string("nats: a message on ") + slot.record.message.subject +
                   " is larger than the server takes");
    }
    if (status != NATS_OK) {
        settle(position, status == NATS_MAX_PAYLOAD ? Answer::never : Answer::again);
    }
}

natsStatus OutboxLane::transmit(const Record& record, std::uint64_t position) const noexcept {
    const Outbox::Message& message = record.message;
    Text reply;
    reply.add(inbox_).add(".").add(position, 10);
    Text id;
    id.add(message.origin, 16).add("-").add(message.incarnation, 16).add("-");
    id.add(toString(message.priority)).add("-").add(message.type, 16).add("-");
    id.add(message.sequence, 16);
    natsMsg* raw = nullptr;
    const char* const bytes = reinterpret_cast<const char*>(record.reservation.data());
    natsStatus status =
        natsMsg_Create(&raw, message.subject, reply.get(), bytes, static_cast<int>(record.size));
    const OwnedMessage owned(raw);
    if (status == NATS_OK) {
        status = natsMsgHeader_Set(raw, "Nats-Msg-Id", id.get());
    }
    return status == NATS_OK ? natsConnection_PublishMsg(link_.connection, raw) : status;
}

}  // namespace sluice::nats::detail
