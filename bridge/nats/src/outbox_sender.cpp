#include "outbox_sender.hpp"
#include "streams.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

namespace sluice::nats::detail {
namespace {

/// The server's error code for a message that is too large for its stream.
constexpr std::string_view tooLargeForStream = "\"err_code\":10054";

std::string_view textOf(natsMsg* message) noexcept {
    return {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))};
}

/// Builds a short text from parts. At most 127 bytes. printf would take longer than the rest of a
/// send.
class ShortText {
public:
    ShortText& add(std::string_view part) noexcept {
        end_ = std::copy(part.begin(), part.end(), end_);
        return *this;
    }
    ShortText& add(std::uint64_t number, int base) noexcept {
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

OutboxSender::OutboxSender(Link& link, const NatsOptions& options, OutboxFolder* folder,
                           OutboxCounts& counts, std::size_t room)
    : link_(link.impl()),
      options_(options.durable),
      folder_(folder),
      inbox_(newInbox()),
      counts_(counts),
      ring_(room),
      window_(options.durable.inFlight),
      nextLook_(Clock::now()) {
    natsSubscription* const answers = link_.subscribe(inbox_ + ".*", &answered, this);
    // No limit: the window limits the number of answers.
    (void)natsSubscription_SetPendingLimits(answers, -1, -1);
}

void OutboxSender::start() {
    const BlockedSignals mask;
    thread_ = std::thread([this] { run(); });
    link_.listen(*this);
}

void OutboxSender::push(Record&& record) noexcept {
    pushes_.fetch_add(1);  // before the message has its position
    // The ring has a slot for each reservation of the outbox. After stop() the ring is closed, and
    // the caller destroys the record, which answers its confirmation.
    [[maybe_unused]] const SendResult result = ring_.tryPush(std::move(record));
    SLUICE_ASSERT(result != SendResult::full,
                  "the outbox holds more messages than it has room for");
    pushed_.notifyAll();
}

void OutboxSender::stop() noexcept {
    isStopped_.store(true);
    pushed_.notifyAll();
    freed_.notifyAll();
    if (thread_.joinable()) {
        thread_.join();
        link_.unlisten(*this);
        const Guard guard(mutex_);
        for (std::uint64_t position = oldest_; position != next_; ++position) {
            slotAt(guard, position).record.confirmation.reset();
        }
        ring_.close();
        while (!ring_.isDrained()) {
            (void)ring_.consume([](Record&) {});
        }
    }
}

OutboxSender::Answer OutboxSender::readAnswer(natsMsg* message) noexcept {
    const std::string_view text = textOf(message);
    if (text.find("\"error\"") == std::string_view::npos) {
        // An empty message says that no stream takes the subject.
        return text.find("\"seq\"") != std::string_view::npos ? Answer::stored : Answer::again;
    }
    return text.find(tooLargeForStream) != std::string_view::npos ? Answer::never : Answer::again;
}

void OutboxSender::answered(natsConnection*, natsSubscription*, natsMsg* message, void* closure) {
    static_cast<OutboxSender*>(closure)->answer(message);
    natsMsg_Destroy(message);
}

void OutboxSender::answer(natsMsg* message) noexcept {
    const char* const number = natsMsg_GetSubject(message) + inbox_.size() + 1;
    const std::uint64_t position = std::strtoull(number, nullptr, 10);
    const Answer answer = readAnswer(message);
    if (answer != Answer::stored) {
        const std::string_view text = textOf(message);
        link_.reporter.report({"nats: the server does not store messages: ",
                               text.empty() ? "no stream accepts them" : text});
    }
    const Guard guard(mutex_);
    if (position < oldest_ || position >= next_) {
        return;  // its message has left the window
    }
    Slot& slot = slotAt(guard, position);
    if (slot.answer == Answer::waiting) {
        slot.answer = answer;
    }
    if (!isStopped_.load() && position == oldest_ && slot.isDone()) {
        collect(guard);
        sendNew(guard, Clock::now());
    }
}

/// Called by the thread that serves all connections of the program, so it must not wait for the
/// socket. It only notes the subject; the sender's thread does the rest.
void OutboxSender::denied(std::string_view subject) noexcept {
    {
        const std::lock_guard guard(deniedMutex_);
        try {
            denied_.emplace_back(subject);
        } catch (const std::bad_alloc&) {
            return;  // the message will be sent again and denied again, so nothing is lost
        }
    }
    isDenied_.store(true);
    pushed_.notifyAll();
    freed_.notifyAll();
}

/// Marks the messages on denied subjects as undeliverable, because the server does not answer a
/// message that it denies.
void OutboxSender::giveUpDenied(const Guard& guard) noexcept {
    if (!isDenied_.exchange(false)) {
        return;
    }
    const std::lock_guard guardOfDenied(deniedMutex_);
    for (std::uint64_t position = oldest_; position != next_; ++position) {
        Slot& slot = slotAt(guard, position);
        if (!slot.isDone() && std::find(denied_.begin(), denied_.end(),
                                        slot.record.message.subject) != denied_.end()) {
            slot.answer = Answer::never;
        }
    }
    denied_.clear();
}

void OutboxSender::open(Priority priority) noexcept {
    for (bool isOpen = false; !isOpen && !isStopped_.load();) {
        try {
            isOpen = link_.askServer([&] { openStream(link_, options_, priority); });
        } catch (const std::exception& error) {
            link_.reporter.report({error.what()});
        }
        if (!isOpen) {
            (void)pushed_.waitUntil([this] { return isStopped_.load(); },
                                    Clock::now() + options_.retryWait);
        }
    }
}

void OutboxSender::run() noexcept {
    if (unopened_) {
        open(*unopened_);
    }
    Guard guard(mutex_);
    while (!isStopped_.load()) {
        const auto now = Clock::now();
        giveUpDenied(guard);
        collect(guard);
        sendAgain(guard, now);
        sendNew(guard, now);
        // If the sender has no message, the thread waits for a push or a stop. Otherwise it also
        // waits for the time and the link.
        const bool isIdle = oldest_ == next_ && !ring_.hasArrival();
        const bool isFull = !hasRoom(guard);
        const auto until = now + (isIdle ? std::chrono::milliseconds(std::chrono::minutes(1))
                                         : options_.retryWait);
        guard.unlock();
        if (isFull) {
            (void)freed_.waitUntil(
                [&] { return isStopped_.load() || isDenied_.load() || !isFull_.load(); }, until);
        } else {
            (void)pushed_.waitUntil(
                [&] {
                    return isStopped_.load() || isDenied_.load() ||
                           (ring_.hasArrival() &&
                            (isIdle || link_.state.load() == LinkState::connected));
                },
                until);
        }
        guard.lock();
    }
}

void OutboxSender::collect(const Guard& guard) noexcept {
    for (; oldest_ != next_ && slotAt(guard, oldest_).isDone(); ++oldest_) {
        Slot& slot = slotAt(guard, oldest_);
        const bool isStored = slot.answer == Answer::stored;
        (isStored ? counts_.acknowledged : counts_.undeliverable).fetch_add(1);
        if (folder_ != nullptr) {
            folder_->freeOldest();
        }
        sluice::nats::detail::answer(slot.record.confirmation,
                                     isStored ? OutletResult::ok : OutletResult::undeliverable);
        slot.record.reservation = Outbox::Reservation();
    }
    if (done_.exchange(oldest_ - 1) != oldest_ - 1) {
        counts_.done.notifyAll();
    }
}

void OutboxSender::sendAgain(const Guard& guard, Clock::time_point now) noexcept {
    if (link_.state.load() != LinkState::connected) {
        return;
    }
    // The messages that were on their way when the link broke may be lost.
    const std::uint64_t reconnects = link_.reconnects.load();
    const bool isNewLink = std::exchange(reconnects_, reconnects) != reconnects;
    if (!isNewLink && now < nextLook_) {
        return;
    }
    nextLook_ = now + options_.retryWait;
    for (std::uint64_t position = oldest_; position != next_; ++position) {
        Slot& slot = slotAt(guard, position);
        const bool isDue = slot.answer == Answer::again ? now - slot.sentAt >= options_.retryWait
                           : slot.answer == Answer::waiting
                               ? isNewLink || now - slot.sentAt >= options_.ackWait
                               : false;
        if (isDue && slot.answer == Answer::waiting && !isNewLink) {
            // Tells the observer that the server does not answer. A server whose disk is full, for
            // example, does not answer at all.
            link_.reporter.report(
                {"nats: the server does not answer, and messages are sent again: see the "
                 "log of the server"});
        }
        if (isDue) {
            counts_.resent.fetch_add(1);
            send(guard, position, now);
        }
    }
}

void OutboxSender::sendNew(const Guard& guard, Clock::time_point now) noexcept {
    if (hasRoom(guard) && link_.state.load() == LinkState::connected) {
        (void)ring_.consume(
            [&](Record& record) {  // E1
                slotAt(guard, next_).record = std::move(record);
                send(guard, next_++, now);
            },
            window_.size() - static_cast<std::size_t>(next_ - oldest_));
    }
    const bool isFull = !hasRoom(guard);
    if (isFull_.exchange(isFull) && !isFull) {
        freed_.notifyAll();
    }
}

void OutboxSender::send(const Guard& guard, std::uint64_t position,
                        Clock::time_point now) noexcept {
    Slot& slot = slotAt(guard, position);
    slot.sentAt = now;
    slot.answer = Answer::waiting;
    const natsStatus status = transmit(slot.record, position);
    if (status == NATS_MAX_PAYLOAD) {
        link_.reporter.report({"nats: a message on ", slot.record.message.subject,
                               " is larger than the server accepts"});
    }
    if (status != NATS_OK) {
        slot.answer = status == NATS_MAX_PAYLOAD ? Answer::never : Answer::again;
    }
}

natsStatus OutboxSender::transmit(Record& record, std::uint64_t position) const noexcept {
    const Outbox::Message& message = record.message;
    ShortText reply;
    reply.add(inbox_).add(".").add(position, 10);
    ShortText id;
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
