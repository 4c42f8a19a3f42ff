#pragma once

#include "nats_server.hpp"
#include "streams_of_server.hpp"

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice::test {

/// Returns a port that no program uses at the moment.
inline int freePort() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    const bool isBound = bind(listener, any, size) == 0 && getsockname(listener, any, &size) == 0;
    close(listener);
    if (!isBound) {
        throw std::runtime_error("there is no free port");
    }
    return ntohs(address.sin_port);
}

/// Three servers on loopback. Each of them stores each stream.
class NatsCluster {
public:
    NatsCluster() {
        std::array<std::string, 3> ports;
        std::string routes;
        for (std::string& port : ports) {
            port = std::to_string(freePort());
            routes += (routes.empty() ? "" : ", ") + ("\"nats://127.0.0.1:" + port + "\"");
        }
        for (std::size_t i = 0; i < servers_.size(); ++i) {
            servers_[i] = std::make_unique<NatsServer>(
                "server_name: server" + std::to_string(i) + "\n" + NatsServer::withStreams +
                "\ncluster { name: fleet, listen: \"127.0.0.1:" + ports[i] + "\", routes: [ " +
                routes + "] }");
        }
    }

    [[nodiscard]] std::string urls() const {
        return servers_[0]->url() + "," + servers_[1]->url() + "," + servers_[2]->url();
    }

    /// Returns the server that leads the stream. Waits until there is one.
    [[nodiscard]] NatsServer& leaderOf(const char* stream) const {
        while (true) {
            for (const auto& server : servers_) {
                const std::string leader = StreamsOfServer(*server).leaderOf(stream);
                if (!leader.empty()) {
                    return *servers_[static_cast<std::size_t>(leader.back() - '0')];
                }
            }
        }
    }

private:
    std::array<std::unique_ptr<NatsServer>, 3> servers_;
};

}  // namespace sluice::test
