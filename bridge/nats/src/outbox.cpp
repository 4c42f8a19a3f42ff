#include "outbox_folder.hpp"
#include "outbox_sender.hpp"
#include "streams.hpp"

#include <sluice/bridge/nats/detail/subject.hpp>
#include <sluice/wait/park.hpp>
#include <sluice/wire/envelope.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace sluice::nats::detail {

std::uint64_t originOf(const std::string& outboxFolder) {
    if (outboxFolder.empty()) {
        return drawNumber();
    }
    const std::string file = outboxFolder + "/origin";
    std::uint64_t origin = 0;
    std::ifstream(file) >> origin;
    if (origin == 0) {
        origin = drawNumber();
        std::error_code failed;  // then the file is not written
        std::filesystem::create_directories(outboxFolder, failed);
        const std::string text = std::to_string(origin) + "\n";
        const std::string newFile = file + ".new";
        const int opened = open(newFile.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        const bool isWritten =
            write(opened, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
            fsync(opened) == 0;
        (void)close(opened);
        if (isWritten) {
            (void)std::rename(newFile.c_str(), file.c_str());
        }
    }
    return origin;
}
namespace {

BufferPoolOptions poolOptions(const NatsOptions& options) {
    BufferPoolOptions pool;
    pool.bufferSize = options.maxMessageSize;
    pool.buffers = options.durable.outboxMessages;
    pool.name = "outbox of a bridge";
    return pool;
}

}  // namespace

Outbox::Outbox(Link& rest, Link& high, const NatsOptions& options)
    : rest_(rest.impl()),
      high_(high.impl()),
      options_(options.durable),
      counts_(options.durable.outboxMessages),
      rooms_{sluice::roomOf(options.durable.outboxMessages, Priority::low),
             sluice::roomOf(options.durable.outboxMessages, Priority::medium),
             options.durable.outboxMessages},
      pool_(poolOptions(options)) {
    for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
        addSender(priority == Priority::high ? high : rest, options, priority);
    }
    for (const auto& sender : senders_) {
        sender->start();
    }
}

void Outbox::addSender(Link& link, const NatsOptions& options, Priority priority) {
    const bool isOpen = link.impl().askServer([&] { openStream(link.impl(), options_, priority); });
    const auto i = static_cast<std::size_t>(priority);
    const std::string path = options_.outboxFolder + "/" + toString(priority);
    std::vector<OutboxSender::Record> found;
    // A former process with another onDiskFrom may have left messages of this priority.
    if (!options_.outboxFolder.empty() &&
        (priority >= options_.onDiskFrom || std::filesystem::exists(path))) {
        folders_[i] = std::make_unique<OutboxFolder>(path);
        OutboxFolder& folder = *folders_[i];
        folder.replay([&](const char* subject, const unsigned char* bytes, std::size_t size) {
            wire::Envelope envelope;
            if (wire::decodeEnvelope(bytes, size, envelope) != wire::EnvelopeError::none) {
                throw std::runtime_error("nats: the outbox cannot read a message of " + path +
                                         ": it is of another version. Move the folder away");
            }
            found.push_back({Reservation(counts_, bytes, size),
                             size,
                             {priority, subject, envelope.origin, envelope.incarnation,
                              envelope.type, envelope.sequence},
                             {}});
        });
        if (!folder.foreignFile().empty()) {
            rest_.reporter.report(
                {"nats: the outbox ignores a file that is no segment: ", folder.foreignFile()});
        }
        for (const std::string& file : folder.damagedFiles()) {
            rest_.reporter.report({"nats: the outbox has lost messages in a damaged file: ", file});
        }
        counts_.damaged += folder.damagedFiles().size();
        if (!folder.hasSegment()) {
            reportDisk();
        }
    }
    senders_[i] = std::make_unique<OutboxSender>(link, options, folders_[i].get(), counts_,
                                                 options_.outboxMessages + found.size());
    if (!isOpen) {
        senders_[i]->openLater(priority);
    }
    counts_.replayed += found.size();
    counts_.accepted += found.size();
    for (OutboxSender::Record& record : found) {
        senders_[i]->push(std::move(record));
    }
}

void Outbox::reportDisk() noexcept {
    rest_.reporter.report({"nats: the disk of the outbox accepts no more messages"});
}

Outbox::~Outbox() = default;

OutletResult Outbox::reserve(Priority priority, Reservation& reservation) noexcept {
    if (isClosedFor(priority)) {
        return OutletResult::closed;
    }
    // Relaxed: only a count. The pool orders the memory.
    std::uint64_t held = counts_.held.load(std::memory_order_relaxed);
    do {
        if (held >= roomOf(priority)) {
            return OutletResult::congested;
        }
    } while (!counts_.held.compare_exchange_weak(held, held + 1));
    reservation = Reservation();
    reservation.counts_ = &counts_;
    reservation.buffer_ = pool_.tryAcquire();  // the pool has a buffer for each reservation
    if (isClosedFor(priority)) {  // close() may have begun without seeing this reservation
        reservation = Reservation();
        return OutletResult::closed;
    }
    return OutletResult::ok;
}

OutletResult Outbox::reserveUntil(Park::Clock::time_point deadline, Priority priority,
                                  Reservation& reservation) noexcept {
    // Sleeps until there is room for several messages. Otherwise it would sleep again for each.
    // `enough` is a multiple of `step`, because the end of a reservation notifies at multiples of
    // `step`.
    const std::size_t enough = (roomOf(priority) - 1) / counts_.step * counts_.step;
    const auto ready = [&] { return isClosedFor(priority) || counts_.held.load() <= enough; };
    OutletResult result = reserve(priority, reservation);
    while (result == OutletResult::congested && counts_.freed.waitUntil(ready, deadline)) {
        result = reserve(priority, reservation);
    }
    return result == OutletResult::congested ? reserve(priority, reservation) : result;
}

bool Outbox::isClosedFor(Priority priority) const noexcept {
    const Link::Impl& link = priority == Priority::high ? high_ : rest_;
    return isClosed_.load() || link.state.load() == LinkState::closed;
}

bool Outbox::lacksImporter(const std::string& subject) {
    if (!isAsking_ || high_.state.load() != LinkState::connected) {
        return false;
    }
    const std::optional<bool> answer = hasImporter(high_, options_, subject);
    isAsking_ = answer.has_value();
    return answer == false;
}

bool Outbox::fits(std::size_t size, Priority priority) const noexcept {
    return senders_[static_cast<std::size_t>(priority)]->fits(size);
}

OutletResult Outbox::commit(Reservation&& reservation, std::size_t size, const Message& message,
                            Confirmation&& confirmation) noexcept {
    const auto i = static_cast<std::size_t>(message.priority);
    const unsigned char* const bytes = reservation.data();
    auto push = [&] {
        counts_.accepted.fetch_add(1);
        senders_[i]->push({std::move(reservation), size, message, std::move(confirmation)});
    };
    if (folders_[i] == nullptr) {
        push();
        return OutletResult::ok;
    }
    if (folders_[i]->append(message.subject, bytes, size, push)) {
        return OutletResult::ok;
    }
    reportDisk();
    return OutletResult::notOnDisk;
}

void Outbox::fill(NatsStatistics& statistics) const noexcept {
    statistics.resent = counts_.resent;
    statistics.replayed = counts_.replayed;
    statistics.damaged = counts_.damaged;
    // Read in this order, so that the answers are never more than the messages.
    statistics.acknowledged = counts_.acknowledged;
    statistics.undeliverable = counts_.undeliverable;
    statistics.accepted = counts_.accepted;
    const std::uint64_t left =
        statistics.accepted - statistics.acknowledged - statistics.undeliverable;
    (isEnded_ ? statistics.abandoned : statistics.held) = left;
}

bool Outbox::isCutOff() const noexcept {
    return rest_.state.load() == LinkState::closed && high_.state.load() == LinkState::closed;
}

bool Outbox::flush(std::chrono::milliseconds timeout) noexcept {
    std::array<std::uint64_t, priorityCount> pushes{};
    std::transform(senders_.begin(), senders_.end(), pushes.begin(),
                   [](const auto& sender) { return sender->pushes(); });
    const auto isDone = [&] {
        return std::equal(
            senders_.begin(), senders_.end(), pushes.begin(),
            [](const auto& sender, std::uint64_t wanted) { return sender->done() >= wanted; });
    };
    (void)counts_.done.waitUntil([&] { return isDone() || isCutOff(); },
                                 deadlineAfter<Park::Clock>(timeout));
    return isDone();
}

bool Outbox::close(std::chrono::milliseconds timeout) noexcept {
    isClosed_.store(true);
    counts_.freed.notifyAll();  // so that reserveUntil() returns `closed`
    // Waits for earlier reservations, too.
    (void)counts_.freed.waitUntil([&] { return counts_.held.load() == 0 || isCutOff(); },
                                  deadlineAfter<Park::Clock>(timeout));
    const bool isEmpty = counts_.held.load() == 0;
    for (const auto& sender : senders_) {
        if (sender != nullptr) {
            sender->stop();
        }
    }
    isEnded_.store(true);
    return isEmpty;
}

}  // namespace sluice::nats::detail
