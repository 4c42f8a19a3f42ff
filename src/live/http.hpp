#pragma once

#include <sluice/live/live_page.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

namespace sluice::live {

using Clock = std::chrono::steady_clock;
using Text = std::shared_ptr<const std::string>;

/// A GET request.
struct Request {
    std::string_view path;
    std::string_view query;  ///< behind the `?`
    std::string_view host;
    std::string_view origin;
    std::string_view fetchSite;
    std::string_view authorization;
    std::string_view cookie;
    std::string_view accept;
};

struct Response {
    int status = 200;
    std::string_view type = "text/plain; charset=utf-8";
    Text body;
    std::string fields{};   ///< further lines of the head
    bool isStream = false;  ///< the body is the first event, and publish() sends more
};

Text textOf(std::string text);
Response refusal(int status, std::string why);

inline constexpr std::size_t maxRequest = 8192;

/// Reads the head of a request up to the empty line. `status` is 0, or the status of a refusal.
struct Parsed {
    int status = 0;
    Request request{};
};
Parsed parseRequest(std::string_view head);

/// Whether a Host field names this server: an IP address or a known name, with its port.
bool isOwnHost(std::string_view host, std::uint16_t port, const std::vector<std::string>& names);

/// Compares in a time that depends only on the length of `given`.
bool isSameToken(std::string_view given, std::string_view token) noexcept;

/// A file descriptor.
class Descriptor {
public:
    explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();
    [[nodiscard]] int get() const noexcept { return fd_; }

private:
    int release() noexcept {
        const int fd = fd_;
        fd_ = -1;
        return fd;
    }
    int fd_;
};

/// A socket that listens, where and how the options say. Throws std::runtime_error.
struct Listener {
    explicit Listener(const LiveOptions& options);
    ~Listener();

    Descriptor socket;
    std::string unixPath;
    std::uint64_t unixFile = 0;  ///< the socket's inode at this path
    std::string address;
    std::uint16_t port = 0;
    bool isPublic = false;
};

/// Serves connections on the thread that calls run().
class HttpServer {
public:
    using Handle = std::function<Response(const Request&)>;

    HttpServer(const LiveOptions& options, Handle handle);

    /// Serves until stop(). Calls tick() in each interval.
    void run(const std::function<void()>& tick);
    /// Any thread.
    void stop() noexcept;
    /// Sends a text to all streams. A stream that has not yet read its last one skips this one.
    void publish(const Text& text);

    [[nodiscard]] const Listener& listener() const noexcept { return listener_; }
    [[nodiscard]] LiveStatistics statistics() const noexcept;

private:
    enum class State : unsigned char { reading, answering, streaming, draining, over };
    struct Connection {
        Descriptor socket;
        Clock::time_point deadline;
        State state = State::reading;
        bool isStream = false;
        std::string in{};
        std::string head{};
        Text body{};
        std::size_t sent = 0;  ///< of head and body
    };

    void accept(Clock::time_point now);
    void serve(Connection& connection, short events, Clock::time_point now);
    void read(Connection& connection, Clock::time_point now);
    void answer(Connection& connection, Clock::time_point now);
    void write(Connection& connection, Clock::time_point now);

    struct Counts {  // written by the thread that runs
        std::atomic<std::uint64_t> accepted{0}, refused{0}, requests{0}, skipped{0}, late{0};
        std::atomic<std::size_t> open{0};
    };

    const std::chrono::milliseconds interval_;
    const std::chrono::milliseconds patience_;
    const std::size_t maxConnections_;
    const Handle handle_;
    Listener listener_;
    Descriptor wake_;  ///< an eventfd
    std::vector<Connection> connections_;
    std::vector<pollfd> polled_;
    std::size_t streams_ = 0;
    Clock::time_point acceptAgain_{};
    Counts counts_;
};

}  // namespace sluice::live
