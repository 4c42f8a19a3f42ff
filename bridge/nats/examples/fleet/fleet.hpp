#pragma once

#include <sluice/bridge/nats/nats_bridge.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

/// The parts that the hosts of the fleet and its page share.
namespace fleet {

constexpr std::size_t hosts = 3;

/// One reading of a host. `number` counts from 0, and continues after a restart of the host.
struct Load {
    std::uint32_t host = 0;
    std::uint64_t number = 0;
    double busyPercent = 0;
    double usedMebibytes = 0;
    bool isLast = false;
};

struct FleetTraits : sluice::FullBusTraits {
    static constexpr bool origins = true;
    static constexpr std::size_t depth = 1024;
};
using FleetBus = sluice::Bus<sluice::Messages<Load>, FleetTraits>;
using FleetBridge = sluice::nats::NatsBridge<FleetBus>;

/// A load is acknowledged when it has been handled, so a killed program receives it again.
inline const sluice::nats::NatsRoute route{"load", 1, sluice::nats::Profile::durable, true};

/// `url` is one server or several, separated by commas. Each of them stores each message.
inline sluice::nats::NatsOptions optionsFor(const std::string& url, const std::string& name) {
    sluice::nats::NatsOptions options;
    options.url = url;
    options.durable.stream = "fleet";
    options.durable.name = name;
    options.durable.redeliverAfter = std::chrono::seconds(1);
    options.durable.replicas = 1 + static_cast<int>(std::count(url.begin(), url.end(), ','));
    return options;
}

/// Returns a bridge that imports the loads. It tries again for 30 seconds, because several servers
/// refuse imports until they have chosen a leader.
inline std::unique_ptr<FleetBridge> connect(FleetBus& bus,
                                            const sluice::nats::NatsOptions& options) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (true) {
        try {
            auto bridge = std::make_unique<FleetBridge>(bus, options);
            bridge->importType<Load>(route);
            return bridge;
        } catch (const std::runtime_error&) {
            if (std::chrono::steady_clock::now() > end) {
                throw;
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

/// Remembers which loads a program has seen. It stores them in a file, so that a program continues
/// correctly after it was killed.
class Ledger {
public:
    explicit Ledger(const std::string& path) {
        std::ifstream former(path);
        Load load;
        while (former >> load.host >> load.number >> load.isLast) {
            enter(load);
        }
        file_.open(path, std::ios::app);
    }

    void note(const Load& load) {
        enter(load);
        file_ << load.host << ' ' << load.number << ' ' << load.isLast << std::endl;
    }

    /// Whether the host's last load and all before it have been seen.
    [[nodiscard]] bool isComplete(std::size_t host) const {
        const Book& book = books_[host];
        return book.hasLast && book.numbers.size() == *book.numbers.rbegin() + 1;
    }
    [[nodiscard]] std::size_t seen(std::size_t host) const { return books_[host].numbers.size(); }
    /// The number of loads that were seen more than once.
    [[nodiscard]] std::size_t seenAgain(std::size_t host) const {
        return books_[host].repeated.size();
    }

private:
    struct Book {
        std::set<std::uint64_t> numbers;
        std::set<std::uint64_t> repeated;
        bool hasLast = false;
    };

    void enter(const Load& load) {
        if (load.host < hosts) {
            Book& book = books_[load.host];
            if (!book.numbers.insert(load.number).second) {
                book.repeated.insert(load.number);
            }
            book.hasLast = book.hasLast || load.isLast;
        }
    }

    std::array<Book, hosts> books_;
    std::ofstream file_;
};

/// The number of a host's next load. It is kept in a file for the next start, so it is also the
/// number of loads that the host has published.
class NextNumber {
public:
    explicit NextNumber(const std::string& path) {
        std::ifstream former(path);
        for (std::uint64_t number = 0; former >> number;) {
            next_ = number;
        }
        file_.open(path, std::ios::app);
    }
    [[nodiscard]] std::uint64_t get() const { return next_; }
    void advance() { file_ << ++next_ << std::endl; }

private:
    std::uint64_t next_ = 0;
    std::ofstream file_;
};

}  // namespace fleet
