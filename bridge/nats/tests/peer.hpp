#pragma once

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace sluice::test {

/// A process of bridge_peer. The destructor kills it.
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

    /// Kills the process by SIGKILL, and waits until it has ended.
    void kill() noexcept {
        if (process_ > 0) {
            ::kill(process_, SIGKILL);
            (void)waitpid(process_, nullptr, 0);
            process_ = 0;
        }
    }

    /// Sets the clock of the process back by an hour. Other processes are not affected.
    void setClockBack() const noexcept { ::kill(process_, SIGUSR1); }

private:
    pid_t process_;
};

/// The numbers that a peer has written to a file. It ignores a last line that is not complete.
inline std::vector<int> numbersIn(const std::string& path) {
    std::vector<int> numbers;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line) && !file.eof();) {
        numbers.push_back(std::stoi(line));
    }
    return numbers;
}

}  // namespace sluice::test
