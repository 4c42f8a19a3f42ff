#pragma once

#include <sluice/inspect/inspector.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sluice {

class FlightRecorder;

/// Where and how a LivePage listens.
struct LiveOptions {
    std::string address = "127.0.0.1";   ///< an IP address; any but loopback needs a token
    std::uint16_t port = 0;              ///< 0: a free port, see LivePage::address()
    std::string unixSocket;              ///< instead of an address: a path, for this user alone
    std::string token;                   ///< 16 or more letters, digits, `-` and `_`, see the guide
    std::vector<std::string> hostNames;  ///< for browsers, besides `localhost` and IP addresses
    std::string title = "Sluice";
    const FlightRecorder* recorder = nullptr;  ///< answers `/trace`; must outlive the page
    std::chrono::milliseconds interval{500};   ///< between two readings; 50 ms to a day
    std::size_t maxConnections = 64;           ///< 4 to 65,536; a quarter may be open pages
    std::chrono::milliseconds patience{5000};  ///< for a request, and for 256 KiB of an answer
};

/// The counts of a LivePage.
struct LiveStatistics {
    std::uint64_t refused = 0;   ///< connections beyond the limit
    std::uint64_t requests = 0;  ///< answered requests, also those that were refused
    std::uint64_t skipped = 0;   ///< events that slow readers did not get
    std::uint64_t late = 0;      ///< connections that ran out of patience
    std::uint64_t open = 0;      ///< connections now
};

/// Serves what an Inspector reads: a page for people, and `/metrics`, `/snapshot`, `/events` and
/// `/trace` for programs. Read only.
///
///     sluice::LivePage page(inspector, {});
///     std::printf("%s\n", page.address().c_str());  // http://127.0.0.1:40123/
///
/// One thread serves all connections and reads the inspector in each interval, even if no browser
/// is connected. It has the ordinary scheduling policy, and blocks all signals but faults. If other
/// machines can reach the address, the constructor says so on stderr.
///
/// Thread safety: any thread may call any member except constructor and destructor. The inspector
/// must outlive the page; watched objects may come and go.
///
/// Errors: the constructor throws std::runtime_error with one line. The destructor closes all
/// connections.
///
/// Performance: 64 connections take at most 64 requests of 8 KiB and two texts for each reader. A
/// slow reader misses events. A trace takes some 100 bytes and 0.6 us for each event that the
/// recorder keeps; at most one is being written or sent, and other readers wait while it is
/// written.
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
