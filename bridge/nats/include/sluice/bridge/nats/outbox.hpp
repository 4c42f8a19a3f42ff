#pragma once

#include <sluice/bridge/nats/options.hpp>
#include <sluice/bridge/nats/statistics.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/memory/buffer_pool.hpp>
#include <sluice/wait/event_count.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace sluice::nats {

/// What became of a message that was to be sent.
enum class [[nodiscard]] SendResult : unsigned char {
    ok,         ///< durable: the outbox keeps it until the server has stored it
    congested,  ///< no room for its priority: the server is slow or away
    notOnDisk,  ///< the disk is full, or broken
    tooLarge,   ///< larger than maxMessageSize, or than the server takes
    closed      ///< the bridge has been closed
};

namespace detail {

class OutboxFile;
class OutboxLane;

/// The accounts of an outbox, which its lanes share.
struct OutboxAccounts {
    std::atomic<std::uint64_t> held{0};  ///< places that are reserved or filled
    std::atomic<std::uint64_t> accepted{0};
    std::atomic<std::uint64_t> acknowledged{0};
    std::atomic<std::uint64_t> undeliverable{0};
    std::atomic<std::uint64_t> resent{0};
    std::atomic<std::uint64_t> replayed{0};
    std::atomic<bool> isDiskTold{false};  ///< whether the observer knows that the disk is full
    EventCount freed;                     ///< notified when `held` becomes smaller
};

}  // namespace detail

/// Messages that leave it only when JetStream has stored them. NatsBridge owns one.
///
///     Outbox::Place place;
///     if (outbox.reserve(Priority::high, place) == SendResult::ok) {
///         ... write at most place.capacity() bytes to place.data() ...
///         result = outbox.put(std::move(place), size, message);
///     }
///
/// Who may call what: reserve, put and the counts by anybody; close by the owner. Each priority has
/// a thread of the outbox, which sends, and a thread of libnats, which takes acknowledgements.
///
/// Room: all priorities share `outboxMessages` places. Low messages may fill 60 % of them, medium
/// ones 80 %, high ones all. So low messages are refused first.
///
/// Progress: reserve and put never wait, except for the system call that wakes a sleeping thread.
/// With outboxFolder, put waits for the disk.
///
/// Allocation: in the constructor alone. The sending threads allocate inside libnats.
///
/// Order: a lane sends in the order of put. A message that is sent again may arrive behind later
/// ones. It cannot fall behind by more than `inFlight` messages.
///
/// Shutdown: after close, reserve answers `closed`. A place that is reserved at that time may still
/// be put, and counts as abandoned if it is not acknowledged in time.
///
/// Invariant: accepted = acknowledged + undeliverable + abandoned + held.
///
/// Tests: bridge/nats/tests/durable_test.cpp. docs/decisions/bridge.md has the states.
class Outbox {
public:
    /// Names a message to the server. `subject` must stay until the outbox is destroyed.
    struct Message {
        Priority priority;
        const char* subject;
        std::uint64_t origin;
        std::uint32_t incarnation;
        std::uint32_t type;
        std::uint64_t sequence;
    };

    /// Room for one message. It goes back when it is not put.
    class [[nodiscard]] Place {
    public:
        Place() noexcept = default;
        Place(Place&& other) noexcept
            : accounts_(std::exchange(other.accounts_, nullptr)),
              buffer_(std::move(other.buffer_)) {}
        Place& operator=(Place&& other) noexcept {
            Place old(std::move(*this));
            accounts_ = std::exchange(other.accounts_, nullptr);
            buffer_ = std::move(other.buffer_);
            return *this;
        }
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;
        ~Place() {
            if (accounts_ != nullptr) {
                buffer_.reset();
                giveBack(*accounts_);
            }
        }

        [[nodiscard]] unsigned char* data() const noexcept {
            return reinterpret_cast<unsigned char*>(buffer_.data());
        }
        [[nodiscard]] std::size_t capacity() const noexcept { return buffer_.capacity(); }

    private:
        friend class Outbox;
        static void giveBack(detail::OutboxAccounts& accounts) noexcept {
            accounts.held.fetch_sub(1);
            accounts.freed.notifyAll();
        }
        detail::OutboxAccounts* accounts_ = nullptr;
        WritableBuffer buffer_;
    };

    /// Creates the streams. Throws std::runtime_error with one line when the server refuses, and
    /// when outboxMessages is less than 4. The links must be closed before the outbox ends.
    Outbox(Link& rest, Link& high, const NatsOptions& options);
    Outbox(const Outbox&) = delete;
    Outbox& operator=(const Outbox&) = delete;
    ~Outbox();

    SendResult reserve(Priority priority, Place& place) noexcept;
    /// Whether the server takes messages of this size.
    [[nodiscard]] bool fits(std::size_t size, Priority priority) const noexcept;
    /// The first `size` bytes of the place are the message. `ok`, or `notOnDisk`.
    SendResult put(Place&& place, std::size_t size, const Message& message) noexcept;

    /// Refuses new messages and waits until the server has stored all others. False when the
    /// timeout came first: the rest is abandoned.
    bool close(std::chrono::milliseconds timeout) noexcept;

    [[nodiscard]] std::size_t roomOf(Priority priority) const noexcept {
        return rooms_[static_cast<std::size_t>(priority)];
    }
    /// Fills in the outbox' own numbers.
    void fill(NatsStatistics& statistics) const noexcept;

private:
    void replay(Priority priority);

    Link::Parts& link_;
    detail::OutboxAccounts accounts_;
    std::atomic<bool> isClosed_{false};
    std::atomic<bool> isEnded_{false};  ///< what is left is abandoned
    std::array<std::size_t, priorityCount> rooms_;
    BufferPool pool_;
    std::array<std::unique_ptr<detail::OutboxFile>, priorityCount> files_;
    std::array<std::unique_ptr<detail::OutboxLane>, priorityCount> lanes_;
};

}  // namespace sluice::nats
