#pragma once

// OutboxLane: sends each message of one priority until the server has answered.
//
// Threads: any thread calls push. The owner calls stop. The lane's thread sends. A thread of
// libnats calls `answered`.
//
// A message waits in the ring, in the order of push. The lane's thread moves the oldest one into a
// slot of the window when the window has room, and sends it. Positions in the window are unbounded
// numbers; the slot is the position modulo the size. The reply subject names the position.
//
// A slot becomes free when its message is done and all older slots are free. The lane's thread
// sends a message without an answer again after ackWait, and a refused one after retryWait.
//
// Edges: E1 commit: message written -> push release .. consume acquire -> sent.

#include "answer_word.hpp"
#include "link_parts.hpp"
#include "outbox_file.hpp"

#include <sluice/bridge/nats/outbox.hpp>
#include <sluice/queue/mpsc_ring.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace sluice::nats::detail {

class OutboxLane {
public:
    struct Record {
        Outbox::Reservation reservation;
        std::size_t size = 0;
        Outbox::Message message{};
    };

    /// `file` may be null.
    OutboxLane(Link& link, const NatsOptions& options, OutboxFile* file, OutboxAccounts& accounts);
    OutboxLane(const OutboxLane&) = delete;
    OutboxLane& operator=(const OutboxLane&) = delete;
    ~OutboxLane() { stop(); }

    /// Begins to send. Before start() the server does not answer, so the lane may be destroyed
    /// while the link is open.
    void start();
    void push(Record&& record) noexcept;
    /// Ends the lane's thread. The lane keeps its messages until the destructor.
    void stop() noexcept;
    /// Whether the server accepts a message of this size with its headers.
    [[nodiscard]] bool fits(std::size_t size) const noexcept {
        return size + headerSize <= link_.maxPayload.load(std::memory_order_relaxed);
    }

private:
    using Clock = EventCount::Clock;
    /// At most this many bytes of headers stand before a message.
    static constexpr std::size_t headerSize = 128;

    struct Slot {
        AnswerWord word;
        Clock::time_point sentAt;  ///< written by the lane's thread, like the record
        Record record;
    };

    static Answer readAnswer(natsMsg* message) noexcept;

    static void answered(natsConnection*, natsSubscription*, natsMsg* message, void* closure);
    void answer(natsMsg* message) noexcept;

    void run() noexcept;
    void collect() noexcept;
    void sendAgain(Clock::time_point now) noexcept;
    void tellSilence(const char* subject) noexcept;
    void sendNew(Clock::time_point now) noexcept;
    void send(std::uint64_t position, Clock::time_point now) noexcept;
    [[nodiscard]] natsStatus transmit(const Record& record, std::uint64_t position) const noexcept;
    void settle(std::uint64_t position, Answer answer) noexcept;

    Slot& slotAt(std::uint64_t position) noexcept { return window_[position % window_.size()]; }
    [[nodiscard]] bool isDone(std::uint64_t position) noexcept {
        return slotAt(position).word.isDone(position);
    }
    [[nodiscard]] bool canSend() const noexcept;

    Link::Parts& link_;
    const DurableOptions options_;
    OutboxFile* const file_;
    std::string inbox_;
    OutboxAccounts& accounts_;
    MpscRing<Record, dynamicCapacity> ring_;
    std::vector<Slot> window_;
    EventCount wake_;
    std::atomic<bool> isStopped_{false};
    /// Whether the observer knows that the server refuses. Written by the answering thread.
    bool isTroubleTold_ = false;
    // Written by the lane's thread.
    std::uint64_t oldest_ = 1;  ///< position of the oldest slot in use
    std::uint64_t next_ = 1;    ///< the position behind the newest one
    std::uint64_t reconnects_ = 0;
    bool isSilenceTold_ = false;   ///< whether the observer knows that the server does not answer
    bool isTooLargeTold_ = false;  ///< whether the observer knows of a message too large
    Clock::time_point nextLook_;   ///< the time of the next check in sendAgain
    std::thread thread_;
};

}  // namespace sluice::nats::detail
