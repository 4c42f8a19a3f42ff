// hostwatch: four threads sample this machine, their messages go through Sluice's bus to one
// consumer. Start reading at monitor.cpp for the flow, at transport.hpp for the bus.

#include "display.hpp"
#include "event_log.hpp"
#include "live_view.hpp"
#include "monitor.hpp"
#include "options.hpp"
#include "report.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace {

constexpr int accountsWrong = 1;
constexpr int badArgument = 2;

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait for a lock");

void endOnSignal(int number) {
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted.store(true, std::memory_order_relaxed); };
    sigaction(number, &action, nullptr);
}

int refuse(const std::string& why) {
    std::fprintf(stderr, "hostwatch: %s\n", why.c_str());
    return badArgument;
}

int run(const hostwatch::Options& options, hostwatch::EventLog& events) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        endOnSignal(number);
    }
    std::puts("Four threads sample this machine; samples and alarms go through one bus.");
    std::puts("The report has the fate of each message, and what each alarm waited for.");
    std::fflush(stdout);
    const auto monitor = std::make_unique<hostwatch::Monitor>(options, interrupted, events);
    std::optional<hostwatch::LiveView> view;
    if (options.watch) {
        auto opened = hostwatch::LiveView::open(*monitor, events);
        if (!opened) {
            return refuse(opened.error());
        }
        view.emplace(std::move(*opened));
        std::printf("watch it at %s\n", view->address().c_str());
        std::fflush(stdout);
    }
    {
        const auto display = hostwatch::makeDisplay(stdout, stderr);
        monitor->run(*display);
    }  // gives the cursor back before the report
    std::fputs(hostwatch::report(monitor->outcome()).c_str(), stdout);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        std::fputs("hostwatch: the output cannot be written\n", stderr);
        return accountsWrong;
    }
    return hostwatch::accountsAddUp(monitor->outcome()) ? 0 : accountsWrong;
}

}  // namespace

int main(int argc, char** argv) {
    const auto options = hostwatch::parseOptions(argc, argv);
    if (!options) {
        return refuse(options.error());
    }
    if (options->help) {
        std::fputs(hostwatch::usage(), stdout);
        return 0;
    }
    static std::array<char, std::size_t{1} << 16> frame;  // a whole frame leaves in one write
    std::setvbuf(stdout, frame.data(), _IOFBF, frame.size());
    if (options->logFile.empty()) {
        hostwatch::EventLog none;
        return run(*options, none);
    }
    auto events = hostwatch::EventLog::open(options->logFile);
    return events ? run(*options, *events) : refuse(events.error());
}
