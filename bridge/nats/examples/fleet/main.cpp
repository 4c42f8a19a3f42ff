// fleet URL FOLDER [SECONDS]: starts three hosts and shows them on one page. It kills one host and
// starts it again. At the end it checks that each program has seen each reading. The server needs
// JetStream.
#include "fleet.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace fleet;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// The process of a host. The destructor kills it.
class Host {
public:
    Host(std::string program, std::size_t number, std::string url, std::string folder)
        : program_(std::move(program)),
          number_(std::to_string(number)),
          url_(std::move(url)),
          folder_(std::move(folder)) {
        start();
    }
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;
    ~Host() { kill(); }

    void start() {
        process_ = fork();
        if (process_ == 0) {
            execl(program_.c_str(), "fleet_host", number_.c_str(), url_.c_str(), folder_.c_str(),
                  static_cast<char*>(nullptr));
            _exit(127);
        }
    }
    void kill() {
        if (process_ > 0) {
            (void)::kill(process_, SIGKILL);
            (void)waitpid(process_, nullptr, 0);
            process_ = 0;
        }
    }
    void askToEnd() const { (void)::kill(process_, SIGTERM); }
    /// Waits for the end of the process. True if it ended without an error.
    bool wait() {
        int status = 1;
        const bool isReaped = waitpid(process_, &status, 0) == process_;
        process_ = 0;
        return isReaped && status == 0;
    }

private:
    std::string program_, number_, url_, folder_;
    pid_t process_ = 0;
};

class Page {
public:
    void note(const Load& load) {
        if (load.host < hosts) {
            newest_[load.host] = load;
        }
    }
    void show(const Ledger& ledger) const {
        if (isatty(STDOUT_FILENO) == 0) {
            return;
        }
        std::printf("\033[H\033[J%-6s %8s %12s %10s\n", "host", "busy", "memory used", "readings");
        for (std::size_t host = 0; host < hosts; ++host) {
            std::printf("%-6zu %6.1f %% %8.0f MiB %10zu\n", host, newest_[host].busyPercent,
                        newest_[host].usedMebibytes, ledger.seen(host));
        }
        std::fflush(stdout);
    }

private:
    std::array<Load, hosts> newest_;
};

/// The host that is killed and started again. It may see a reading twice, and may send one twice,
/// because it may be killed before it has written down a reading that it has handled or sent.
constexpr std::size_t killed = 1;

/// Prints how many readings of each host each program has seen, and how many of them twice. False
/// if a program misses a reading. Also false if a reading was seen twice between two programs that
/// were not killed.
bool printAccounts(const Ledger& page, const std::string& folder) {
    std::vector<Ledger> readers;
    for (std::size_t reader = 0; reader < hosts; ++reader) {
        readers.emplace_back(folder + "/host-" + std::to_string(reader) + ".seen");
    }
    bool isComplete = true;
    bool isOnce = true;
    std::printf("%-10s %16s", "seen by", "page");
    for (std::size_t reader = 0; reader < hosts; ++reader) {
        std::printf(" %14s%zu", "host ", reader);
    }
    std::printf("\n");
    for (std::size_t host = 0; host < hosts; ++host) {
        std::printf("host %-5zu", host);
        const auto print = [&](const Ledger& ledger, bool wasKilled) {
            std::printf(" %8zu, %zu again", ledger.seen(host), ledger.repeated(host));
            isComplete =
                isComplete && ledger.isComplete(host) && ledger.seen(host) == page.seen(host);
            isOnce = isOnce && (wasKilled || host == killed || ledger.repeated(host) == 0);
        };
        print(page, false);
        for (std::size_t reader = 0; reader < hosts; ++reader) {
            if (reader == host) {
                std::printf(" %16s", "-");
            } else {
                print(readers[reader], reader == killed);
            }
        }
        std::printf("\n");
    }
    std::printf("%s, %s\n",
                isComplete ? "each reading was seen by all others" : "READINGS ARE MISSING",
                isOnce ? "once by those that were not killed" : "SOME TWICE");
    return isComplete && isOnce;
}

/// An importer gets the messages that are sent after its first start. So each host has imported
/// before the others send.
void registerHosts(const std::string& url) {
    for (std::size_t host = 0; host < hosts; ++host) {
        const auto bus = std::make_unique<FleetBus>();
        FleetBridge bridge(*bus, optionsFor(url, "host-" + std::to_string(host)));
        bridge.importType<Load>(route);
        (void)bridge.close(5s);
    }
}

int run(const std::string& url, const std::string& folder, std::chrono::milliseconds time) {
    const auto bus = std::make_unique<FleetBus>();
    Ledger ledger(folder + "/page.seen");
    Page page;
    const sluice::Subscription handler = bus->subscribe<Load>([&](const Load& load) {
        ledger.note(load);
        page.note(load);
    });
    FleetBridge bridge(*bus, optionsFor(url, "page"));
    bridge.importType<Load>(route);
    const auto showUntil = [&](auto&& isOver) {
        while (!isOver()) {
            (void)bus->waitFor(20ms);
            (void)bus->process();
            page.show(ledger);
        }
    };

    registerHosts(url);
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string() + "_host";
    std::array<std::unique_ptr<Host>, hosts> processes;
    for (std::size_t host = 0; host < hosts; ++host) {
        processes[host] = std::make_unique<Host>(program, host, url, folder);
    }
    const auto showFor = [&](std::chrono::milliseconds span) {
        const auto end = Clock::now() + span;
        showUntil([&] { return Clock::now() >= end; });
    };
    showFor(time / 3);
    processes[killed]->kill();
    showFor(time / 3);
    processes[killed]->start();
    showFor(time / 3);
    for (const auto& process : processes) {
        process->askToEnd();
    }
    showUntil([&] { return ledger.isComplete(0) && ledger.isComplete(1) && ledger.isComplete(2); });
    bool isGood = true;
    for (const auto& process : processes) {
        isGood = process->wait() && isGood;
    }
    return printAccounts(ledger, folder) && bridge.close(10s) && isGood ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fputs("fleet URL FOLDER [SECONDS]\n", stderr);
        return 2;
    }
    try {
        return run(argv[1], argv[2], std::chrono::seconds(argc > 3 ? std::stoi(argv[3]) : 15));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "fleet: %s\n", error.what());
        return 1;
    }
}
