#pragma once

#include <sluice/base/counter.hpp>
#include <sluice/live/live_page.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// The server of the live page. live_page.cpp alone uses it.
namespace sluice::live {

using Clock = std::chrono::steady_clock;
using Text = std::shared_ptr<const std::string>;

inline Text textOf(std::string text) {
    return std::make_shared<const std::string>(std::move(text));
}

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

inline Response refusal(int status, std::string why) {
    return {status, "text/plain; charset=utf-8", textOf(std::move(why += '\n'))};
}

inline std::string lowered(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return result;
}

inline constexpr std::size_t maxRequest = 8192;

inline std::string_view trimmed(std::string_view text) noexcept {
    const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
    text.remove_prefix(begin);
    return text.substr(0, text.find_last_not_of(" \t") + 1);
}

/// Reads the head of a request up to the empty line.
inline Request parseRequest(std::string_view head) {
    const auto hasControl = [](std::string_view line) {
        return std::any_of(line.begin(), line.end(), [](char c) {
            return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
        });
    };
    const auto nextLine = [&head] {
        const std::string_view line = head.substr(0, head.find("\r\n"));
        head.remove_prefix(std::min(line.size() + 2, head.size()));
        return line;
    };
    const std::string_view first = nextLine();
    const std::size_t space = first.find(' ');
    const std::size_t last = first.rfind(' ');
    if (space == last || hasControl(first) ||
        (first.substr(last) != " HTTP/1.1" && first.substr(last) != " HTTP/1.0")) {
        return Request{400};
    }
    if (first.substr(0, space) != "GET") {
        return Request{405};
    }
    Request request;
    const std::string_view target = first.substr(space + 1, last - space - 1);
    request.path = target.substr(0, target.find('?'));
    request.query = target.substr(std::min(request.path.size() + 1, target.size()));
    if (request.path.substr(0, 1) != "/") {
        return Request{400};
    }
    while (!head.empty()) {
        const std::string_view line = nextLine();
        const std::size_t colon = std::min(line.find(':'), line.size());
        const std::string name = lowered(line.substr(0, colon));
        if (name.empty() || colon == line.size() || hasControl(line) ||
            name.find_first_of(" \t") != std::string::npos) {
            return Request{400};
        }
        // Which of two fields counts is a matter of opinion, so those of security occur once.
        static constexpr std::string_view once[] = {
            "authorization", "content-length", "cookie",           "host",
            "origin",        "sec-fetch-site", "transfer-encoding"};
        if (!request.fields.emplace(name, trimmed(line.substr(colon + 1))).second &&
            std::find(std::begin(once), std::end(once), name) != std::end(once)) {
            return Request{400};
        }
    }
    const std::string_view length = request.field("content-length");
    const bool hasBody = !length.empty() && length != "0";
    return hasBody || request.fields.count("transfer-encoding") != 0 ? Request{413} : request;
}

inline bool isIpAddress(const std::string& text) {
    std::array<unsigned char, sizeof(in6_addr)> bytes{};
    return ::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
           ::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

/// Whether a Host field names this server: an IP address or a known name, with its port.
inline bool isOwnHost(std::string_view host, std::uint16_t port,
                      const std::vector<std::string>& names) {
    const std::string ending = ":" + std::to_string(port);
    std::string name = lowered(host);
    if (name.size() > ending.size() &&
        name.compare(name.size() - ending.size(), std::string::npos, ending) == 0) {
        name.resize(name.size() - ending.size());
    } else if (port != 80) {
        return false;
    }
    if (name.size() > 2 && name.front() == '[' && name.back() == ']') {
        name = name.substr(1, name.size() - 2);
    }
    return isIpAddress(name) || name == "localhost" ||
           std::any_of(names.begin(), names.end(),
                       [&name](const std::string& each) { return lowered(each) == name; });
}

/// Compares in a time that depends only on the length of `given`.
inline bool isSameToken(std::string_view given, std::string_view token) noexcept {
    unsigned difference = given.size() == token.size() ? 0 : 1;
    for (std::size_t i = 0; i != given.size(); ++i) {
        difference |= static_cast<unsigned char>(given[i]) ^
                      static_cast<unsigned char>(token[i % token.size()]);
    }
    return difference == 0;
}

class Descriptor {
public:
    explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor() {
        if (fd_ >= 0) {
            (void)::close(fd_);
        }
    }
    [[nodiscard]] int get() const noexcept { return fd_; }

private:
    int fd_;
};

inline void check(bool isGood, const std::string& what) {
    if (!isGood) {
        const std::string reason = errno == 0 ? "" : ": " + std::generic_category().message(errno);
        throw std::runtime_error("live page: " + what + reason);
    }
}

/// A socket that listens, where and how the options say. Throws std::runtime_error.
struct Listener {
    explicit Listener(const LiveOptions& options) {
        errno = 0;
        check(options.token.empty() || options.token.size() >= 16, "a token has at least 16 bytes");
        constexpr std::string_view safe =
            "0123456789-_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        check(options.token.find_first_not_of(safe) == std::string::npos,
              "a token has letters, digits, - and _ only");
        if (!options.unixSocket.empty()) {
            unixPlace.sun_family = AF_UNIX;
            check(options.unixSocket.size() < sizeof unixPlace.sun_path,
                  "a path of at most 107 bytes, not " + options.unixSocket);
            options.unixSocket.copy(unixPlace.sun_path, sizeof unixPlace.sun_path - 1);
            removeDeadSocket();
            socket = listenOn(AF_UNIX, &unixPlace, sizeof unixPlace, options.unixSocket);
            unixFile = fileAtPlace();
            address = "unix:" + options.unixSocket;
            return;
        }
        addrinfo hints{};
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
        hints.ai_socktype = SOCK_STREAM;
        addrinfo* found = nullptr;
        const std::string wanted = std::to_string(options.port);
        const int failed = ::getaddrinfo(options.address.c_str(), wanted.c_str(), &hints, &found);
        errno = 0;  // which says nothing about names
        check(failed == 0, "'" + options.address + "' is no IP address");
        const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> freed(found, &::freeaddrinfo);
        sockaddr_in6 place{};  // of either family: the ports are at the same place
        std::memcpy(&place, found->ai_addr, found->ai_addrlen);
        const bool isV4 = found->ai_family == AF_INET;
        const auto& v4 = reinterpret_cast<const sockaddr_in&>(*found->ai_addr);
        isPublic = isV4 ? (ntohl(v4.sin_addr.s_addr) >> 24U) != 127
                        : !IN6_IS_ADDR_LOOPBACK(&place.sin6_addr);
        check(!isPublic || !options.token.empty(),
              "other machines can reach " + options.address + ": it needs a token");
        const std::string host = isV4 ? options.address : "[" + options.address + "]";
        socket = listenOn(found->ai_family, &place, found->ai_addrlen, host + ":" + wanted);
        socklen_t size = sizeof place;
        (void)::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&place), &size);
        port = ntohs(place.sin6_port);
        address = "http://" + host + ":" + std::to_string(port) + "/";
    }

    ~Listener() {
        if (unixFile != 0 && unixFile == fileAtPlace()) {  // else it is that of another page
            (void)::unlink(unixPlace.sun_path);
        }
    }

    Descriptor socket;
    sockaddr_un unixPlace{};  ///< of family 0 without a Unix socket
    ino_t unixFile = 0;       ///< the inode of the Unix socket
    std::string address;
    std::uint16_t port = 0;
    bool isPublic = false;

private:
    static Descriptor listenOn(int family, const void* address, socklen_t size,
                               const std::string& name) {
        Descriptor socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        check(socket.get() >= 0, "no socket");
        const int on = 1;
        if (family == AF_UNIX) {
            check(::fchmod(socket.get(), S_IRUSR | S_IWUSR) == 0, "no rights for " + name);
        } else {
            (void)::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        }
        check(::bind(socket.get(), static_cast<const sockaddr*>(address), size) == 0 &&
                  ::listen(socket.get(), 512) == 0,
              "cannot listen on " + name);
        return socket;
    }

    /// The inode of the socket at unixPlace, or 0.
    [[nodiscard]] ino_t fileAtPlace() const noexcept {
        struct stat status {};
        const bool isThere = ::lstat(unixPlace.sun_path, &status) == 0;
        return isThere && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
    }

    /// Removes a socket that no process listens on. Anything else in its place stays.
    void removeDeadSocket() const {
        const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        const auto* const place = reinterpret_cast<const sockaddr*>(&unixPlace);
        if (fileAtPlace() != 0 && ::connect(probe.get(), place, sizeof unixPlace) != 0 &&
            errno == ECONNREFUSED) {
            (void)::unlink(unixPlace.sun_path);
        }
    }
};

/// Serves connections on the thread that calls run().
class HttpServer {
public:
    using Handle = std::function<Response(const Request&)>;

    HttpServer(const LiveOptions& options, Handle handle)
        : interval_(std::clamp(options.interval, std::chrono::milliseconds(50), aDay)),
          patience_(std::min(options.patience, aDay)),
          maxConnections_(std::clamp<std::size_t>(options.maxConnections, 4, 65536)),
          handle_(std::move(handle)),
          listener_(options),
          wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
        check(wake_.get() >= 0, "no eventfd");
        connections_.reserve(maxConnections_);
        polled_.reserve(maxConnections_ + 2);
    }

    /// Serves until stop(). Calls tick() in each interval.
    void run(const std::function<void()>& tick) {
        for (Clock::time_point nextTick = Clock::now();;) {
            Clock::time_point now = Clock::now();
            if (now >= nextTick) {
                tick();
                now = Clock::now();
                nextTick = now + interval_;  // late: do not catch up
            }
            polled_.assign({{wake_.get(), POLLIN, 0}, {listener_.socket.get(), POLLIN, 0}});
            for (const Connection& each : connections_) {
                // Not read while it is answered: its reader may have ended its own side.
                const short events = each.out != nullptr ? POLLOUT : POLLIN;
                polled_.push_back({each.socket.get(), events, 0});
            }
            const auto wait = std::chrono::ceil<std::chrono::milliseconds>(nextTick - now).count();
            (void)::poll(polled_.data(), polled_.size(),
                         static_cast<int>(std::clamp<long long>(wait, 0, 1000)));
            if (polled_[0].revents != 0) {
                return;
            }
            now = Clock::now();
            for (std::size_t i = 0; i != connections_.size(); ++i) {
                serve(connections_[i], polled_[i + 2].revents, now);
            }
            connections_.erase(
                std::remove_if(connections_.begin(), connections_.end(),
                               [](const Connection& each) { return each.state == State::over; }),
                connections_.end());
            if (polled_[1].revents != 0) {
                accept(now);
            }
            open_.set(connections_.size());
        }
    }

    /// Any thread.
    void stop() noexcept {
        const std::uint64_t one = 1;
        (void)!::write(wake_.get(), &one, sizeof one);
    }

    /// Sends a text to all streams. A stream that has not yet read its last one skips this one.
    void publish(const Text& text) {
        const Clock::time_point now = Clock::now();
        for (Connection& each : connections_) {
            if (each.state == State::streaming && each.out == nullptr) {
                send(each, text, now);
            } else if (each.state == State::streaming) {
                skipped_.add(1);
            }
        }
    }

    [[nodiscard]] const Listener& listener() const noexcept { return listener_; }
    [[nodiscard]] LiveStatistics statistics() const {
        return {refused_.get(), requests_.get(), skipped_.get(), late_.get(), open_.get()};
    }

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

    void accept(Clock::time_point now) {
        Descriptor socket(
            ::accept4(listener_.socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (socket.get() < 0) {
            if (errno != EAGAIN && errno != ECONNABORTED) {  // no descriptor or no memory is left
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            }
        } else if (connections_.size() == maxConnections_) {
            constexpr std::string_view busy = "HTTP/1.1 503 Service Unavailable\r\nConnection: "
                                              "close\r\nContent-Length: 0\r\n\r\n";
            (void)::send(socket.get(), busy.data(), busy.size(), MSG_NOSIGNAL);
            refused_.add(1);
        } else {
            const int kept = 1 << 17;  // of what a reader does not read, the kernel holds no more
            (void)::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &kept, sizeof kept);
            connections_.push_back({std::move(socket), now + patience_});
        }
    }

    void serve(Connection& connection, short events, Clock::time_point now) {
        try {
            if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) {
                read(connection, now);
            }
        } catch (const std::exception&) {  // no memory
            connection.state = State::over;
        }
        if ((events & POLLOUT) != 0 && connection.out != nullptr) {
            write(connection, now);
        }
        const bool isIdleStream = connection.state == State::streaming && connection.out == nullptr;
        if (connection.state != State::over && !isIdleStream && now >= connection.deadline) {
            const bool isAnswered =
                connection.state == State::answering && connection.out == nullptr;
            late_.add(isAnswered ? 0 : 1);
            connection.state = State::over;
        }
    }

    void read(Connection& connection, Clock::time_point now) {
        std::array<char, 4096> bytes;
        const ssize_t count = ::recv(connection.socket.get(), bytes.data(), bytes.size(), 0);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (count <= 0) {
            connection.state = State::over;
        }
        if (connection.state != State::reading) {
            return;  // what follows a request is not read
        }
        connection.in.append(bytes.data(), static_cast<std::size_t>(count));
        const std::size_t end = connection.in.find("\r\n\r\n");
        if (end != std::string::npos || connection.in.size() >= maxRequest) {
            answer(connection, std::string_view(connection.in).substr(0, end), now);
            connection.in = std::string();
        }
    }

    void answer(Connection& connection, std::string_view head, Clock::time_point now) {
        const Request request = head.size() < maxRequest ? parseRequest(head) : Request{431};
        Response response = request.status == 0
                                ? handle_(request)
                                : refusal(request.status, "only small GET requests are answered");
        const auto streams =
            std::count_if(connections_.begin(), connections_.end(),
                          [](const Connection& each) { return each.state == State::streaming; });
        if (response.isStream && static_cast<std::size_t>(streams) >= maxConnections_ / 4) {
            response = refusal(503, "too many open pages");
        }
        requests_.add(1);
        std::string text = "HTTP/1.1 " + std::to_string(response.status) +
                           (response.status < 400 ? " OK" : " Refused") + "\r\nContent-Type: ";
        text.append(response.type)
            .append("\r\nConnection: close\r\nCache-Control: no-store\r\nAllow: GET\r\n"
                    "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
                    "Cross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: DENY\r\n"
                    "Cross-Origin-Opener-Policy: same-origin\r\n")
            .append(response.fields);
        if (!response.isStream) {
            text += "Content-Length: " + std::to_string(response.body->size()) + "\r\n";
        }
        text += "\r\n";
        connection.state = response.isStream ? State::streaming : State::answering;
        // The buffer of a new socket has room for the head.
        const ssize_t count =
            ::send(connection.socket.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_MORE);
        if (count != static_cast<ssize_t>(text.size())) {
            connection.state = State::over;
            return;
        }
        send(connection, std::move(response.body), now);
    }

    void send(Connection& connection, Text text, Clock::time_point now) {
        connection.out = std::move(text);
        connection.sent = 0;
        connection.deadline = now + patience_;
        write(connection, now);
    }

    void write(Connection& connection, Clock::time_point now) {
        while (connection.sent != connection.out->size()) {
            constexpr std::size_t piece = std::size_t{256} << 10U;
            const std::string_view rest = std::string_view(*connection.out).substr(connection.sent);
            const ssize_t count =
                ::send(connection.socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
            if (count < 0) {
                connection.state =
                    errno == EAGAIN || errno == EINTR ? connection.state : State::over;
                return;
            }
            const std::size_t before = connection.sent / piece;
            connection.sent += static_cast<std::size_t>(count);
            if (connection.sent / piece != before) {
                connection.deadline = now + patience_;
            }
        }
        connection.out = nullptr;
        if (connection.state == State::answering) {  // unread bytes would make close() cut it
            (void)::shutdown(connection.socket.get(), SHUT_WR);
            connection.deadline = now + std::min(patience_, std::chrono::milliseconds(1000));
        }
    }

    static constexpr std::chrono::milliseconds aDay = std::chrono::hours(24);
    const std::chrono::milliseconds interval_;
    const std::chrono::milliseconds patience_;
    const std::size_t maxConnections_;
    const std::function<Response(const Request&)> handle_;
    Listener listener_;
    Descriptor wake_;  ///< an eventfd
    std::vector<Connection> connections_;
    std::vector<pollfd> polled_;
    SingleWriterCounter<> refused_, requests_, skipped_, late_;
    SingleWriterNumber<> open_;
};

}  // namespace sluice::live
