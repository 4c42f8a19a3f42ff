#include "http.hpp"
#include "support/crew.hpp"
#include "support/watchdog.hpp"

#include <sluice/inspect/flight_recorder.hpp>
#include <sluice/inspect/inspector.hpp>
#include <sluice/live/live_page.hpp>
#include <sluice/queue/spsc_ring.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

/// A connection of a client.
class Client {
public:
    explicit Client(const std::string& address, int receiveBuffer = 0)
        : socket_(::socket(address[0] == 'u' ? AF_UNIX : AF_INET, SOCK_STREAM, 0)) {
        if (receiveBuffer != 0) {
            ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, sizeof receiveBuffer);
        }
        sockaddr_in v4{};
        sockaddr_un local{};
        v4.sin_family = AF_INET;
        local.sun_family = AF_UNIX;
        if (address[0] == 'u') {
            address.copy(local.sun_path, sizeof local.sun_path - 1, 5);
            isConnected =
                ::connect(socket_, reinterpret_cast<sockaddr*>(&local), sizeof local) == 0;
        } else {
            const std::string port = address.substr(address.rfind(':') + 1);
            v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            v4.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
            isConnected = ::connect(socket_, reinterpret_cast<sockaddr*>(&v4), sizeof v4) == 0;
        }
    }
    Client(Client&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
    Client& operator=(Client&&) = delete;
    ~Client() {
        if (socket_ >= 0) {
            ::close(socket_);
        }
    }

    void send(std::string_view text) const {
        (void)!::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
    }
    void endSending() const { ::shutdown(socket_, SHUT_WR); }
    /// Reads until the text occurs, or the server closes. Empty: until it closes.
    std::string read(std::string_view until = {}) const {
        std::string text;
        std::array<char, 4096> bytes{};
        while (until.empty() || text.find(until) == std::string::npos) {
            const ssize_t count = ::recv(socket_, bytes.data(), bytes.size(), 0);
            if (count <= 0) {
                return text;
            }
            text.append(bytes.data(), static_cast<std::size_t>(count));
        }
        return text;
    }

    bool isConnected = false;

private:
    int socket_;
};

class LivePageTest : public testing::Test {
protected:
    LivePage& start(LiveOptions options = {}) {
        options.interval = std::max(50ms, std::min(options.interval, 100ms));
        return page_.emplace(inspector_, std::move(options));
    }
    [[nodiscard]] std::string hostOf() const {
        const std::string address = page_->address();
        return address[0] == 'u' ? "localhost" : address.substr(7, address.size() - 8);
    }
    [[nodiscard]] std::string get(const std::string& path, const std::string& fields = {}) const {
        const Client client(page_->address());
        client.send("GET " + path + " HTTP/1.1\r\nHost: " + hostOf() + "\r\n" + fields + "\r\n");
        return client.read();
    }
    [[nodiscard]] int status(const std::string& path, const std::string& fields = {}) const {
        return statusOf(get(path, fields));
    }
    static int statusOf(const std::string& answer) {
        return answer.size() < 12 ? 0 : std::stoi(answer.substr(9, 3));
    }

    const test::Watchdog patience_{[](std::FILE*) {}};
    SpscRing<int, 8> ring_;
    Inspector inspector_;
    Inspector::Watch watch_ = inspector_.watch("ring", ring_);
    std::optional<LivePage> page_;
};

TEST_F(LivePageTest, AnswersPageMetricsAndSnapshot) {
    (void)ring_.tryPush(1);
    start();
    const std::string page = get("/");
    EXPECT_EQ(statusOf(page), 200);
    EXPECT_NE(page.find("Content-Security-Policy: default-src 'none'; script-src 'sha256-"),
              std::string::npos);
    EXPECT_NE(page.find("</html>"), std::string::npos);
    const std::string metrics = get("/metrics");
    EXPECT_NE(metrics.find("text/plain; version=0.0.4"), std::string::npos);
    EXPECT_NE(metrics.find("sluice_queue_length{object=\"ring\"} 1\n"), std::string::npos);
    EXPECT_NE(
        get("/metrics", "Accept: application/openmetrics-text;version=1.0.0\r\n").find("# EOF"),
        std::string::npos);
    const std::string snapshot = get("/snapshot");
    EXPECT_NE(snapshot.find("{\"schema\":1,"), std::string::npos);
    EXPECT_NE(snapshot.find("[\"sluice_queue_length\",1,\"\",\"\",\"\"]"), std::string::npos);
    EXPECT_EQ(status("/else"), 404);
    EXPECT_NE(page_->address(), LivePage(inspector_, {}).address());
}

TEST_F(LivePageTest, SendsATraceOfTheLastSeconds) {
    start();
    EXPECT_NE(get("/trace?seconds=5").find("traces are off"), std::string::npos);
    const FlightRecorder recorder;
    LiveOptions options;
    options.recorder = &recorder;
    start(options);
    for (const char* const query : {"", "?", "?seconds=", "?seconds=0", "?seconds=601", "?second=5",
                                    "?seconds=-1", "?seconds=5s", "?seconds=99999999999"}) {
        EXPECT_EQ(status(std::string("/trace") + query), 400) << query;
    }
    const std::string trace = get("/trace?seconds=600");
    EXPECT_EQ(statusOf(trace), 200);
    EXPECT_EQ(trace.substr(trace.find("\r\n\r\n") + 4), recorder.perfetto());
    test::awaitThat([&] { return status("/trace?seconds=1") == 200; });  // in the next interval
}

TEST_F(LivePageTest, SendsEventsWhileTheObjectComesAndGoes) {
    LivePage& page = start();
    const Client client(page.address());
    client.send("GET /events HTTP/1.1\r\nHost: " + hostOf() + "\r\n\r\n");
    EXPECT_NE(client.read("\n\n").find("text/event-stream"), std::string::npos);
    (void)client.read("\"name\":\"ring\"");
    watch_.end();
    (void)client.read("\"objects\":[]");
    watch_ = inspector_.watch("again", ring_);
    EXPECT_NE(client.read("\"name\":\"again\"").find("again"), std::string::npos);
}

TEST_F(LivePageTest, AFunctionThatThrowsEndsNothing) {
    const auto watch =
        inspector_.watch("broken", [](ObjectReadings&) { throw std::runtime_error("broken"); });
    start();
    const Client stream(page_->address());
    stream.send("GET /events HTTP/1.1\r\nHost: " + hostOf() + "\r\n\r\n");
    EXPECT_NE(stream.read("readings/s throw").find("\"object\":\"broken\""), std::string::npos);
    EXPECT_NE(get("/metrics").find("sluice_object_read_failures_total{object=\"broken\"} "),
              std::string::npos);
}

TEST(HttpServerTest, AnAnswerThatThrowsClosesItsConnection) {
    const test::Watchdog patience{[](std::FILE*) {}};
    live::HttpServer server({}, [](const live::Request& request) {
        return request.path == "/" ? throw std::bad_alloc() : live::refusal(404, "no");
    });
    std::thread thread([&] { server.run([] {}); });
    for (const std::string path : {"/", "/other"}) {
        const Client client(server.listener().address);
        client.send("GET " + path + " HTTP/1.1\r\n\r\n");
        EXPECT_EQ(client.read().empty(), path == "/");
    }
    server.stop();
    thread.join();
}

TEST_F(LivePageTest, ForeignPagesAreRefused) {
    LivePage& page = start();
    const auto ask = [&](const std::string& fields) {
        const Client client(page.address());
        client.send("GET /snapshot HTTP/1.1\r\n" + fields + "\r\n");
        return statusOf(client.read());
    };
    const std::string host = "Host: " + hostOf() + "\r\n";
    const std::string port = hostOf().substr(hostOf().find(':'));
    EXPECT_EQ(ask(host), 200);
    EXPECT_EQ(ask("Host: localhost" + port + "\r\n"), 200);
    EXPECT_EQ(ask(""), 403) << "no host";
    EXPECT_EQ(ask("Host: evil.example" + port + "\r\n"), 403) << "DNS rebinding";
    EXPECT_EQ(ask(host + "Origin: http://" + hostOf() + "\r\n"), 200);
    EXPECT_EQ(ask(host + "Origin: http://evil.example\r\n"), 403);
    EXPECT_EQ(ask(host + "Origin: null\r\n"), 403);
    EXPECT_EQ(ask(host + "Sec-Fetch-Site: cross-site\r\n"), 403);
    EXPECT_EQ(ask(host + "Sec-Fetch-Site: same-origin\r\n"), 200);
}

TEST_F(LivePageTest, NeedsItsToken) {
    LiveOptions options;
    options.token = "0123456789abcdef";
    start(options);
    for (const char* const path :
         {"/", "/metrics", "/snapshot", "/events", "/?token=", "/?token=0123456789abcdeX",
          "/snapshot?token=0123456789abcdef"}) {
        EXPECT_EQ(status(path), 401) << path;
    }
    EXPECT_EQ(status("/metrics", "Authorization: Bearer 0123456789abcdef\r\n"), 200);
    EXPECT_EQ(status("/metrics", "Authorization: Bearer 0123456789abcdeg\r\n"), 401);
    const std::string signedIn = get("/?token=0123456789abcdef");
    EXPECT_EQ(statusOf(signedIn), 303);
    const std::string host = hostOf();  // cookies know no port, so their names have it
    const std::string cookie = "sluice_token_" + host.substr(host.rfind(':') + 1) + "=";
    EXPECT_NE(
        signedIn.find("Set-Cookie: " + cookie + "0123456789abcdef; HttpOnly; SameSite=Strict"),
        std::string::npos);
    EXPECT_EQ(status("/", "Cookie: my_" + cookie + "1; " + cookie + "0123456789abcdef\r\n"), 200);
    EXPECT_EQ(status("/", "Cookie: my_" + cookie + "0123456789abcdef\r\n"), 401);
    EXPECT_EQ(status("/", "Cookie: " + cookie + "0123456789abcdef0\r\n"), 401);
}

TEST_F(LivePageTest, AnAddressForOthersNeedsATokenAndSaysSo) {
    LiveOptions options;
    options.address = "0.0.0.0";
    EXPECT_THROW(start(options), std::runtime_error);
    for (const char* const bad : {"short", "0123456789abcde;", "0123456789abcde\r\nA: b"}) {
        options.token = bad;
        EXPECT_THROW(start(options), std::runtime_error) << bad;
    }
    options.token = "0123456789abcdef";
    testing::internal::CaptureStderr();
    start(options);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("0.0.0.0"), std::string::npos);
    for (const char* const wrong : {"nonsense", "localhost", ""}) {
        options.address = wrong;
        EXPECT_THROW(start(options), std::runtime_error) << wrong;
    }
    options.address = "::1";
    options.token.clear();
    start(options);
    EXPECT_EQ(page_->address().substr(0, 13), "http://[::1]:");
}

class LiveSocketTest : public LivePageTest {
protected:
    ~LiveSocketTest() override { (void)::unlink(path_.c_str()); }
    int boundSocket() const {
        sockaddr_un place{};
        place.sun_family = AF_UNIX;
        path_.copy(place.sun_path, sizeof place.sun_path - 1);
        const int result = ::socket(AF_UNIX, SOCK_STREAM, 0);
        EXPECT_EQ(::bind(result, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
        return result;
    }
    const std::string path_ = testing::TempDir() + "sluice_live_" + std::to_string(::getpid());
};

TEST_F(LiveSocketTest, ServesItsUserAlone) {
    LiveOptions options;
    options.unixSocket = path_;
    start(options);
    struct stat status {};
    ASSERT_EQ(::lstat(path_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    EXPECT_NE(get("/snapshot").find("\"schema\":1"), std::string::npos);
    EXPECT_THROW(LivePage(inspector_, options), std::runtime_error) << "it is in use";
    page_.reset();
    EXPECT_NE(::lstat(path_.c_str(), &status), 0) << "the end removes it";
    start(options);
    ASSERT_EQ(::unlink(path_.c_str()), 0);
    const LivePage other(inspector_, options);
    page_.reset();
    EXPECT_EQ(::lstat(path_.c_str(), &status), 0) << "but not that of another page";
}

TEST_F(LiveSocketTest, RemovesItsSocketAlone) {
    LiveOptions options;
    options.unixSocket = path_;
    start(options);
    ASSERT_EQ(::unlink(path_.c_str()), 0);
    ::close(boundSocket());  // as of another page that does not listen yet
    page_.reset();
    EXPECT_EQ(::unlink(path_.c_str()), 0) << "that of the other page stays";
}

TEST_F(LiveSocketTest, TakesThePlaceOfADeadProgramOnly) {
    LiveOptions options;
    options.unixSocket = path_;
    std::ofstream(path_) << "a file";
    EXPECT_THROW(start(options), std::runtime_error);
    ASSERT_EQ(::unlink(path_.c_str()), 0);
    ::close(boundSocket());
    start(options);
    EXPECT_NE(get("/snapshot").find("\"schema\":1"), std::string::npos);
}

// ---- Limits

TEST_F(LivePageTest, LargeRequestsAreRefused) {
    start();
    EXPECT_EQ(status("/", "X: " + std::string(8200, 'x') + "\r\n"), 431);
    EXPECT_EQ(status("/" + std::string(9000, 'x')), 431);
    EXPECT_EQ(status("/", "X: " + std::string(7000, 'x') + "\r\n"), 200);
    std::string many;
    for (int i = 0; i < 1000; ++i) {
        many += "Field: 123\r\n";
    }
    EXPECT_EQ(status("/", many), 431);
}

TEST_F(LivePageTest, AThousandConnections) {
    LiveOptions options;
    options.maxConnections = 16;
    options.patience = 60s;
    LivePage& page = start(options);
    std::vector<Client> idle;
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
    for (int i = 0; i < 1000; ++i) {
        idle.emplace_back(page.address());
    }
    test::awaitThat([&] { return page.statistics().refused >= 984; });
    EXPECT_EQ(page.statistics().open, 16U);
    idle.clear();
    test::awaitThat([&] { return page.statistics().open == 0; });
    EXPECT_EQ(status("/metrics"), 200);
}

// Some bytes in time do not lengthen it.
TEST_F(LivePageTest, TheLargestLimitsAreLimits) {
    LiveOptions options;
    options.interval = std::chrono::milliseconds::max();
    options.patience = std::chrono::milliseconds::max();
    options.maxConnections = ~std::size_t{0};
    page_.emplace(inspector_, options);
    EXPECT_EQ(status("/snapshot"), 200);
    const Client stream(page_->address());
    stream.send("GET /events HTTP/1.1\r\nHost: " + hostOf() + "\r\n\r\n");
    EXPECT_NE(stream.read("data: "), "");
    EXPECT_EQ(page_->statistics().skipped, 0U) << "nothing is read in a loop";
}

TEST_F(LivePageTest, SlowRequestsEnd) {
    LiveOptions options;
    options.patience = 200ms;
    LivePage& page = start(options);
    const Client client(page.address());
    while (page.statistics().late == 0) {
        client.send("x");
        std::this_thread::sleep_for(20ms);
    }
    EXPECT_EQ(client.read(), "");
}

TEST_F(LivePageTest, AHangingReaderDelaysNobody) {
    std::vector<Inspector::Watch> many;
    for (int i = 0; i < 300; ++i) {
        many.push_back(inspector_.watch("a ring with a long name, so that events are long", ring_));
    }
    LiveOptions options;
    options.patience = 1s;
    LivePage& page = start(options);
    const Client hanging(page.address(), 1024);
    hanging.send("GET /events HTTP/1.1\r\nHost: " + hostOf() + "\r\n\r\n");
    test::awaitThat([&] { return page.statistics().requests == 1; });
    while (page.statistics().late == 0) {  // until the server gives up
        EXPECT_EQ(status("/metrics"), 200);
    }
    EXPECT_GT(page.statistics().skipped, 0U);
}

// As nc and socat do when their input ends.
TEST_F(LivePageTest, AClientMayEndItsSideBeforeTheAnswer) {
    std::vector<Inspector::Watch> many;
    for (int i = 0; i < 1000; ++i) {
        many.push_back(inspector_.watch(std::string(500, 'x') + std::to_string(i), ring_));
    }
    LivePage& page = start();
    const Client client(page.address(), 4096);
    client.send("GET /metrics HTTP/1.1\r\nHost: " + hostOf() + "\r\n\r\n");
    client.endSending();
    test::awaitThat([&] { return page.statistics().requests == 1; });
    EXPECT_EQ(client.read().size(), get("/metrics").size());
}

TEST_F(LivePageTest, OpenPagesLeaveRoomForRequests) {
    LiveOptions options;
    options.maxConnections = 16;
    LivePage& page = start(options);
    std::vector<Client> pages;
    for (int i = 0; i < 4; ++i) {
        pages.emplace_back(page.address())
            .send("GET /events HTTP/1.1\r\nHost: " + hostOf() + "\r\n\r\n");
    }
    test::awaitThat([&] { return page.statistics().requests == 4; });
    EXPECT_EQ(status("/events"), 503);
    EXPECT_EQ(status("/snapshot"), 200);
    pages.clear();
    const Client next(page.address());
    test::awaitThat([&] { return page.statistics().open <= 1; });
    next.send("GET /events HTTP/1.1\r\nHost: " + hostOf() + "\r\n\r\n");
    EXPECT_NE(next.read("data: ").find("200"), std::string::npos);
}

TEST_F(LivePageTest, EndsWhileConnectionsAreOpen) {
    LivePage& page = start();
    const Client idle(page.address());
    const Client stream(page.address());
    stream.send("GET /events HTTP/1.1\r\nHost: " + hostOf() + "\r\n\r\n");
    (void)stream.read("data: ");
    page_.reset();
    (void)stream.read();
    EXPECT_EQ(idle.read(), "");
}

// The thread takes no signal of the program, and the creator's signals stay as they are.
TEST_F(LivePageTest, LeavesSignalsAlone) {
    sigset_t before{};
    sigset_t after{};
    ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
    start();
    ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
    EXPECT_EQ(sigismember(&before, SIGTERM), sigismember(&after, SIGTERM));
}

/// The scheduling policies of the threads with this name.
std::vector<int> policiesOf(const std::string& name) {
    std::vector<int> policies;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string text;
        std::getline(std::ifstream(task.path() / "comm"), text);
        if (text == name) {
            policies.push_back(::sched_getscheduler(std::stoi(task.path().filename())));
        }
    }
    return policies;
}

// In a program under SCHED_FIFO, the page's thread is an ordinary one.
TEST_F(LivePageTest, HasTheOrdinaryPolicy) {
    std::thread([this] {
        sched_param urgent{};
        urgent.sched_priority = 10;
        if (::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &urgent) != 0) {
            GTEST_SKIP() << "this user may not ask for SCHED_FIFO";
        }
        start();
        EXPECT_EQ(status("/snapshot"), 200);
        EXPECT_EQ(policiesOf("sluice-live"), std::vector<int>{SCHED_OTHER});
    }).join();
}

}  // namespace
}  // namespace sluice
