// fleet URL FOLDER [SECONDS]: starts three hosts and shows them on one page. It kills one host and
// starts it again. At the end it checks that each program has seen each reading. The server needs
// JetStream. The URL may name several servers, separated by commas.
#include "fleet.hpp"
#include "seconds.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/prctl.h>
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
        // The host inherits a blocked SIGTERM, and unblocks it when it has its handler.
        sigset_t termination;
        (void)sigemptyset(&termination);
        (void)sigaddset(&termination, SIGTERM);
        (void)pthread_sigmask(SIG_BLOCK, &termination, nullptr);
        const pid_t parent = getpid();
        process_ = fork();
        if (process_ == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() == parent) {  // otherwise the fleet has ended already
                execl(program_.c_str(), "fleet_host", number_.c_str(), url_.c_str(),
                      folder_.c_str(), static_cast<char*>(nullptr));
            }
            _exit(127);
        }
        (void)pthread_sigmask(SIG_UNBLOCK, &termination, nullptr);
        if (process_ < 0) {
            throw std::runtime_error("cannot start host " + number_);
        }
    }
    void kill() {
        if (process_ > 0) {
            (void)::kill(process_, SIGKILL);
            (void)waitpid(process_, nullptr, 0);
            process_ = 0;
        }
    }
    void askToEnd() const {
        if (isRunning()) {
            (void)::kill(process_, SIGTERM);
        }
    }
    [[nodiscard]] bool isRunning() const { return process_ > 0; }
    /// Notices the end of the process. Throws if the process ended with an error.
    void check() { reap(WNOHANG); }
    /// The same, after it has waited for the end.
    void wait() { reap(0); }

private:
    void reap(int options) {
        int status = 0;
        if (process_ > 0 && waitpid(process_, &status, options) == process_) {
            process_ = 0;
            if (status != 0) {
                throw std::runtime_error("host " + number_ + " has ended with an error");
            }
        }
    }

    std::string program_, number_, url_, folder_;
    pid_t process_ = 0;
};

using Hosts = std::array<std::unique_ptr<Host>, hosts>;

/// Shows the hosts on a terminal. If the output is no terminal, it only prints the events.
class Page {
public:
    void note(const Load& load) {
        if (load.host < hosts) {
            newest_[load.host] = load;
        }
    }
    void report(const char* event) {
        event_ = event;
        paintAt_ = {};
        if (!isTerminal_) {
            std::printf("%s\n", event);
            std::fflush(stdout);
        }
    }
    /// Paints the page, at most five times a second.
    void show(const Ledger& ledger, const Hosts& processes) {
        const auto now = Clock::now();
        if (!isTerminal_ || now < paintAt_) {
            return;
        }
        paintAt_ = now + 200ms;
        std::printf("\033[H\033[J%-6s %8s %12s %10s  state\n", "fleet", "busy", "memory used",
                    "readings");
        for (std::size_t host = 0; host < hosts; ++host) {
            std::printf("host %zu %6.1f %% %8.0f MiB %10zu  %s\n", host, newest_[host].busyPercent,
                        newest_[host].usedMebibytes, ledger.seen(host),
                        processes[host]->isRunning() ? "up" : "down");
        }
        std::printf("\n%s\n\n", event_);
        std::fflush(stdout);
    }

private:
    const bool isTerminal_ = isatty(STDOUT_FILENO) != 0;
    std::array<Load, hosts> newest_;
    const char* event_ = "";
    Clock::time_point paintAt_;
};

/// The host that is killed and started again. It may see a reading twice, and may send one twice,
/// because it may be killed before it has written down a reading that it has handled or sent.
constexpr std::size_t killed = 1;

/// Prints how many readings each host has published, and how many of them each program has seen
/// exactly once. False if a program misses a reading. Also false if a reading was seen again
/// between two programs that were not killed.
bool printAccounts(const Ledger& page, const std::string& folder) {
    std::vector<Ledger> readers;
    std::vector<std::uint64_t> published;
    for (std::size_t host = 0; host < hosts; ++host) {
        const std::string name = folder + "/host-" + std::to_string(host);
        readers.emplace_back(name + ".seen");
        published.push_back(NextNumber(name + ".next").get());
    }
    bool isComplete = true;
    bool isOnce = true;
    std::printf("%-6s %10s  seen once by: %6s %8s %8s %8s %12s\n", "", "published", "page",
                "host 0", "host 1", "host 2", "seen again");
    for (std::size_t host = 0; host < hosts; ++host) {
        std::size_t again = 0;
        std::printf("host %zu %10llu", host, static_cast<unsigned long long>(published[host]));
        const auto print = [&](const Ledger& ledger, int width, bool wasKilled) {
            std::printf("%*zu", width, ledger.seen(host) - ledger.seenAgain(host));
            again += ledger.seenAgain(host);
            isComplete =
                isComplete && ledger.isComplete(host) && ledger.seen(host) == published[host];
            isOnce = isOnce && (wasKilled || host == killed || ledger.seenAgain(host) == 0);
        };
        print(page, 22, false);
        for (std::size_t reader = 0; reader < hosts; ++reader) {
            if (reader == host) {
                std::printf(" %8s", "-");
            } else {
                print(readers[reader], 9, reader == killed);
            }
        }
        std::printf(" %12zu\n", again);
    }
    std::printf("%s, %s\n",
                isComplete ? "each reading was seen by all others" : "READINGS ARE MISSING",
                isOnce ? "once by those that were not killed" : "SOME TWICE");
    return isComplete && isOnce;
}

/// An importer receives the messages that are sent after its first start. So each host has imported
/// before the others send.
void registerHosts(const std::string& url) {
    for (std::size_t host = 0; host < hosts; ++host) {
        const auto bus = std::make_unique<FleetBus>();
        (void)connect(*bus, optionsFor(url, "host-" + std::to_string(host)))->close(5s);
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
    const auto bridge = connect(*bus, optionsFor(url, "page"));
    registerHosts(url);
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string() + "_host";
    Hosts processes;
    for (std::size_t host = 0; host < hosts; ++host) {
        processes[host] = std::make_unique<Host>(program, host, url, folder);
    }

    const auto showUntil = [&](auto&& isOver) {
        while (!isOver()) {
            (void)bus->waitFor(20ms);
            (void)bus->process();
            for (const auto& process : processes) {
                process->check();
            }
            page.show(ledger, processes);
        }
    };
    const auto showFor = [&](std::chrono::milliseconds span) {
        const auto end = Clock::now() + span;
        showUntil([&] { return Clock::now() >= end; });
    };
    page.report("the hosts start");
    showUntil([&] { return ledger.seen(0) != 0 && ledger.seen(1) != 0 && ledger.seen(2) != 0; });
    page.report("the hosts send their readings");
    showFor(time / 3);
    processes[killed]->kill();
    page.report("host 1 was killed");
    showFor(time / 3);
    processes[killed]->start();
    page.report("host 1 was started again");
    showFor(time / 3);
    for (const auto& process : processes) {
        process->askToEnd();
    }
    page.report("the hosts send their last readings");
    showUntil([&] { return ledger.isComplete(0) && ledger.isComplete(1) && ledger.isComplete(2); });
    for (const auto& process : processes) {
        process->wait();
    }
    page.report("the hosts have ended");
    page.show(ledger, processes);
    return printAccounts(ledger, folder) && bridge->close(10s) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fputs("fleet URL FOLDER [SECONDS]\n", stderr);
        return 2;
    }
    try {
        return run(argv[1], argv[2], secondsIn(argc > 3 ? argv[3] : "15"));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "fleet: %s\n", error.what());
        return 1;
    }
}
