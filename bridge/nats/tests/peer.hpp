#pragma once

#include <csignal>
#include <fstream>
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

    /// By an hour. Only the process sees that.
    void setClockBack() const noexcept { ::kill(process_, SIGUSR1); }

private:
    pid_t process_;
};

/// The numbers that a peer has written. A last line without its end was being written.
inline std::vector<int> numbersIn(const std::string& path) {
    std::vector<int> numbers;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line) && !file.eof();) {
        numbers.push_back(std::stoi(line));
    }
    return numbers;
}

}  // namespace sluice::test
