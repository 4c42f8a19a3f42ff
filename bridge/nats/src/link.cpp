#include <sluice/bridge/nats/link.hpp>

#include <nats/nats.h>

#include <atomic>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace sluice::nats {
namespace {

/// What stands behind the credentials of a URL: an error message must not tell a password.
std::string withoutCredentials(const std::string& url) {
    const std::size_t at = url.rfind('@');
    return at == std::string::npos ? url : url.substr(at + 1);
}

void require(natsStatus status, const std::string& what) {
    if (status != NATS_OK) {
        throw std::runtime_error("nats: " + what + ": " + natsStatus_GetText(status));
    }
}

struct OptionsDeleter {
    void operator()(natsOptions* options) const noexcept { natsOptions_Destroy(options); }
};
using OwnedOptions = std::unique_ptr<natsOptions, OptionsDeleter>;

void received(natsConnection*, natsSubscription*, natsMsg* message, void* closure) {
    static_cast<Receiver*>(closure)->receive(
        reinterpret_cast<const unsigned char*>(natsMsg_GetData(message)),
        static_cast<std::size_t>(natsMsg_GetDataLength(message)));
    natsMsg_Destroy(message);
}

}  // namespace

struct Link::Parts {
    natsConnection* connection = nullptr;
    std::vector<natsSubscription*> subscriptions;
    std::atomic<LinkState> state{LinkState::connected};
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t running = 0;  ///< subscriptions that may still call; under the mutex
    bool isClosed = false;    ///< libnats makes no further call about the connection; likewise

    static Parts& of(void* closure) noexcept { return *static_cast<Parts*>(closure); }

    static void disconnected(natsConnection*, void* closure) {
        of(closure).state.store(LinkState::disconnected);
    }
    static void reconnected(natsConnection*, void* closure) {
        of(closure).state.store(LinkState::connected);
    }
    /// The last call about a connection. It notifies under the mutex: the owner may destroy this
    /// object as soon as it can take the mutex.
    static void closed(natsConnection*, void* closure) {
        Parts& parts = of(closure);
        const std::lock_guard guard(parts.mutex);
        parts.state.store(LinkState::closed);
        parts.isClosed = true;
        parts.changed.notify_all();
    }
    static void completed(void* closure) {
        Parts& parts = of(closure);
        const std::lock_guard guard(parts.mutex);  // E1
        --parts.running;
        parts.changed.notify_all();
    }
};

Link::Link(const LinkOptions& options) : parts_(std::make_unique<Parts>()) {
    natsOptions* raw = nullptr;
    require(natsOptions_Create(&raw), "options");
    const OwnedOptions owned(raw);
    const std::string where = withoutCredentials(options.url);
    require(natsOptions_SetURL(raw, options.url.c_str()), "the URL " + where);
    if (!options.user.empty()) {
        require(natsOptions_SetUserInfo(raw, options.user.c_str(), options.password.c_str()),
                "user and password");
    }
    require(natsOptions_SetTimeout(raw, options.connectTimeout.count()), "connectTimeout");
    require(natsOptions_SetReconnectWait(raw, options.reconnectWait.count()), "reconnectWait");
    const auto jitter = options.reconnectJitter.count();
    require(natsOptions_SetReconnectJitter(raw, jitter, jitter), "reconnectJitter");
    require(natsOptions_SetReconnectBufSize(raw, options.reconnectBuffer), "reconnectBuffer");
    require(natsOptions_SetMaxReconnect(raw, std::numeric_limits<int>::max()), "reconnects");
    require(natsOptions_SetDisconnectedCB(raw, &Parts::disconnected, parts_.get()), "options");
    require(natsOptions_SetReconnectedCB(raw, &Parts::reconnected, parts_.get()), "options");
    require(natsOptions_SetClosedCB(raw, &Parts::closed, parts_.get()), "options");
    require(natsConnection_Connect(&parts_->connection, raw), "cannot connect to " + where);
}

Link::~Link() {
    (void)close(std::chrono::milliseconds(0));
}

bool Link::publish(const char* subject, const unsigned char* bytes, std::size_t size) noexcept {
    return parts_->connection != nullptr &&
           size <= static_cast<std::size_t>(std::numeric_limits<int>::max()) &&
           natsConnection_Publish(parts_->connection, subject, bytes, static_cast<int>(size)) ==
               NATS_OK;
}

void Link::subscribe(const std::string& subject, Receiver& receiver) {
    Parts& parts = *parts_;
    parts.subscriptions.reserve(parts.subscriptions.size() + 1);
    natsSubscription* made = nullptr;
    require(
        natsConnection_Subscribe(&made, parts.connection, subject.c_str(), &received, &receiver),
        "cannot subscribe to " + subject);
    parts.subscriptions.push_back(made);
    {
        const std::lock_guard guard(parts.mutex);
        ++parts.running;
    }
    const natsStatus status = natsSubscription_SetOnCompleteCB(made, &Parts::completed, &parts);
    if (status != NATS_OK) {
        const std::lock_guard guard(parts.mutex);
        --parts.running;
        require(status, "cannot subscribe to " + subject);
    }
}

bool Link::close(std::chrono::milliseconds timeout) noexcept {
    Parts& parts = *parts_;
    if (parts.connection == nullptr) {
        return true;
    }
    bool isComplete = false;
    // The flush tells whether the server has what was published: draining alone does not.
    if (timeout.count() > 0 && flush(timeout) &&
        natsConnection_DrainTimeout(parts.connection, timeout.count()) == NATS_OK) {
        std::unique_lock lock(parts.mutex);
        isComplete = parts.changed.wait_for(
            lock, timeout, [&parts] { return parts.isClosed && parts.running == 0; });
    }
    natsConnection_Close(parts.connection);
    {
        std::unique_lock lock(parts.mutex);
        parts.changed.wait(lock, [&parts] { return parts.isClosed && parts.running == 0; });  // E1
    }
    for (natsSubscription* subscription : parts.subscriptions) {
        natsSubscription_Destroy(subscription);
    }
    parts.subscriptions.clear();
    natsConnection_Destroy(parts.connection);
    parts.connection = nullptr;
    return isComplete;
}

bool Link::flush(std::chrono::milliseconds timeout) noexcept {
    return parts_->connection != nullptr &&
           natsConnection_FlushTimeout(parts_->connection, timeout.count()) == NATS_OK;
}

LinkState Link::state() const noexcept {
    return parts_->state.load();
}

}  // namespace sluice::nats
