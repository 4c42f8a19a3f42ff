#include "http.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::live {
namespace {

int statusOf(std::string_view head) {
    return parseRequest(head).status;
}

TEST(HttpRequestTest, ReadsWhatItNeeds) {
    const Request request =
        parseRequest("GET /a/b?token=x?y HTTP/1.1\r\nHOST:  h:1 \r\nAccept: a\r\n"
                     "X-Other: 1\r\nX-Other: 2\r\nSec-Fetch-Site: none\r\nContent-Length: 0");
    EXPECT_EQ(request.status, 0);
    EXPECT_EQ(request.path, "/a/b");
    EXPECT_EQ(request.query, "token=x?y");
    EXPECT_EQ(request.field("host"), "h:1");
    EXPECT_EQ(request.field("accept"), "a");
    EXPECT_EQ(request.field("sec-fetch-site"), "none");
    EXPECT_EQ(statusOf("GET / HTTP/1.0"), 0);
}

TEST(HttpRequestTest, RefusesEverythingElse) {
    using namespace std::string_view_literals;
    for (const std::string_view bad :
         {""sv, "GET"sv, "GET /"sv, "GET  HTTP/1.1"sv, "GET / HTTP/2"sv, "GET x HTTP/1.1"sv,
          "GET http://h/ HTTP/1.1"sv, "GET /\0 HTTP/1.1"sv, "GET / HTTP/1.1\nHost: a"sv,
          "GET / HTTP/1.1\r\nHost : a"sv, "GET / HTTP/1.1\r\n Host: a"sv,
          "GET / HTTP/1.1\r\nHost"sv, "GET / HTTP/1.1\r\n: a"sv,
          "GET / HTTP/1.1\r\nHost: a\r\nhost: b"sv, "GET / HTTP/1.1\r\nHost: a\r\n b"sv,
          "GET / HTTP/1.1\r\nHost: a\rb"sv}) {
        EXPECT_EQ(statusOf(bad), 400) << bad;
    }
    for (const char* const method : {"HEAD", "POST", "OPTIONS", "get", "CONNECT"}) {
        EXPECT_EQ(statusOf(std::string(method) + " / HTTP/1.1"), 405) << method;
    }
    EXPECT_EQ(statusOf("GET / HTTP/1.1\r\nContent-Length: 1"), 413);
    EXPECT_EQ(statusOf("GET / HTTP/1.1\r\nTransfer-Encoding: chunked"), 413);
}

// Each cut of a request, and each byte in each place, is refused or read, but never crashes.
TEST(HttpRequestTest, AnyBytesAreRead) {
    const std::string whole = "GET /a?b HTTP/1.1\r\nHost: h\r\nCookie: c=d\r\nOrigin: o";
    for (std::size_t i = 0; i <= whole.size(); ++i) {
        (void)statusOf(whole.substr(0, i));
        (void)statusOf(whole.substr(i));
        for (int byte = 0; byte < 256 && i < whole.size(); ++byte) {
            std::string changed = whole;
            changed[i] = static_cast<char>(byte);
            (void)statusOf(changed);
        }
    }
}

// A stranger's name may lead to this address, but never a stranger's IP address.
TEST(HttpHostTest, NamesAndAddresses) {
    const std::vector<std::string> names{"Robot.lan"};
    for (const char* const good : {"localhost:80", "LOCALHOST:80", "127.0.0.1:80", "127.0.0.1",
                                   "[::1]:80", "10.0.0.1:80", "robot.lan:80", "robot.lan"}) {
        EXPECT_TRUE(isOwnHost(good, 80, names)) << good;
    }
    for (const char* const bad :
         {"", ":80", "evil.example:80", "localhost:81", "localhost.evil.example:80", "[::1",
          "[]:80", "127.0.0.1.evil.example:80", "robot.lan.:80", "127.0.0.1:080",
          "evil.example#localhost:80"}) {
        EXPECT_FALSE(isOwnHost(bad, 80, names)) << bad;
    }
    EXPECT_FALSE(isOwnHost("127.0.0.1", 8080, names));
    EXPECT_TRUE(isOwnHost("[fe80::1]:8080", 8080, names));
}

TEST(HttpTokenTest, OnlyTheSame) {
    EXPECT_TRUE(isSameToken("0123456789abcdef", "0123456789abcdef"));
    for (const char* const bad : {"", "0", "0123456789abcdeF", "0123456789abcdef0",
                                  "0123456789abcdef0123456789abcdef", "123456789abcdef0"}) {
        EXPECT_FALSE(isSameToken(bad, "0123456789abcdef")) << bad;
    }
}

}  // namespace
}  // namespace sluice::live
