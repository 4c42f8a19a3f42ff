#pragma once

#include <sluice/inspect/inspector.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

class FlightRecorder;

/// Where and how a LivePage listens.
struct LiveOptions {
    /// An IP address. Any but a loopback address needs a token.
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  ///< 0: a free port, see LivePage::address()
    /// The path of a Unix socket, instead of address and port. Only the user of the program can
    /// connect to it.
    std::string unixSocket;
    /// If not empty, at least 16 letters, digits, `-` and `_`, which each request must have: the
    /// page in its address, `/?token=...`, and programs in `Authorization: Bearer ...`.
    std::string token;
    /// The host names under which a browser may open the page, besides `localhost` and IP
    /// addresses. A request for another name is refused, because a stranger's name server may have
    /// led the browser here.
    std::vector<std::string> hostNames;
    std::string title = "Sluice";
    /// Answers `/trace`, if not null. Must outlive the page.
    const FlightRecorder* recorder = nullptr;
    std::chrono::milliseconds interval{500};  ///< between two readings; 50 ms to a day
    std::size_t maxConnections = 64;          ///< 4 to 65,536; a quarter may be open pages
    /// How long a request may take to arrive, and each 256 KiB of its answer to be read. At most a
    /// day.
    std::chrono::milliseconds patience{5000};
    /// Is called once if the address can be reached from other machines. By default, it prints to
    /// stderr.
    std::function<void(std::string_view)> notice;
};

/// The counts of a LivePage.
struct LiveStatistics {
    std::uint64_t accepted = 0;  ///< connections
    std::uint64_t refused = 0;   ///< connections beyond the limit
    std::uint64_t requests = 0;  ///< answered requests, also those that were refused
    std::uint64_t skipped = 0;   ///< events that slow readers did not get
    std::uint64_t late = 0;      ///< connections that ran out of patience
    std::size_t open = 0;        ///< connections now
};

/// Serves what an Inspector reads: a page for people, and `/metrics`, `/snapshot`, `/events` and
/// `/trace` for programs. Read only.
///
///     sluice::LivePage page(inspector, {});
///     std::printf("%s\n", page.address().c_str());  // http://127.0.0.1:40123/
///
/// One thread serves all connections and reads the inspector in each interval, even if no browser
/// is connected. No request makes it read more often. The thread has the ordinary scheduling
/// policy, whatever the creator's, and blocks all signals but faults.
///
/// Thread safety: any thread may call any member except constructor and destructor. The inspector
/// must outlive the page; watched objects may come and go.
///
/// Errors: the constructor throws std::runtime_error with one line. The destructor closes all
/// connections.
///
/// Performance: 64 connections take at most 64 requests of 8 KiB and two texts for each reader. A
/// slow reader misses events. A trace takes some 100 bytes and 0.6 us for each event that the
/// recorder keeps. Other readers wait for it. There is at most one trace in memory, and one in each
/// interval.
class LivePage {
public:
    LivePage(const Inspector& inspector, LiveOptions options);
    LivePage(const LivePage&) = delete;
    LivePage& operator=(const LivePage&) = delete;
    ~LivePage();

    /// What a browser opens, without the token; for a Unix socket `unix:` and its path.
    [[nodiscard]] std::string address() const;
    [[nodiscard]] LiveStatistics statistics() const;

private:
    class Server;
    std::unique_ptr<Server> server_;
};

}  // namespace sluice
