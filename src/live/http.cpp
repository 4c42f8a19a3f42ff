#include "http.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace sluice::live {
namespace {

std::string lowered(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    }
    return result;
}

std::string_view trimmed(std::string_view text) noexcept {
    const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
    text.remove_prefix(begin);
    return text.substr(0, text.find_last_not_of(" \t") + 1);
}

bool isIpAddress(const std::string& text) {
    std::array<unsigned char, sizeof(in6_addr)> bytes{};
    return ::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
           ::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

void check(bool isGood, const std::string& what) {
    if (!isGood) {
        const std::string reason = errno == 0 ? "" : ": " + std::generic_category().message(errno);
        throw std::runtime_error("live page: " + what + reason);
    }
}

Descriptor listenOn(int family, const void* address, socklen_t size, const std::string& name) {
    Descriptor socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    check(socket.get() >= 0, "no socket");
    const int on = 1;
    if (family == AF_UNIX) {
        check(::fchmod(socket.get(), S_IRUSR | S_IWUSR) == 0, "no rights for " + name);
    } else {
        (void)::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    }
    check(::bind(socket.get(), static_cast<const sockaddr*>(address), size) == 0,
          "cannot listen on " + name);
    check(::listen(socket.get(), 512) == 0, "cannot listen on " + name);
    return socket;
}

/// Removes a socket that a dead program has left. Anything else in its place stays.
void removeOldSocket(const sockaddr_un& address) {
    struct stat status {};
    const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const bool isSocket = ::lstat(address.sun_path, &status) == 0 && S_ISSOCK(status.st_mode);
    if (isSocket &&
        ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
        errno == ECONNREFUSED) {
        (void)::unlink(address.sun_path);
    }
}

std::uint64_t inodeOf(const std::string& path) noexcept {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

constexpr std::chrono::milliseconds aDay = std::chrono::hours(24);

}  // namespace

Text textOf(std::string text) {
    return std::make_shared<const std::string>(std::move(text));
}
Response refusal(int status, std::string why) {
    return {status, "text/plain; charset=utf-8", textOf(std::move(why += '\n')), {}, false};
}

Request parseRequest(std::string_view head) {
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

bool isOwnHost(std::string_view host, std::uint16_t port, const std::vector<std::string>& names) {
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

bool isSameToken(std::string_view given, std::string_view token) noexcept {
    unsigned difference = given.size() == token.size() ? 0 : 1;
    for (std::size_t i = 0; i != given.size(); ++i) {
        difference |= static_cast<unsigned char>(given[i]) ^
                      static_cast<unsigned char>(token[i % token.size()]);
    }
    return difference == 0;
}

Descriptor::~Descriptor() {
    if (fd_ >= 0) {
        (void)::close(fd_);
    }
}

Listener::Listener(const LiveOptions& options) {
    errno = 0;
    check(options.token.empty() || options.token.size() >= 16, "a token has at least 16 bytes");
    constexpr std::string_view safe =
        "0123456789-_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    check(options.token.find_first_not_of(safe) == std::string::npos,
          "a token has letters, digits, - and _ only");
    check(options.interval >= std::chrono::milliseconds(50), "the interval is at least 50 ms");
    if (!options.unixSocket.empty()) {
        sockaddr_un place{};
        place.sun_family = AF_UNIX;
        check(options.unixSocket.size() < sizeof place.sun_path,
              "a path of at most 107 bytes, not " + options.unixSocket);
        options.unixSocket.copy(place.sun_path, sizeof place.sun_path - 1);
        removeOldSocket(place);
        socket = listenOn(AF_UNIX, &place, sizeof place, options.unixSocket);
        unixPath = options.unixSocket;
        unixFile = inodeOf(unixPath);
        address = "unix:" + unixPath;
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
    isPublic =
        isV4 ? (ntohl(v4.sin_addr.s_addr) >> 24U) != 127 : !IN6_IS_ADDR_LOOPBACK(&place.sin6_addr);
    check(!isPublic || !options.token.empty(),
          "other machines can reach " + options.address + ": it needs a token");
    const std::string host = isV4 ? options.address : "[" + options.address + "]";
    socket = listenOn(found->ai_family, &place, found->ai_addrlen, host + ":" + wanted);
    socklen_t size = sizeof place;
    (void)::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&place), &size);
    port = ntohs(place.sin6_port);
    address = "http://" + host + ":" + std::to_string(port) + "/";
}

Listener::~Listener() {
    if (!unixPath.empty() && inodeOf(unixPath) == unixFile) {  // else that of another page
        (void)::unlink(unixPath.c_str());
    }
}

HttpServer::HttpServer(const LiveOptions& options, Handle handle)
    : interval_(std::min(options.interval, aDay)),
      patience_(std::min(options.patience, aDay)),
      maxConnections_(std::clamp<std::size_t>(options.maxConnections, 4, 65536)),
      handle_(std::move(handle)),
      listener_(options),
      wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    check(wake_.get() >= 0, "no eventfd");
    connections_.reserve(maxConnections_);
    polled_.reserve(maxConnections_ + 2);
}

void HttpServer::stop() noexcept {
    const std::uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof one);
}

void HttpServer::run(const std::function<void()>& tick) {
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
        counts_.open = connections_.size();
        const std::lock_guard lock(mutex_);
        shown_ = counts_;
    }
}

void HttpServer::accept(Clock::time_point now) {
    for (int i = 0; i != 32; ++i) {  // then the others have their turn
        Descriptor socket(
            ::accept4(listener_.socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (socket.get() < 0) {
            if (errno != EAGAIN && errno != ECONNABORTED) {  // no descriptor or no memory is left
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            }
            return;
        }
        if (connections_.size() == maxConnections_) {
            constexpr std::string_view busy = "HTTP/1.1 503 Service Unavailable\r\nConnection: "
                                              "close\r\nContent-Length: 0\r\n\r\n";
            (void)::send(socket.get(), busy.data(), busy.size(), MSG_NOSIGNAL);
            ++counts_.refused;
            continue;
        }
        const int kept = 1 << 17;  // of what a reader does not read, the kernel holds no more
        (void)::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &kept, sizeof kept);
        ++counts_.accepted;
        connections_.push_back({std::move(socket), now + patience_});
    }
}

void HttpServer::serve(Connection& connection, short events, Clock::time_point now) {
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
        const bool isAnswered = connection.state == State::answering && connection.out == nullptr;
        counts_.late += isAnswered ? 0 : 1;
        connection.state = State::over;
    }
}

void HttpServer::read(Connection& connection, Clock::time_point now) {
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

void HttpServer::answer(Connection& connection, std::string_view head, Clock::time_point now) {
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
    ++counts_.requests;
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

void HttpServer::send(Connection& connection, Text text, Clock::time_point now) {
    connection.out = std::move(text);
    connection.sent = 0;
    connection.deadline = now + patience_;
    write(connection, now);
}

void HttpServer::write(Connection& connection, Clock::time_point now) {
    while (connection.sent != connection.out->size()) {
        constexpr std::size_t piece = std::size_t{256} << 10U;
        const std::string_view rest = std::string_view(*connection.out).substr(connection.sent);
        const ssize_t count =
            ::send(connection.socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
        if (count < 0) {
            connection.state = errno == EAGAIN || errno == EINTR ? connection.state : State::over;
            return;
        }
        const std::size_t before = connection.sent / piece;
        connection.sent += static_cast<std::size_t>(count);
        if (connection.sent / piece != before) {
            connection.deadline = now + patience_;
        }
    }
    connection.out = nullptr;
    if (connection.state == State::answering) {  // a close with unread bytes would cut the answer
        (void)::shutdown(connection.socket.get(), SHUT_WR);
        connection.deadline = now + std::min(patience_, std::chrono::milliseconds(1000));
    }
}

void HttpServer::publish(const Text& text) {
    const Clock::time_point now = Clock::now();
    for (Connection& each : connections_) {
        if (each.state == State::streaming && each.out == nullptr) {
            send(each, text, now);
        } else if (each.state == State::streaming) {
            ++counts_.skipped;
        }
    }
}

LiveStatistics HttpServer::statistics() const {
    const std::lock_guard lock(mutex_);
    return shown_;
}

}  // namespace sluice::live
