#pragma once

#include <csignal>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace sluice::test {

/// A process of bridge_peer. It is killed with this object.
class Peer {
public:
    explicit Peer(std::vector<std::string> arguments) : process_(fork()) {
        if (process_ == 0) {
            arguments.insert(arguments.begin(), "bridge_peer");
            std::vector<char*> texts;
            for (std::string& argument : arguments) {
                texts.push_back(argument.data());
            }
            texts.push_back(nullptr);
            execv(SLUICE_BRIDGE_PEER, texts.data());
            _exit(127);
        }
    }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;
    ~Peer() { kill(); }

    /// kill -9, and waits until the process has gone.
    void kill() noexcept {
        if (process_ > 0) {
            ::kill(process_, SIGKILL);
            (void)waitpid(process_, nullptr, 0);
            process_ = 0;
        }
    }

private:
    pid_t process_;
};

}  // namespace sluice::test
