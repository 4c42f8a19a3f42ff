#pragma once

#include <sluice/live/live_page.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <poll.h>

namespace sluice::live {

using Clock = std::chrono::steady_clock;
using Text = std::shared_ptr<const std::string>;

/// A GET request. The views lie in the text that was parsed.
struct Request {
    int status = 0;  ///< or that of a refusal
    std::string_view path{};
    std::string_view query{};                          ///< behind the `?`
    std::map<std::string, std::string_view> fields{};  ///< by names in lower case

    /// Returns an empty value if the field is missing.
    [[nodiscard]] std::string_view field(const std::string& name) const {
        const auto found = fields.find(name);
        return found == fields.end() ? std::string_view() : found->second;
    }
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

/// Reads the head of a request up to the empty line.
Request parseRequest(std::string_view head);

/// Whether a Host field names this server: an IP address or a known name, with its port.
bool isOwnHost(std::string_view host, std::uint16_t port, const std::vector<std::string>& names);

/// Compares in a time that depends only on the length of `given`.
bool isSameToken(std::string_view given, std::string_view token) noexcept;

/// A file descriptor.
class Descriptor {
public:
    explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor();
    [[nodiscard]] int get() const noexcept { return fd_; }

private:
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
    [[nodiscard]] LiveStatistics statistics() const;

private:
    enum class State : unsigned char { reading, answering, streaming, over };
    struct Connection {
        Descriptor socket;
        Clock::time_point deadline;
        State state = State::reading;
        std::string in{};      ///< what has arrived of the request
        Text out{};            ///< is being sent; then null
        std::size_t sent = 0;  ///< of out
    };

    void accept(Clock::time_point now);
    void serve(Connection& connection, short events, Clock::time_point now);
    void read(Connection& connection, Clock::time_point now);
    void answer(Connection& connection, std::string_view head, Clock::time_point now);
    void send(Connection& connection, Text text, Clock::time_point now);
    void write(Connection& connection, Clock::time_point now);

    const std::chrono::milliseconds interval_;
    const std::chrono::milliseconds patience_;
    const std::size_t maxConnections_;
    const Handle handle_;
    Listener listener_;
    Descriptor wake_;  ///< an eventfd
    std::vector<Connection> connections_;
    std::vector<pollfd> polled_;
    LiveStatistics counts_;  ///< of the thread that runs
    mutable std::mutex mutex_;
    LiveStatistics shown_;  ///< guarded by mutex_: the counts of a moment ago
};

}  // namespace sluice::live
