#pragma once

// The part of a Link that uses libnats, for the sources of the bridge.
#include <sluice/base/blocked_signals.hpp>
#include <sluice/bridge/nats/detail/link.hpp>
#include <sluice/bridge/nats/detail/trouble_reporter.hpp>

#include <nats/nats.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace sluice::nats::detail {

/// If the status is an error, throws std::runtime_error with `what` and the reason that libnats
/// gives for the last failure of this thread.
inline void require(natsStatus status, const std::string& what) {
    if (status != NATS_OK) {
        const char* const reason = nats_GetLastError(nullptr);
        const bool isGiven = reason != nullptr && *reason != '\0';
        throw std::runtime_error("nats: " + what + ": " +
                                 (isGiven ? reason : natsStatus_GetText(status)));
    }
}

/// Keeps signal handlers away from the threads of libnats. If a handler interrupted a write of
/// libnats, half a message would remain on the connection, and libnats would close the link.
using sluice::detail::BlockedSignals;

template <auto destroy>
struct Destroy {
    template <class Object>
    void operator()(Object* object) const noexcept {
        destroy(object);
    }
};
using OwnedMessage = std::unique_ptr<natsMsg, Destroy<natsMsg_Destroy>>;

inline std::string newInbox() {
    natsInbox* made = nullptr;
    require(natsInbox_Create(&made), "cannot create a reply subject");
    const std::unique_ptr<natsInbox, Destroy<natsInbox_Destroy>> owned(made);
    return made;
}

/// Receives events of a link, from a thread of libnats.
class LinkEvents {
public:
    /// The server does not permit the program to send on this subject.
    virtual void denied(std::string_view subject) noexcept = 0;
    /// The link is closed for good.
    virtual void closed() noexcept = 0;

protected:
    ~LinkEvents() = default;
};

struct Link::Impl {
    Impl(const NatsOptions& options, const char* of)
        : reconnectWait(options.reconnectWait),
          reconnectWaitLimit(options.reconnectWaitLimit),
          reconnectJitter(options.reconnectJitter),
          mayBeAway(options.startWithoutServer),
          name(of),
          observer(options.observer) {
        const std::size_t room = std::max(options.sendBuffer, Head::size + options.maxMessageSize);
        outgoing.reserve(room);
        sending.reserve(room);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl();

    natsConnection* connection = nullptr;
    std::uintptr_t number = 0;  ///< for errors of libnats
    const std::chrono::milliseconds reconnectWait;
    const std::chrono::milliseconds reconnectWaitLimit;
    const std::chrono::milliseconds reconnectJitter;
    const bool mayBeAway;  ///< whether the owner's calls succeed without a server
    const char* const name;
    std::atomic<bool> isEnded{false};  ///< whether close() has begun
    BridgeObserver* const observer;    ///< may be null
    TroubleReporter reporter{observer};
    std::atomic<LinkState> state{LinkState::connected};
    std::atomic<std::uint64_t> reconnects{0};
    static constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();
    /// The largest message that the server accepts, in bytes with headers. Written by libnats.
    std::atomic<std::size_t> maxPayload{unknown};

    /// Stands before each message in `outgoing`. Follow the subject, the subject for an answer,
    /// each with a NUL, and the bytes.
    struct Head {
        std::size_t subject;  ///< bytes of the subject without its NUL
        std::size_t reply;    ///< the same of the subject for an answer
        std::size_t bytes;
        Clock::time_point deadline;
        /// The most bytes of a head with its subjects.
        static constexpr std::size_t size = 512;
    };
    /// A call of libnats may hold the connection's mutex for seconds: while it connects, resolves
    /// an address, or writes to a server that reads nothing. So publish() calls nothing of libnats,
    /// and no thread holds this mutex during a call of libnats.
    std::mutex outgoingMutex;  ///< guards the following
    std::condition_variable outgoingChanged;
    std::vector<unsigned char> outgoing;  ///< messages for the link's thread; never grows
    std::uint64_t flushesWanted = 0;      ///< number of calls of flush()
    std::uint64_t flushesDone = 0;        ///< the last call that the thread has answered
    bool isFlushed = false;               ///< the answer
    std::chrono::steady_clock::time_point flushDeadline;
    bool isEnding = false;  ///< whether the thread ends when it has sent `outgoing` once
    std::vector<unsigned char> sending;  ///< messages that the link's thread sends now
    std::thread thread;

    std::mutex mutex;  ///< guards the following
    std::condition_variable changed;
    std::vector<natsSubscription*> subscriptions;
    std::uint64_t dropped = 0;  ///< the last result of Link::dropped()
    std::size_t running = 0;    ///< number of subscriptions whose handlers may still run
    bool isClosed = false;      ///< whether libnats makes no further call about the connection
    std::vector<LinkEvents*> listeners;

    /// The link's thread: sends the messages of publish(), and flushes.
    void run() noexcept;
    void send() noexcept;
    /// Calls the function, which asks the server. Returns false if there is no server, and
    /// startWithoutServer permits it; otherwise an exception of the function propagates.
    template <class Function>
    [[nodiscard]] bool askServer(Function&& function) {
        const auto isAway = [this] { return mayBeAway && state.load() != LinkState::connected; };
        if (isAway()) {
            return false;
        }
        try {
            function();
        } catch (const std::runtime_error&) {
            if (!isAway()) {
                throw;
            }
            return false;
        }
        return true;
    }
    /// Subscribes a handler, which runs until close(). Throws if the subject is wrong.
    natsSubscription* subscribe(const std::string& subject, natsMsgHandler handler, void* closure,
                                const char* queue = nullptr);
    void listen(LinkEvents& events) {
        const std::lock_guard guard(mutex);
        listeners.push_back(&events);
    }
    /// After the return the listener is not called.
    void unlisten(LinkEvents& events) noexcept {
        const std::lock_guard guard(mutex);
        listeners.erase(std::remove(listeners.begin(), listeners.end(), &events), listeners.end());
    }
    void deny(std::string_view subject) noexcept {
        const std::lock_guard guard(mutex);
        for (LinkEvents* const events : listeners) {
            events->denied(subject);
        }
    }
    void learnMaxPayload() noexcept {
        maxPayload.store(static_cast<std::size_t>(natsConnection_GetMaxPayload(connection)));
    }
    void become(LinkState next) noexcept {
        state.store(next);
        if (observer != nullptr) {
            observer->changed(name, next);
        }
    }
};

}  // namespace sluice::nats::detail
