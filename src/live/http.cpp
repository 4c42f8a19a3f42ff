#include "http.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <system_error>
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

bool isSameWord(std::string_view a, std::string_view lower) noexcept {
    const auto lowered = [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    };
    return std::equal(a.begin(), a.end(), lower.begin(), lower.end(),
                      [&](char x, char y) { return lowered(x) == y; });
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

[[noreturn]] void fail(const std::string& what) {
    const int error = errno;
    const std::string reason = error == 0 ? "" : ": " + std::generic_category().message(error);
    throw std::runtime_error("live page: " + what + reason);
}
void check(bool isGood, const std::string& what) {
    if (!isGood) {
        fail(what);
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

Parsed parseRequest(std::string_view head) {
    constexpr Parsed bad{400};
    const auto isControl = [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
    };
    const auto nextLine = [&head]() -> std::string_view {
        const std::size_t end = std::min(head.find("\r\n"), head.size());
        const std::string_view line = head.substr(0, end);
        head.remove_prefix(std::min(end + 2, head.size()));
        return line;
    };
    const std::string_view first = nextLine();
    const std::size_t space = first.find(' ');
    const std::size_t last = first.rfind(' ');
    if (space == std::string_view::npos || space == last ||
        std::any_of(first.begin(), first.end(), isControl) ||
        (first.substr(last + 1) != "HTTP/1.1" && first.substr(last + 1) != "HTTP/1.0")) {
        return bad;
    }
    if (first.substr(0, space) != "GET") {
        return {405};
    }
    Parsed parsed;
    Request& request = parsed.request;
    const std::string_view target = first.substr(space + 1, last - space - 1);
    const std::size_t mark = std::min(target.find('?'), target.size());
    request.path = target.substr(0, mark);
    request.query = target.substr(std::min(mark + 1, target.size()));
    if (request.path.empty() || request.path.front() != '/') {
        return bad;
    }
    const std::array<std::pair<std::string_view, std::string_view*>, 6> known{
        {{"host", &request.host},
         {"origin", &request.origin},
         {"sec-fetch-site", &request.fetchSite},
         {"authorization", &request.authorization},
         {"cookie", &request.cookie},
         {"accept", &request.accept}}};
    while (!head.empty()) {
        const std::string_view line = nextLine();
        const std::size_t colon = line.find(':');
        const std::string_view name = line.substr(0, std::min(colon, line.size()));
        if (colon == std::string_view::npos || name.empty() ||
            name.find_first_of(" \t") != std::string_view::npos ||
            std::any_of(line.begin(), line.end(), isControl)) {
            return bad;
        }
        const std::string_view value = trimmed(line.substr(colon + 1));
        if (isSameWord(name, "transfer-encoding") ||
            (isSameWord(name, "content-length") && value != "0")) {
            return {413};
        }
        for (const auto& [field, place] : known) {
            if (isSameWord(name, field)) {
                if (!place->empty()) {
                    return bad;  // twice: which one counts is a matter of opinion
                }
                *place = value;
            }
        }
    }
    return parsed;
}

bool isOwnHost(std::string_view host, std::uint16_t port, const std::vector<std::string>& names) {
    std::string_view name = host;
    std::string_view number;
    const std::size_t colon = host.rfind(':');
    if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
        name = host.substr(0, colon);
        number = host.substr(colon + 1);
    }
    const bool isPort = number == std::to_string(port) || (number.empty() && port == 80);
    if (name.size() > 2 && name.front() == '[' && name.back() == ']') {
        name = name.substr(1, name.size() - 2);
    }
    return isPort && (isSameWord(name, "localhost") || isIpAddress(std::string(name)) ||
                      std::find(names.begin(), names.end(), name) != names.end());
}

bool isSameToken(std::string_view given, std::string_view token) noexcept {
    unsigned difference = given.size() == token.size() ? 0 : 1;
    for (std::size_t i = 0; i != given.size(); ++i) {
        difference |= static_cast<unsigned char>(given[i]) ^
                      static_cast<unsigned char>(token[i % token.size()]);
    }
    return difference == 0;
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}
Descriptor::~Descriptor() {
    if (fd_ >= 0) {
        (void)::close(fd_);
    }
}

Listener::Listener(const LiveOptions& options) {
    errno = 0;
    check(options.token.empty() || options.token.size() >= 16, "a token has at least 16 bytes");
    const auto isTokenByte = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               c == '-' || c == '_';
    };
    check(std::all_of(options.token.begin(), options.token.end(), isTokenByte),
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
        polled_.assign({{wake_.get(), POLLIN, 0},
                        {now < acceptAgain_ ? -1 : listener_.socket.get(), POLLIN, 0}});
        for (const Connection& each : connections_) {
            const bool writes = each.body != nullptr && each.state != State::draining;
            polled_.push_back(
                {each.socket.get(), static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), 0});
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
        connections_.erase(std::remove_if(connections_.begin(), connections_.end(),
                                          [this](const Connection& each) {
                                              const bool isOver = each.state == State::over;
                                              streams_ -= isOver && each.isStream ? 1 : 0;
                                              return isOver;
                                          }),
                           connections_.end());
        if (polled_[1].revents != 0) {
            accept(now);
        }
        counts_.open.store(connections_.size(), std::memory_order_relaxed);
    }
}

void HttpServer::accept(Clock::time_point now) {
    for (int i = 0; i != 32; ++i) {  // then the others have their turn
        Descriptor socket(
            ::accept4(listener_.socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (socket.get() < 0) {
            const bool isShort =
                errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
            acceptAgain_ = isShort ? now + std::chrono::milliseconds(200) : now;
            return;
        }
        if (connections_.size() == maxConnections_) {
            constexpr std::string_view busy = "HTTP/1.1 503 Service Unavailable\r\nConnection: "
                                              "close\r\nContent-Length: 0\r\n\r\n";
            (void)::send(socket.get(), busy.data(), busy.size(), MSG_NOSIGNAL);
            counts_.refused.fetch_add(1, std::memory_order_relaxed);
            continue;
        }
        const int kept = 1 << 17;  // of what a reader does not read, the kernel holds no more
        (void)::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &kept, sizeof kept);
        counts_.accepted.fetch_add(1, std::memory_order_relaxed);
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
    if ((events & POLLOUT) != 0 && connection.body != nullptr) {
        write(connection, now);
    }
    const bool isWaiting = connection.state == State::streaming && connection.body == nullptr;
    if (connection.state != State::over && !isWaiting && now >= connection.deadline) {
        counts_.late.fetch_add(connection.state == State::draining ? 0 : 1,
                               std::memory_order_relaxed);
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
        return;
    }
    if (connection.state != State::reading) {
        return;  // what follows a request is not read
    }
    connection.in.append(bytes.data(), static_cast<std::size_t>(count));
    if (connection.in.find("\r\n\r\n") != std::string::npos || connection.in.size() >= maxRequest) {
        answer(connection, now);
    }
}

void HttpServer::answer(Connection& connection, Clock::time_point now) {
    const std::size_t end = connection.in.find("\r\n\r\n");
    Parsed parsed{431};
    if (end < maxRequest) {
        parsed = parseRequest(std::string_view(connection.in).substr(0, end));
    }
    Response response = parsed.status == 0
                            ? handle_(parsed.request)
                            : refusal(parsed.status, "only small GET requests are answered");
    if (response.isStream && streams_ >= maxConnections_ / 4) {
        response = refusal(503, "too many open pages");
    }
    counts_.requests.fetch_add(1, std::memory_order_relaxed);
    connection.head = "HTTP/1.1 " + std::to_string(response.status) +
                      (response.status < 400 ? " OK" : " Refused") + "\r\nContent-Type: ";
    connection.head.append(response.type)
        .append("\r\nConnection: close\r\nCache-Control: no-store\r\nAllow: GET\r\n"
                "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
                "Cross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: DENY\r\n"
                "Cross-Origin-Opener-Policy: same-origin\r\n")
        .append(response.fields);
    if (!response.isStream) {
        connection.head += "Content-Length: " + std::to_string(response.body->size()) + "\r\n";
    }
    connection.head += "\r\n";
    connection.body = std::move(response.body);
    connection.isStream = response.isStream;
    streams_ += response.isStream ? 1 : 0;
    connection.state = response.isStream ? State::streaming : State::answering;
    connection.in = std::string();
    connection.deadline = now + patience_;
    write(connection, now);
}

void HttpServer::write(Connection& connection, Clock::time_point now) {
    const std::size_t headSize = connection.head.size();
    while (connection.sent != headSize + connection.body->size()) {
        const bool isHead = connection.sent < headSize;
        const std::string_view rest =
            isHead ? std::string_view(connection.head).substr(connection.sent)
                   : std::string_view(*connection.body).substr(connection.sent - headSize);
        const ssize_t count =
            ::send(connection.socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
        if (count < 0) {
            if (errno != EAGAIN && errno != EINTR) {
                connection.state = State::over;
            }
            return;
        }
        constexpr std::size_t piece = 256 * 1024;
        const std::size_t before = connection.sent / piece;
        connection.sent += static_cast<std::size_t>(count);
        if (connection.sent / piece != before) {
            connection.deadline = now + patience_;
        }
    }
    connection.body = nullptr;
    connection.head = std::string();
    connection.sent = 0;
    if (connection.state == State::answering) {  // a close with unread bytes would cut the answer
        (void)::shutdown(connection.socket.get(), SHUT_WR);
        connection.state = State::draining;
        connection.deadline = now + std::min(patience_, std::chrono::milliseconds(1000));
    }
}

void HttpServer::publish(const Text& text) {
    const Clock::time_point now = Clock::now();
    for (Connection& each : connections_) {
        if (each.state != State::streaming) {
            continue;
        }
        if (each.body != nullptr) {
            counts_.skipped.fetch_add(1, std::memory_order_relaxed);
            continue;
        }
        each.body = text;
        each.deadline = now + patience_;
        write(each, now);
    }
}

LiveStatistics HttpServer::statistics() const noexcept {
    const auto get = [](const auto& count) { return count.load(std::memory_order_relaxed); };
    return {get(counts_.accepted), get(counts_.refused), get(counts_.requests),
            get(counts_.skipped),  get(counts_.late),    get(counts_.open)};
}

}  // namespace sluice::live
