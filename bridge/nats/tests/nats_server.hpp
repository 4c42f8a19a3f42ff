#pragma once

#include "support/temporary_folder.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::test {

/// A NATS server on loopback, with a port and a folder of its own. It keeps both over a restart.
/// The server ends with this object. It also ends when the test program ends, for any reason.
class NatsServer {
public:
    /// Settings of a server that keeps streams, and writes each message to the disk at once.
    static constexpr const char* withStreams =
        "jetstream { store_dir: \"FOLDER/streams\", sync_interval: always }";

    /// `settings` are further lines of the server's configuration. FOLDER in them stands for the
    /// server's folder.
    explicit NatsServer(std::string settings = {}) : settings_(std::move(settings)) { start(); }
    NatsServer(const NatsServer&) = delete;
    NatsServer& operator=(const NatsServer&) = delete;
    ~NatsServer() { kill(); }

    void start() {
        writeConfiguration();
        const std::string configuration = folder_ / "nats.conf";
        const std::string log = folder_ / "log";
        const pid_t parent = getpid();
        process_ = fork();
        if (process_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() == parent) {
                execl(SLUICE_NATS_SERVER, "nats-server", "-c", configuration.c_str(), "-l",
                      log.c_str(), static_cast<char*>(nullptr));
            }
            _exit(127);
        }
        awaitPort();
    }

    void startWith(std::string settings) {
        settings_ = std::move(settings);
        start();
    }

    /// Kills the server by SIGKILL, and waits until the process has ended.
    void kill() noexcept {
        if (process_ > 0) {
            ::kill(process_, SIGKILL);
            (void)waitpid(process_, nullptr, 0);
            process_ = 0;
        }
    }
    /// Stops the process by a signal, and waits until it has stopped.
    void stop() const {
        ::kill(process_, SIGSTOP);
        (void)waitpid(process_, nullptr, WUNTRACED);
    }
    void resume() const { ::kill(process_, SIGCONT); }

    [[nodiscard]] std::string url() const { return "nats://127.0.0.1:" + port_; }

private:
    void writeConfiguration() {
        const std::string place = "FOLDER";
        for (std::size_t at = 0; (at = settings_.find(place)) != std::string::npos;) {
            settings_.replace(at, place.size(), folder_ / ".");
        }
        std::ofstream file(folder_ / "nats.conf");
        file << "listen: 127.0.0.1:" << port_ << "\nports_file_dir: \"" << folder_ / ""
             << "\"\n"
             << settings_ << "\n";
    }

    /// Reads the address, which the server writes into a file when it listens.
    void awaitPort() {
        const std::string file = folder_ / ("nats-server_" + std::to_string(process_) + ".ports");
        const std::string before = "://127.0.0.1:";  // after `nats` or `tls`
        while (true) {
            const std::string text = contentOf(file);
            const std::size_t at = text.find(before);
            if (at != std::string::npos && text.find('}') != std::string::npos) {
                const std::size_t begin = at + before.size();
                port_ = text.substr(begin, text.find('"', begin) - begin);
                return;
            }
            if (waitpid(process_, nullptr, WNOHANG) == process_) {
                process_ = 0;
                throw std::runtime_error("the server ended: " + contentOf(folder_ / "log"));
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }

    TemporaryFolder folder_;
    std::string settings_;
    std::string port_ = "-1";  ///< at first -1: the server chooses a port
    pid_t process_ = 0;
};

}  // namespace sluice::test
