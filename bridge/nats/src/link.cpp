#include "link_impl.hpp"

#include <sluice/bridge/nats/detail/subject.hpp>
#include <sluice/wait/park.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <map>

namespace sluice::nats::detail {
namespace {

/// Bytes that libnats collects while there is no connection.
constexpr int libnatsBuffer = 64 * 1024;
/// The pause before a message is passed again to libnats, whose buffer is full.
constexpr std::chrono::milliseconds retry{10};

std::vector<std::string> serversIn(const std::string& urls) {
    std::vector<std::string> servers;
    for (std::size_t begin = 0; begin <= urls.size();) {
        const std::size_t end = std::min(urls.find(',', begin), urls.size());
        servers.push_back(urls.substr(begin, end - begin));
        begin = end + 1;
    }
    return servers;
}

/// Returns the URLs without user and password, because an error message must not contain a
/// password. It cuts at the last `@`, because a password may contain a comma.
std::string withoutCredentials(const std::string& urls) {
    const std::size_t at = urls.rfind('@');
    return at == std::string::npos ? urls : urls.substr(at + 1);
}

using OwnedOptions = std::unique_ptr<natsOptions, Destroy<natsOptions_Destroy>>;

void received(natsConnection*, natsSubscription*, natsMsg* message, void* closure) {
    (void)static_cast<Receiver*>(closure)->receive(
        reinterpret_cast<const unsigned char*>(natsMsg_GetData(message)),
        static_cast<std::size_t>(natsMsg_GetDataLength(message)));
    natsMsg_Destroy(message);
}

void arrived(natsConnection*, natsSubscription*, natsMsg* message, void* closure) {
    static_cast<ArrivalReceiver*>(closure)->receive(
        {natsMsg_GetSubject(message), natsMsg_GetReply(message),
         reinterpret_cast<const unsigned char*>(natsMsg_GetData(message)),
         static_cast<std::size_t>(natsMsg_GetDataLength(message)),
         natsMsg_IsNoResponders(message)});
    natsMsg_Destroy(message);
}

void authenticate(natsOptions* raw, const NatsOptions& options) {
    if (!options.user.empty()) {
        require(natsOptions_SetUserInfo(raw, options.user.c_str(), options.password.c_str()),
                "user and password");
    }
    if (!options.nkey.empty()) {
        require(
            natsOptions_SetNKeyFromSeed(raw, options.nkey.c_str(), options.nkeySeedFile.c_str()),
            "nkey " + options.nkey);
    }
    if (!options.authorityFile.empty()) {
        require(natsOptions_SetSecure(raw, true), "encryption");
        require(natsOptions_LoadCATrustedCertificates(raw, options.authorityFile.c_str()),
                "authority " + options.authorityFile);
    }
    if (!options.certificateFile.empty()) {
        require(natsOptions_LoadCertificatesChain(raw, options.certificateFile.c_str(),
                                                  options.keyFile.c_str()),
                "certificate " + options.certificateFile);
    }
}

Link::Impl& of(void* closure) noexcept {
    return *static_cast<Link::Impl*>(closure);
}

void disconnected(natsConnection*, void* closure) {
    of(closure).become(LinkState::disconnected);
}

/// Called after each connect, except one that succeeds in the constructor.
void connected(natsConnection*, void* closure) {
    Link::Impl& impl = of(closure);
    { const std::lock_guard guard(impl.mutex); }  // the constructor has noted that it failed
    impl.reconnects.fetch_add(1);
    impl.learnMaxPayload();
    impl.become(LinkState::connected);
}

/// The pause before the next attempt to connect, in milliseconds.
std::int64_t pauseBefore(natsConnection*, int attempts, void* closure) {
    const Link::Impl& impl = of(closure);
    std::int64_t pause = impl.reconnectWait.count();
    for (int i = 1; i < attempts && pause < impl.reconnectWaitLimit.count(); ++i) {
        pause *= 2;
    }
    const auto jitter = static_cast<std::uint64_t>(impl.reconnectJitter.count());
    return std::min<std::int64_t>(pause, impl.reconnectWaitLimit.count()) +
           static_cast<std::int64_t>(drawNumber() % (jitter + 1));
}

/// Returns the subject in the server's text: Permissions Violation for Publish to "subject". Empty
/// if there is none.
std::string_view deniedSubject(std::string_view reason) noexcept {
    constexpr std::string_view before = "Publish to \"";
    const std::size_t at = reason.find(before);
    if (at == std::string_view::npos) {
        return {};
    }
    const std::string_view subject = reason.substr(at + before.size());
    return subject.substr(0, subject.find('"'));
}

/// The links that exist, by number. If a drain takes too long, libnats reports an error after the
/// end of the connection. So the handler of errors has the number of its link, not its address.
struct Links {
    std::mutex mutex;  ///< guards the following; held while a link handles an error
    std::map<std::uintptr_t, Link::Impl*> all;
    std::uintptr_t last = 0;

    /// Never destroyed, because threads of libnats may outlive static objects.
    static Links& get() {
        static Links& links = *new Links;
        return links;
    }
    static void* add(Link::Impl& impl) {
        const std::lock_guard guard(get().mutex);
        impl.number = ++get().last;
        get().all.emplace(impl.number, &impl);
        // A number that is only compared. NOLINTNEXTLINE(performance-no-int-to-ptr)
        return reinterpret_cast<void*>(impl.number);
    }
};

/// Called by a thread of libnats after an error, also if the server refuses a message that was sent
/// before.
void failed(natsConnection*, natsSubscription* subscription, natsStatus status, void* closure) {
    const std::lock_guard guard(Links::get().mutex);
    const auto found = Links::get().all.find(reinterpret_cast<std::uintptr_t>(closure));
    if (found == Links::get().all.end()) {
        return;
    }
    Link::Impl& impl = *found->second;
    if (status == NATS_SLOW_CONSUMER && subscription != nullptr) {
        impl.reporter.report({"nats: ", natsSubscription_GetSubject(subscription),
                              ": messages arrive faster than they are handled, and are dropped"});
        return;
    }
    // This thread's error; the connection may have a later one, or none.
    const char* const reason = nats_GetLastError(nullptr);
    const bool isGiven = reason != nullptr && *reason != '\0';
    impl.reporter.report({"nats: ", isGiven ? reason : natsStatus_GetText(status)});
    if (status == NATS_NOT_PERMITTED && reason != nullptr) {
        impl.deny(deniedSubject(reason));
    }
}

/// The last call of libnats about a connection, except failed(). It notifies while it holds the
/// mutex, because the owner may destroy the link as soon as the mutex is free.
void closed(natsConnection* connection, void* closure) {
    Link::Impl& impl = of(closure);
    const char* reason = nullptr;
    // After close() the last error is that of an earlier trouble, which the observer has heard of.
    if (!impl.isEnded.load() && natsConnection_GetLastError(connection, &reason) != NATS_OK &&
        reason != nullptr) {
        impl.reporter.report({"nats: ", reason});
    }
    impl.become(LinkState::closed);
    const std::lock_guard guard(impl.mutex);
    impl.isClosed = true;
    for (LinkEvents* const events : impl.listeners) {
        events->closed();
    }
    impl.changed.notify_all();
}

/// Asks the server for an answer, which follows everything that was sent before. Returns whether
/// the answer has arrived in time.
bool ask(natsConnection* connection, std::chrono::steady_clock::time_point deadline) noexcept {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    // libnats returns NATS_OK, too, if it could not send its question to the server. Only the last
    // error of the thread shows this. A wrong call sets that error to a known one before.
    (void)natsConnection_FlushTimeout(nullptr, 1);
    const natsStatus status =
        natsConnection_FlushTimeout(connection, std::max<std::int64_t>(1, left.count()));
    natsStatus last = NATS_OK;
    (void)nats_GetLastError(&last);
    return status == NATS_OK && last == NATS_INVALID_ARG;
}

void completed(void* closure) {
    Link::Impl& impl = of(closure);
    const std::lock_guard guard(impl.mutex);  // E1
    --impl.running;
    impl.changed.notify_all();
}

}  // namespace

Link::Link(const NatsOptions& options, const char* name)
    : impl_(std::make_unique<Impl>(options, name)) {
    const BlockedSignals mask;  // libnats begins its threads
    natsOptions* raw = nullptr;
    require(natsOptions_Create(&raw), "options");
    const OwnedOptions owned(raw);
    const std::vector<std::string> servers = serversIn(options.url);
    const std::string where = withoutCredentials(options.url);
    std::vector<const char*> urls;
    for (const std::string& server : servers) {
        urls.push_back(server.c_str());
    }
    require(natsOptions_SetServers(raw, urls.data(), static_cast<int>(urls.size())),
            "the URL " + where);
    authenticate(raw, options);
    require(natsOptions_SetTimeout(raw, options.connectTimeout.count()), "connectTimeout");
    require(natsOptions_SetWriteDeadline(raw, options.writeTimeout.count()), "writeTimeout");
    require(natsOptions_SetCustomReconnectDelay(raw, &pauseBefore, impl_.get()), "reconnectWait");
    require(natsOptions_SetReconnectBufSize(raw, libnatsBuffer), "options");
    require(natsOptions_SetSendAsap(raw, options.sendAtOnce), "sendAtOnce");
    require(natsOptions_SetMaxReconnect(raw, std::numeric_limits<int>::max()), "reconnects");
    require(natsOptions_SetErrorHandler(raw, &failed, Links::add(*impl_)), "options");
    require(natsOptions_SetDisconnectedCB(raw, &disconnected, impl_.get()), "options");
    require(natsOptions_SetReconnectedCB(raw, &connected, impl_.get()), "options");
    if (options.startWithoutServer) {
        require(natsOptions_SetRetryOnFailedConnect(raw, true, &connected, impl_.get()),
                "startWithoutServer");
    }
    require(natsOptions_SetClosedCB(raw, &closed, impl_.get()), "options");
    {
        const std::lock_guard guard(impl_->mutex);
        const natsStatus status = natsConnection_Connect(&impl_->connection, raw);
        if (status == NATS_NOT_YET_CONNECTED) {
            impl_->become(LinkState::disconnected);
        } else {
            require(status, "cannot connect to " + where);
            impl_->learnMaxPayload();
        }
    }
    try {
        impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
    } catch (...) {
        (void)close(std::chrono::milliseconds(0));
        natsConnection_Destroy(impl_->connection);
        throw;
    }
}

Link::Impl::~Impl() {
    const std::lock_guard guard(Links::get().mutex);
    Links::get().all.erase(number);
}

Link::~Link() {
    (void)close(std::chrono::milliseconds(0));
    // Only now: other threads may publish beside close().
    natsConnection_Destroy(impl_->connection);
}

bool Link::publish(const char* subject, const unsigned char* bytes, std::size_t size,
                   const char* reply, Clock::time_point deadline) noexcept {
    Impl& impl = *impl_;
    const Impl::Head head{std::strlen(subject), std::strlen(reply), size, deadline};
    const std::size_t total = sizeof head + head.subject + 1 + head.reply + 1 + size;
    if (size > maxPayload()) {
        return false;
    }
    bool isFirst = false;
    {
        const std::lock_guard guard(impl.outgoingMutex);
        std::vector<unsigned char>& outgoing = impl.outgoing;
        if (state() == LinkState::closed || total > outgoing.capacity() - outgoing.size()) {
            return false;
        }
        isFirst = outgoing.empty();
        const auto* const start = reinterpret_cast<const unsigned char*>(&head);
        outgoing.insert(outgoing.end(), start, start + sizeof head);
        outgoing.insert(outgoing.end(), subject, subject + head.subject + 1);
        outgoing.insert(outgoing.end(), reply, reply + head.reply + 1);
        outgoing.insert(outgoing.end(), bytes, bytes + size);
    }
    if (isFirst) {
        impl.outgoingChanged.notify_all();
    }
    return true;
}

void Link::Impl::run() noexcept {
    std::unique_lock lock(outgoingMutex);
    while (!isEnding || !outgoing.empty()) {
        outgoingChanged.wait(
            lock, [this] { return isEnding || !outgoing.empty() || flushesDone != flushesWanted; });
        sending.swap(outgoing);
        const std::uint64_t wanted = flushesWanted;
        const bool isFlushing = flushesDone != wanted;
        const auto deadline = flushDeadline;
        lock.unlock();
        send();
        const bool isAnswered = isFlushing && ask(connection, deadline);
        lock.lock();
        if (isFlushing) {
            flushesDone = wanted;
            isFlushed = isAnswered;
            outgoingChanged.notify_all();
        }
    }
}

void Link::Impl::send() noexcept {
    for (std::size_t at = 0; at < sending.size();) {
        Head head{};
        std::memcpy(&head, sending.data() + at, sizeof head);
        at += sizeof head;
        const auto* const subject = reinterpret_cast<const char*>(sending.data() + at);
        at += head.subject + 1;
        const auto* const reply = reinterpret_cast<const char*>(sending.data() + at);
        at += head.reply + 1;
        const bool hasDeadline = head.deadline != Clock::time_point::max();
        const auto publish = [&] {
            if (hasDeadline && Clock::now() >= head.deadline) {
                return NATS_OK;  // dropped: the client has counted the end of its request
            }
            // Before the first connection libnats does not check the size of a message. Without a
            // connection it would keep a message beyond its deadline.
            if (maxPayload.load() == unknown ||
                (hasDeadline && state.load() == LinkState::disconnected)) {
                return NATS_INSUFFICIENT_BUFFER;
            }
            const auto* const bytes = sending.data() + at;
            const auto size = static_cast<int>(head.bytes);
            return head.reply == 0
                       ? natsConnection_Publish(connection, subject, bytes, size)
                       : natsConnection_PublishRequest(connection, subject, reply, bytes, size);
        };
        natsStatus status = publish();
        while (status == NATS_INSUFFICIENT_BUFFER) {  // there is no connection
            std::unique_lock lock(outgoingMutex);
            if (outgoingChanged.wait_for(lock, retry, [this] { return isEnding; })) {
                sending.clear();
                return;
            }
            lock.unlock();
            status = publish();
        }
        if (status != NATS_OK && !isEnded.load()) {
            reporter.report(
                {"nats: messages of core routes are lost: ", natsStatus_GetText(status)});
        }
        at += head.bytes;
    }
    sending.clear();
}

void Link::subscribe(const std::string& subject, Receiver& receiver, int backlog) {
    natsSubscription* const made = impl_->subscribe(subject, &received, &receiver);
    require(natsSubscription_SetPendingLimits(made, backlog, -1), "importBacklog");
}

void Link::subscribe(const std::string& subject, ArrivalReceiver& receiver, int backlog,
                     const char* queue) {
    natsSubscription* const made = impl_->subscribe(subject, &arrived, &receiver, queue);
    require(natsSubscription_SetPendingLimits(made, backlog, -1), "importBacklog");
}

natsSubscription* Link::Impl::subscribe(const std::string& subject, natsMsgHandler handler,
                                        void* closure, const char* queue) {
    const BlockedSignals mask;
    natsSubscription* made = nullptr;
    require(queue == nullptr
                ? natsConnection_Subscribe(&made, connection, subject.c_str(), handler, closure)
                : natsConnection_QueueSubscribe(&made, connection, subject.c_str(), queue, handler,
                                                closure),
            "cannot subscribe to " + subject);
    {
        const std::lock_guard guard(mutex);
        subscriptions.push_back(made);
        ++running;
    }
    const natsStatus status = natsSubscription_SetOnCompleteCB(made, &completed, this);
    if (status != NATS_OK) {
        const std::lock_guard guard(mutex);
        --running;
        require(status, "cannot subscribe to " + subject);
    }
    return made;
}

std::uint64_t Link::dropped() const noexcept {
    const std::lock_guard guard(impl_->mutex);
    std::uint64_t sum = 0;
    for (natsSubscription* const each : impl_->subscriptions) {
        std::int64_t count = 0;
        if (natsSubscription_GetDropped(each, &count) == NATS_OK) {
            sum += static_cast<std::uint64_t>(count);
        }
    }
    // A subscription that has ended has no count, so the largest sum is kept.
    impl_->dropped = std::max(impl_->dropped, sum);
    return impl_->dropped;
}

bool Link::close(std::chrono::milliseconds timeout) noexcept {
    Impl& impl = *impl_;
    if (impl.isEnded.exchange(true)) {
        return true;
    }
    const BlockedSignals mask;
    (void)dropped();
    bool isComplete = false;
    // The flush shows whether the server has all published messages. Draining does not.
    if (timeout.count() > 0 && flush(timeout) &&
        natsConnection_DrainTimeout(impl.connection, timeout.count()) == NATS_OK) {
        // Not wait_for: with a huge timeout its deadline would overflow and be in the past.
        const auto deadline = deadlineAfter<std::chrono::steady_clock>(timeout);
        std::unique_lock lock(impl.mutex);
        isComplete = impl.changed.wait_until(
            lock, deadline, [&impl] { return impl.isClosed && impl.running == 0; });
    }
    {
        const std::lock_guard guard(impl.outgoingMutex);
        impl.isEnding = true;
    }
    impl.outgoingChanged.notify_all();
    if (impl.thread.joinable()) {
        impl.thread.join();
    }
    natsConnection_Close(impl.connection);
    {
        std::unique_lock lock(impl.mutex);
        impl.changed.wait(lock, [&impl] { return impl.isClosed && impl.running == 0; });  // E1
        for (natsSubscription* subscription : impl.subscriptions) {
            natsSubscription_Destroy(subscription);
        }
        impl.subscriptions.clear();
    }
    return isComplete;
}

bool Link::flush(std::chrono::milliseconds timeout) noexcept {
    Impl& impl = *impl_;
    std::unique_lock lock(impl.outgoingMutex);
    if (impl.isEnding) {
        return false;
    }
    const std::uint64_t mine = ++impl.flushesWanted;
    impl.flushDeadline = deadlineAfter<std::chrono::steady_clock>(timeout);
    impl.outgoingChanged.notify_all();
    return impl.outgoingChanged.wait_until(lock, impl.flushDeadline, [&] {
        return impl.flushesDone == mine;
    }) && impl.isFlushed;
}

LinkState Link::state() const noexcept {
    return impl_->isEnded.load() ? LinkState::closed : impl_->state.load();
}

std::size_t Link::maxPayload() const noexcept {
    return impl_->maxPayload.load();
}

}  // namespace sluice::nats::detail
