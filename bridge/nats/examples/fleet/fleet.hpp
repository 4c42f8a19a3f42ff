#pragma once

#include <sluice/bridge/nats/nats_bridge.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <set>
#include <string>

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

/// A load is acknowledged when it has been handled, so a killed program gets it again.
inline const sluice::nats::NatsRoute route{"load", 1, sluice::nats::Profile::durable, true};

inline sluice::nats::NatsOptions optionsFor(const std::string& url, const std::string& name) {
    sluice::nats::NatsOptions options;
    options.url = url;
    options.durable.stream = "fleet";
    options.durable.name = name;
    options.durable.redeliverAfter = std::chrono::seconds(1);
    return options;
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
    [[nodiscard]] std::size_t repeated(std::size_t host) const { return books_[host].repeated; }

private:
    struct Book {
        std::set<std::uint64_t> numbers;
        std::size_t repeated = 0;
        bool hasLast = false;
    };

    void enter(const Load& load) {
        if (load.host < hosts) {
            Book& book = books_[load.host];
            book.repeated += book.numbers.insert(load.number).second ? 0U : 1U;
            book.hasLast = book.hasLast || load.isLast;
        }
    }

    std::array<Book, hosts> books_;
    std::ofstream file_;
};

}  // namespace fleet
