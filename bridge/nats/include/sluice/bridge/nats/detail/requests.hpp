#pragma once

#include <sluice/bridge/nats/detail/link.hpp>
#include <sluice/bridge/nats/options.hpp>
#include <sluice/bridge/nats/statistics.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/wait/park.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace sluice::nats::detail {

/// The open requests of a bridge. NatsBridge creates it with its first client.
///
/// Each request has a number, which is the last part of its answer's subject. A request ends
/// exactly once, when its number is removed from the table: by an inbox thread with the answer, by
/// the deadline thread, by send() if the link refuses the question, or by stop().
///
/// Threads: any thread may call send() and open(). The owner calls stop().
class Requests final : ArrivalReceiver {
public:
    using Clock = Park::Clock;
    /// Ends a request, with an answer, or with null and an error. Runs without a lock.
    using End = std::function<void(const Arrival* answer, RequestError error)>;

    Requests(Link& rest, Link& high, std::size_t most, Counters& counters);
    /// Subscribes the inboxes, which use this object until the links are closed. Throws
    /// std::runtime_error if libnats refuses.
    void start(int backlog);
    Requests(const Requests&) = delete;
    Requests& operator=(const Requests&) = delete;
    ~Requests() { stop(); }

    /// Sends a question. Does not wait. If the link refuses the question, calls `end` before it
    /// returns. If it throws std::bad_alloc, `end` is not called.
    void send(Priority priority, const char* subject, const unsigned char* bytes, std::size_t size,
              Clock::time_point deadline, End end);
    /// Ends all requests, including later ones, as `closed`.
    void stop() noexcept override;
    [[nodiscard]] std::size_t open() const noexcept;

private:
    struct Open {
        Clock::time_point deadline;
        End end;
    };
    using Table = std::map<std::uint64_t, Open>;

    void receive(const Arrival& answer) noexcept override;
    void run() noexcept;
    /// Removes a request from the table. Returns null if the request has ended.
    Table::node_type take(std::uint64_t number) noexcept;

    Link& rest_;
    Link& high_;
    const std::size_t most_;
    Counters& counters_;
    const std::string inbox_;
    mutable std::mutex mutex_;  ///< guards the following
    std::condition_variable changed_;
    Table table_;
    std::uint64_t last_ = 0;  ///< number of the last request
    /// The time of the next deadline check, which is not later than the earliest deadline.
    Clock::time_point next_ = Clock::time_point::max();
    bool isStopped_ = false;
    std::thread thread_;
};

}  // namespace sluice::nats::detail
