// fleet_with_servers [--servers 1|3] [--seconds N]: starts NATS servers on loopback, runs the fleet
// with them, and ends them. It kills the leader of three servers while the hosts send, and starts
// it again.
#include "../examples/fleet/seconds.hpp"

#include "nats_cluster.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace sluice::test;

volatile std::sig_atomic_t isTerminated = 0;

/// The process of the fleet. It ends when this program ends.
class Fleet {
public:
    Fleet(const std::string& url, const std::string& folder, const std::string& seconds)
        : process_(fork()) {
        if (process_ < 0) {
            throw std::runtime_error("cannot start the fleet");
        }
        if (process_ == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
            (void)std::signal(SIGINT, SIG_DFL);
            execl(SLUICE_FLEET, "fleet", url.c_str(), folder.c_str(), seconds.c_str(),
                  static_cast<char*>(nullptr));
            _exit(127);
        }
    }

    /// Polls until the condition holds. False if the fleet ended first.
    template <class Condition>
    bool waitUntil(Condition&& condition) {
        while (!condition()) {
            if (isTerminated != 0) {
                (void)kill(process_, SIGTERM);
            }
            if (waitpid(process_, &status_, WNOHANG) == process_) {
                process_ = 0;
                return false;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return true;
    }
    /// Waits for the end of the process. True if it ended without an error.
    bool wait() {
        (void)waitUntil([this] { return process_ == 0; });
        return status_ == 0;
    }

private:
    pid_t process_;
    int status_ = 0;
};

/// Kills the leader when the first host has sent ten readings. Starts it again when the other two
/// servers have delivered a reading that was sent after its death. False if the fleet ended before.
bool killTheLeader(const NatsCluster& cluster, Fleet& fleet, const TemporaryFolder& folder) {
    const auto sent = [&] {
        std::ifstream file(folder / "host-0.next");
        int number = 0;
        for (int next = 0; file >> next;) {
            number = next;
        }
        return number;
    };
    if (!fleet.waitUntil([&] { return sent() >= 10; })) {
        return false;
    }
    NatsServer& leader = cluster.leaderOf("fleet_high");
    leader.kill();
    // The host may have sent the reading `sent()` before the death.
    const std::string later = "\n0 " + std::to_string(sent() + 1) + " ";
    const bool isDelivered = fleet.waitUntil(
        [&] { return contentOf(folder / "page.seen").find(later) != std::string::npos; });
    leader.start();
    return isDelivered;
}

int run(const std::string& servers, const std::string& seconds) {
    const TemporaryFolder folder;
    if (servers == "1") {
        const NatsServer server(NatsServer::withStreams);
        return Fleet(server.url(), folder / ".", seconds).wait() ? 0 : 1;
    }
    const NatsCluster cluster;
    Fleet fleet(cluster.urls(), folder / ".", seconds);
    const bool isKilled = killTheLeader(cluster, fleet, folder);
    const bool isGood = fleet.wait();
    if (isTerminated == 0) {
        std::puts(isKilled ? "the leader of three servers was killed, and started again"
                           : "THE FLEET ENDED BEFORE THE LEADER WAS KILLED");
    }
    return isGood && isKilled ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, std::string> settings{{"--servers", "1"}, {"--seconds", "15"}};
    bool isUnderstood = argc % 2 == 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        isUnderstood = isUnderstood && settings.count(argv[i]) != 0;
        settings[argv[i]] = argv[i + 1];
    }
    const std::string& servers = settings["--servers"];
    if (!isUnderstood || (servers != "1" && servers != "3")) {
        std::fputs("fleet_with_servers [--servers 1|3] [--seconds N]\n", stderr);
        return 2;
    }
    // Ctrl-C ends the fleet, and so does this program when it is terminated. Then it removes its
    // folders.
    (void)std::signal(SIGINT, SIG_IGN);
    (void)std::signal(SIGTERM, [](int) { isTerminated = 1; });
    try {
        (void)fleet::secondsIn(settings["--seconds"]);  // before the servers start
        return run(servers, settings["--seconds"]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "fleet_with_servers: %s\n", error.what());
        return 1;
    }
}
