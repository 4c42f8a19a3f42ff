#include "streams.hpp"

#include <sluice/bridge/nats/detail/pull.hpp>
#include <sluice/bridge/nats/detail/subject.hpp>
#include <sluice/wait/park.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::nats::detail {
namespace {

using Clock = Park::Clock;

/// An order expires after this time. The server then says how many messages of the order it did
/// not send.
constexpr std::chrono::seconds expiry{30};
/// While the server has an order and no message, it sends a heartbeat after this time.
constexpr std::chrono::seconds heartbeat{2};
/// If neither a message nor a heartbeat arrives for this time, the server has lost the order: it
/// was killed, for example, and another server leads the stream now.
constexpr std::chrono::seconds patience{5};
/// The thread checks all imports at least this often, and while messages wait, in each `busy`.
constexpr std::chrono::milliseconds idle{200};
constexpr std::chrono::milliseconds busy{1};

std::string_view headerOf(natsMsg* message, const char* key) noexcept {
    const char* value = nullptr;
    return natsMsgHeader_Get(message, key, &value) == NATS_OK ? value : "";
}

/// The messages of one subject and priority. The owner makes it; then only the pull's thread uses
/// it.
class Import {
public:
    Import(Link::Impl& link, const DurableOptions& options, Priority priority, std::string subject,
           std::string inbox, Receiver& receiver)
        : link_(link),
          options_(options),
          priority_(priority),
          subject_(std::move(subject)),
          inbox_(std::move(inbox)),
          receiver_(receiver),
          ring_(std::size_t{2} * static_cast<std::size_t>(options.pullBatch)) {
        isLost_ = !link_.askServer([this] { open(); });
    }

    void take(OwnedMessage message) noexcept {
        heardAt_ = Clock::now();
        isHeard_ = true;
        if (natsMsg_GetDataLength(message.get()) == 0 &&
            natsMsg_GetReply(message.get()) == nullptr) {
            takeStatus(message.get());
            return;
        }
        --ordered_;
        if (end_ - acknowledged_ != ring_.size()) {  // otherwise the server sends it again later
            at(end_++).message = std::move(message);
        }
    }

    /// Called if the server has answered to one of the imports that it does not know its consumer.
    void suspect() noexcept { isLost_ = isLost_ || (ordered_ != 0 && !isHeard_); }
    /// Called if the link was connected again: the server has forgotten the order.
    void forget() noexcept { ordered_ = 0; }

    /// Passes messages to the receiver, answers the handled ones, and orders more. Returns whether
    /// messages wait.
    bool serve(Clock::time_point now, bool isEnding) noexcept {
        while (offered_ != end_ && offer(at(offered_))) {
            ++offered_;
        }
        for (; acknowledged_ != offered_ && at(acknowledged_).due <= receiver_.handled();
             ++acknowledged_) {
            answer(at(acknowledged_), "+ACK");
        }
        if (!isEnding && link_.state.load() == LinkState::connected) {
            if (ordered_ != 0 && now - heardAt_ >= patience) {
                ordered_ = 0;
            }
            if (isLost_ && now >= openAt_) {
                recover(now);
            }
            // Messages that wait for their handlers use room in the ring, too.
            const std::uint64_t waiting = end_ - acknowledged_;
            const auto most = static_cast<std::uint64_t>(options_.pullBatch);
            if (!isLost_ && offered_ == end_ &&
                static_cast<std::uint64_t>(ordered_) + waiting <= most / 2) {
                order(now, options_.pullBatch - static_cast<int>(waiting));
            }
        }
        return acknowledged_ != end_;
    }

private:
    struct Arrived {
        OwnedMessage message;   ///< null if it needs no answer
        std::uint64_t due = 0;  ///< acknowledged when receiver.handled() has reached this number
    };
    Arrived& at(std::uint64_t number) noexcept {
        return ring_[static_cast<std::size_t>(number % ring_.size())];
    }

    /// Passes a message to the receiver. False if the receiver has no room.
    bool offer(Arrived& arrived) noexcept {
        natsMsg* const message = arrived.message.get();
        const Verdict verdict =
            receiver_.receive(reinterpret_cast<const unsigned char*>(natsMsg_GetData(message)),
                              static_cast<std::size_t>(natsMsg_GetDataLength(message)));
        // Duplicates use half of the ring only. The other half has room for all messages that the
        // server sends without an answer.
        const bool mayWait =
            verdict == Verdict::accepted ||
            (verdict == Verdict::repeated && offered_ - acknowledged_ < ring_.size() / 2);
        arrived.due = mayWait ? receiver_.accepted() : 0;
        if (verdict == Verdict::taken || verdict == Verdict::never) {
            answer(arrived, verdict == Verdict::taken ? "+ACK" : "+TERM");
        } else if (verdict != Verdict::full && !mayWait) {
            arrived.message.reset();
        }
        return verdict != Verdict::full;
    }

    /// Answers a message, except if it has no reply subject, because a stranger has sent it.
    void answer(Arrived& arrived, const char* text) const noexcept {
        const OwnedMessage message = std::move(arrived.message);
        const char* const reply = message ? natsMsg_GetReply(message.get()) : nullptr;
        if (reply != nullptr) {
            (void)natsConnection_PublishString(link_.connection, reply, text);
        }
    }

    /// Orders so many messages that the server may send `total`.
    void order(Clock::time_point now, int total) noexcept {
        std::array<char, 128> request{};
        const int size = std::snprintf(
            request.data(), request.size(), R"({"batch":%d,"expires":%lld,"idle_heartbeat":%lld})",
            total - ordered_, static_cast<long long>(std::chrono::nanoseconds(expiry).count()),
            static_cast<long long>(std::chrono::nanoseconds(heartbeat).count()));
        if (natsConnection_PublishRequest(link_.connection, next_.c_str(), inbox_.c_str(),
                                          request.data(), size) == NATS_OK) {
            ordered_ = total;
            heardAt_ = now;
            isHeard_ = false;
        }
    }

    void takeStatus(natsMsg* message) noexcept {
        const std::string_view status = headerOf(message, "Status");
        if (status.empty() || status == "100") {
            return;  // garbage, or a heartbeat
        }
        const std::string_view unsent = headerOf(message, "Nats-Pending-Messages");
        ordered_ = unsent.empty() ? 0 : std::max(0, ordered_ - std::atoi(unsent.data()));
        isLost_ = isLost_ || (status != "404" && status != "408");
    }

    /// Makes the stream and the consumer, if the server has none.
    void open() {
        openStream(link_, options_, priority_);
        const OpenedConsumer opened = openConsumer(link_, options_, priority_, subject_);
        next_ = "$JS.API.CONSUMER.MSG.NEXT." + streamOf(options_, priority_) + "." + opened.name;
        const std::int64_t before = std::exchange(created_, opened.created);
        // All priorities share the name, so one line is enough.
        const bool isStranger = opened.orders != 0 && !options_.shareWork;
        if (before == 0 && isStranger && priority_ == Priority::high) {
            link_.reporter.report({"nats: ", subject_,
                                   ": another program, or a lost connection of "
                                   "this one, also receives the messages for durable.name ",
                                   options_.name});
        } else if (before != 0 && before != opened.created) {
            link_.reporter.report({"nats: ", subject_,
                                   ": the stream or the consumer was deleted, "
                                   "and messages may be missing"},
                                  {": ", opened.name});
        }
    }

    /// Called if the server does not know the consumer or cannot serve it, or if it is not open.
    void recover(Clock::time_point now) noexcept {
        openAt_ = now + options_.retryWait;
        try {
            open();
            isLost_ = false;
            ordered_ = 0;
        } catch (const std::exception& error) {
            link_.reporter.report({error.what()});
        }
    }

    Link::Impl& link_;
    const DurableOptions& options_;
    const Priority priority_;
    const std::string subject_;
    const std::string inbox_;  ///< reply subject of the orders
    Receiver& receiver_;
    std::string next_;           ///< subject to which orders are sent
    std::int64_t created_ = 0;   ///< the server's time when it made the consumer; 0: not open
    int ordered_ = 0;            ///< messages that the server may still send for the order
    bool isHeard_ = false;       ///< whether anything has arrived since the order
    Clock::time_point heardAt_;  ///< time of the last order, message or heartbeat
    bool isLost_ = false;        ///< whether the server may not have the consumer
    Clock::time_point openAt_;   ///< from then on a lost consumer is opened again
    /// The arrived messages: first those that wait for their handlers, then from `offered_` on
    /// those that wait for room. Without an answer, the server sends at most half of the ring.
    std::vector<Arrived> ring_;
    std::uint64_t acknowledged_ = 0;  ///< number of messages that have left the ring
    std::uint64_t offered_ = 0;       ///< number of messages that the receiver has got
    std::uint64_t end_ = 0;           ///< number of messages that have entered the ring
};

}  // namespace

struct Pull::Impl {
    Impl(Link& onLink, const DurableOptions& durable) : link(onLink.impl()), options(durable) {}
    ~Impl() { stop(std::chrono::milliseconds(0)); }

    void begin() {
        inbox = newInbox() + ".";
        natsSubscription* made = nullptr;
        require(natsConnection_SubscribeSync(&made, link.connection, (inbox + "*").c_str()),
                "cannot subscribe to replies");
        subscription.reset(made);
        // No limit: the orders limit it.
        (void)natsSubscription_SetPendingLimits(made, -1, -1);
        thread = std::thread([this] { run(); });
    }

    void add(Priority priority, const std::string& subject, Receiver& receiver) {
        const BlockedSignals mask;
        if (!thread.joinable()) {
            begin();
        }
        const std::string reply = inbox + std::to_string(imports.size());
        auto import = std::make_unique<Import>(link, options, priority, subject, reply, receiver);
        {
            const std::lock_guard guard(mutex);
            numbers.emplace(durableSubject(options.stream, priority, subject), imports.size());
            imports.push_back(std::move(import));
        }
        (void)natsConnection_Publish(link.connection, reply.c_str(), nullptr,
                                     0);  // wakes the thread
    }

    void stop(std::chrono::milliseconds timeout) noexcept {
        if (!thread.joinable()) {
            return;
        }
        const BlockedSignals mask;
        // Draining and unsubscribing both wake the thread. With draining, it first takes the
        // messages that have arrived. It ends when it has seen both the wake-up and `isStopped`.
        if (timeout.count() <= 0 ||
            natsSubscription_DrainTimeout(subscription.get(), timeout.count()) != NATS_OK) {
            (void)natsSubscription_Unsubscribe(subscription.get());
        }
        isStopped.store(true);
        stopped.notifyAll();
        thread.join();
        subscription.reset();
    }

    void run() noexcept {
        std::uint64_t reconnects = link.reconnects.load();
        Clock::time_point nextRound;  // of all imports
        bool isBusy = false;          // whether messages wait
        while (true) {
            natsMsg* raw = nullptr;
            const natsStatus status =
                natsSubscription_NextMsg(&raw, subscription.get(), (isBusy ? busy : idle).count());
            OwnedMessage message(raw);
            const bool isEnding = isStopped.load();
            const auto now = Clock::now();
            if (Import* const import = raw != nullptr ? importOf(raw) : nullptr) {
                import->take(std::move(message));
                isBusy = import->serve(now, isEnding) || isBusy;
            }
            if (status != NATS_OK || now >= nextRound) {
                const std::uint64_t latest = link.reconnects.load();
                const bool isNewLink = std::exchange(reconnects, latest) != latest;
                isBusy = false;
                for (std::size_t i = 0; Import* const import = importAt(i); ++i) {
                    if (isNewLink) {
                        import->forget();
                    }
                    if (status == NATS_NO_RESPONDERS) {
                        import->suspect();
                    }
                    isBusy = import->serve(now, isEnding) || isBusy;
                }
                nextRound = now + busy;
            }
            if (status != NATS_OK && isEnding) {
                return;
            }
            if (status != NATS_OK && status != NATS_TIMEOUT && status != NATS_NO_RESPONDERS) {
                (void)stopped.waitUntil([this] { return isStopped.load(); },
                                        now + options.retryWait);
            }
        }
    }

    /// The import of a message. Null if there is none.
    Import* importOf(natsMsg* message) noexcept {
        const std::string_view subject = natsMsg_GetSubject(message);
        // A message of a stream has its own subject, a status the reply subject of the order.
        if (subject.substr(0, inbox.size()) == inbox) {
            return importAt(std::strtoul(subject.data() + inbox.size(), nullptr, 10));
        }
        const std::lock_guard guard(mutex);
        const auto found = numbers.find(subject);
        return found != numbers.end() ? imports[found->second].get() : nullptr;
    }
    Import* importAt(std::size_t number) noexcept {
        const std::lock_guard guard(mutex);
        return number < imports.size() ? imports[number].get() : nullptr;
    }

    Link::Impl& link;
    const DurableOptions options;
    std::string inbox;  ///< begin of the reply subjects; the number of the import follows
    std::atomic<bool> isStopped{false};
    Park stopped;
    std::unique_ptr<natsSubscription, Destroy<natsSubscription_Destroy>> subscription;
    std::mutex mutex;  ///< guards the following, which only the owner changes
    std::vector<std::unique_ptr<Import>> imports;
    std::map<std::string, std::size_t, std::less<>> numbers;  ///< subject on the server -> import
    std::thread thread;
};

Pull::Pull(Link& link, const DurableOptions& options)
    : impl_(std::make_unique<Impl>(link, options)) {
}

Pull::~Pull() = default;

void Pull::add(Priority priority, const std::string& subject, Receiver& receiver) {
    impl_->add(priority, subject, receiver);
}

void Pull::stop(std::chrono::milliseconds timeout) noexcept {
    impl_->stop(timeout);
}

}  // namespace sluice::nats::detail
