#include "scoped_signal_mask.hpp"
#include "streams.hpp"

#include <sluice/bridge/nats/detail/pull.hpp>
#include <sluice/wait/park.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::nats::detail {
namespace {

/// An order expires after this time. The server then tells how many messages of the order it did
/// not send.
constexpr std::chrono::seconds expiry{30};
/// While the server has an order and no message, it sends a heartbeat after this time.
constexpr std::chrono::seconds heartbeat{2};
/// If neither a message nor a heartbeat comes for this time, the server has lost the order: it was
/// killed, for example, and another server leads the stream now.
constexpr std::chrono::milliseconds patience{5'000};

const char* headerOf(natsMsg* message, const char* key) noexcept {
    const char* value = nullptr;
    return natsMsgHeader_Get(message, key, &value) == NATS_OK ? value : nullptr;
}

}  // namespace

struct Pull::Impl {
    struct Waiting {
        OwnedMessage message;
        std::uint64_t due = 0;  ///< acknowledged when receiver.handled() has reached this number
    };

    Impl(Link& onLink, const DurableOptions& durable, Priority of, std::string onSubject,
         Receiver& to)
        : link(onLink.impl()),
          options(durable),
          priority(of),
          subject(std::move(onSubject)),
          receiver(to),
          waiting(std::size_t{8} * static_cast<std::size_t>(durable.pullBatch)) {
        const ScopedSignalMask mask;
        open();
        inbox = newInbox();
        {
            const std::lock_guard guard(link.sending);
            natsSubscription* made = nullptr;
            require(natsConnection_SubscribeSync(&made, link.connection, inbox.c_str()),
                    "cannot subscribe to replies");
            subscription.reset(made);
        }
        // No limit: the orders limit it.
        (void)natsSubscription_SetPendingLimits(subscription.get(), -1, -1);
        link.wakeOnReconnect(inbox);
        thread = std::thread([this] { run(); });
    }

    ~Impl() { stop(std::chrono::milliseconds(0)); }

    void open() {
        openStream(link, options, priority);
        next = "$JS.API.CONSUMER.MSG.NEXT." + streamOf(options, priority) + "." +
               openConsumer(link, options, priority, subject);
    }

    void stop(std::chrono::milliseconds timeout) noexcept {
        if (!thread.joinable()) {
            return;
        }
        const ScopedSignalMask mask;
        isStopped.store(true);
        stopped.notifyAll();
        // Draining and unsubscribing both wake the thread. With draining, it first takes the
        // messages that have arrived.
        if (timeout.count() <= 0 ||
            natsSubscription_DrainTimeout(subscription.get(), timeout.count()) != NATS_OK) {
            (void)natsSubscription_Unsubscribe(subscription.get());
        }
        thread.join();
        subscription.reset();
    }

    void run() noexcept {
        while (true) {
            // After a stop it orders no more, and the receiver gets the messages that have arrived.
            if (!isStopped.load() && ordered <= options.pullBatch / 2) {
                order();
            }
            acknowledgeHandled();
            natsMsg* raw = nullptr;
            const natsStatus status = natsSubscription_NextMsg(&raw, subscription.get(),
                                                               isWaiting() ? 2 : patience.count());
            OwnedMessage message(raw);
            if (status == NATS_OK) {
                take(std::move(message));
            } else if (isStopped.load()) {
                acknowledgeHandled();
                return;
            } else if (status == NATS_TIMEOUT) {
                const bool isSilent = Park::Clock::now() - heardAt >= patience;
                ordered = isSilent ? 0 : ordered;
            } else {
                recover(natsStatus_GetText(status));
            }
        }
    }

    void order() noexcept {
        std::array<char, 128> request{};
        const int size = std::snprintf(
            request.data(), request.size(), R"({"batch":%d,"expires":%lld,"idle_heartbeat":%lld})",
            options.pullBatch - ordered,
            static_cast<long long>(std::chrono::nanoseconds(expiry).count()),
            static_cast<long long>(std::chrono::nanoseconds(heartbeat).count()));
        const std::lock_guard guard(link.sending);
        if (natsConnection_PublishRequest(link.connection, next.c_str(), inbox.c_str(),
                                          request.data(), size) == NATS_OK) {
            ordered = options.pullBatch;
            heardAt = Park::Clock::now();
        }
    }

    [[nodiscard]] bool isWaiting() const noexcept { return waitingBegin != waitingEnd; }
    [[nodiscard]] std::size_t waitingCount() const noexcept {
        return static_cast<std::size_t>(waitingEnd - waitingBegin);
    }
    Waiting& waitingAt(std::uint64_t number) noexcept {
        return waiting[static_cast<std::size_t>(number % waiting.size())];
    }

    void acknowledgeHandled() noexcept {
        for (; isWaiting() && waitingAt(waitingBegin).due <= receiver.handled(); ++waitingBegin) {
            const OwnedMessage message = std::move(waitingAt(waitingBegin).message);
            answer(natsMsg_GetReply(message.get()), "+ACK");
        }
    }

    void waitForHandlers(OwnedMessage message) noexcept {
        waitingAt(waitingEnd++) = {std::move(message), receiver.accepted()};
    }

    void answer(const char* reply, const char* text) const noexcept {
        const std::lock_guard guard(link.sending);
        (void)natsConnection_PublishString(link.connection, reply, text);
    }

    void take(OwnedMessage owned) noexcept {
        natsMsg* const message = owned.get();
        heardAt = Park::Clock::now();
        const char* const reply = natsMsg_GetReply(message);
        if (natsMsg_GetDataLength(message) == 0 && reply == nullptr) {
            if (const char* const status = headerOf(message, "Status"); status != nullptr) {
                takeStatus(message, status);
            } else {
                ordered = 0;  // the link was connected again, so the server has forgotten the order
            }
            return;
        }
        --ordered;
        if (waitingCount() == waiting.size()) {
            return;  // no answer: the server sends it again later
        }
        const Verdict verdict =
            receiver.receive(reinterpret_cast<const unsigned char*>(natsMsg_GetData(message)),
                             static_cast<std::size_t>(natsMsg_GetDataLength(message)));
        if (reply == nullptr || verdict == Verdict::later) {
            return;
        }
        if (verdict == Verdict::accepted) {
            waitForHandlers(std::move(owned));
        } else if (verdict == Verdict::repeated) {
            // Duplicates use half of the ring only. The other half has room for all messages that
            // the server sends without an answer.
            if (waitingCount() < waiting.size() / 2) {
                waitForHandlers(std::move(owned));
            }
        } else {
            answer(reply, verdict == Verdict::taken ? "+ACK" : "+TERM");
        }
    }

    void takeStatus(natsMsg* message, const char* status) noexcept {
        if (std::strcmp(status, "100") == 0) {
            return;  // a heartbeat
        }
        const char* const unsent = headerOf(message, "Nats-Pending-Messages");
        ordered = unsent != nullptr ? std::max(0, ordered - std::atoi(unsent)) : 0;
        const bool isExpired = std::strcmp(status, "404") == 0 || std::strcmp(status, "408") == 0;
        if (!isExpired) {
            const char* const reason = headerOf(message, "Description");
            recover(reason != nullptr ? reason : status);
        }
    }

    /// Called if the server does not know the consumer or cannot serve it. Creates the consumer
    /// again, after a pause.
    void recover(const char* reason) noexcept {
        ordered = 0;
        (void)stopped.waitUntil([this] { return isStopped.load(); },
                                Park::Clock::now() + options.retryWait);
        if (isStopped.load() || link.state.load() != LinkState::connected) {
            return;
        }
        try {
            open();
        } catch (const std::exception& error) {
            link.reporter.tell({error.what(), " (after: ", reason, ")"});
        }
    }

    Link::Impl& link;
    const DurableOptions options;
    const Priority priority;
    const std::string subject;
    Receiver& receiver;
    std::string inbox;
    std::atomic<bool> isStopped{false};
    Park stopped;
    std::unique_ptr<natsSubscription, Destroy<natsSubscription_Destroy>> subscription;
    // The following are written by the pull's thread.
    std::string next;                 ///< subject to which orders are sent
    int ordered = 0;                  ///< messages that the server may still send for the order
    Park::Clock::time_point heardAt;  ///< time of the last order, message or heartbeat
    /// A ring of the messages that wait for handlers. Without an answer, the server sends messages
    /// for half of its slots at most.
    std::vector<Waiting> waiting;
    std::uint64_t waitingBegin = 0;  ///< number of messages that have left the ring
    std::uint64_t waitingEnd = 0;    ///< number of messages that have entered the ring
    std::thread thread;
};

Pull::Pull(Link& link, const DurableOptions& options, Priority priority, std::string subject,
           Receiver& receiver)
    : impl_(std::make_unique<Impl>(link, options, priority, std::move(subject), receiver)) {
}

Pull::~Pull() = default;

void Pull::stop(std::chrono::milliseconds timeout) noexcept {
    impl_->stop(timeout);
}

}  // namespace sluice::nats::detail
