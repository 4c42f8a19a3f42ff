#include <sluice/bridge/nats/detail/requests.hpp>

#include "link_impl.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::nats::detail {

Requests::Requests(Link& rest, Link& high, std::size_t most, Counters& counters)
    : rest_(rest), high_(high), most_(most), counters_(counters), inbox_(newInbox()) {
}

void Requests::start(int backlog) {
    // Each link has an inbox of its own, because an answer arrives on each link that wants it.
    rest_.subscribe(inbox_ + ".rest.*", *this, backlog);
    high_.subscribe(inbox_ + ".high.*", *this, backlog);
    const BlockedSignals mask;
    thread_ = std::thread([this] { run(); });
}

void Requests::send(Priority priority, const char* subject, const unsigned char* bytes,
                    std::size_t size, Clock::time_point deadline, End end) {
    Link& link = priority == Priority::high ? high_ : rest_;
    RequestError error = RequestError::full;
    std::uint64_t number = 0;
    std::string reply = inbox_ + (priority == Priority::high ? ".high." : ".rest.");
    {
        const std::lock_guard guard(mutex_);
        if (isStopped_) {
            error = RequestError::closed;
        } else if (table_.size() < most_) {
            number = last_ + 1;
            reply += std::to_string(number);
            table_.emplace(number, Open{deadline, std::move(end)});
            last_ = number;
            if (deadline < next_) {
                next_ = deadline;
                changed_.notify_all();
            }
        }
    }
    if (number == 0) {
        end(nullptr, error);
    } else if (!link.publish(subject, bytes, size, reply.c_str(), deadline)) {
        error = link.state() == LinkState::closed ? RequestError::closed
                : size > link.maxPayload()        ? RequestError::tooLarge
                                                  : RequestError::full;
        if (const auto request = take(number)) {
            request.mapped().end(nullptr, error);
        }
    }
}

Requests::Table::node_type Requests::take(std::uint64_t number) noexcept {
    const std::lock_guard guard(mutex_);
    return table_.extract(number);
}

void Requests::receive(const Arrival& answer) noexcept {
    const std::string_view subject(answer.subject);
    const std::string_view digits = subject.substr(subject.rfind('.') + 1);
    std::uint64_t number = 0;
    (void)std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const auto request = take(number);
    if (!request) {
        add(counters_.lateReplies);
    } else if (answer.isNoResponder) {
        request.mapped().end(nullptr, RequestError::noResponder);
    } else {
        request.mapped().end(&answer, RequestError::closed);
    }
}

void Requests::run() noexcept {
    std::unique_lock lock(mutex_);
    while (!isStopped_) {
        Table late;
        const auto now = Clock::now();
        next_ = Clock::time_point::max();
        for (auto at = table_.begin(); at != table_.end();) {
            const auto each = at++;
            if (each->second.deadline <= now) {
                late.insert(table_.extract(each));
            } else {
                next_ = std::min(next_, each->second.deadline);
            }
        }
        if (!late.empty()) {
            lock.unlock();
            for (auto& [number, request] : late) {
                request.end(nullptr, RequestError::timedOut);
            }
            late.clear();
            lock.lock();
            continue;
        }
        // A shorter wait than the clock's end, which would overflow.
        (void)changed_.wait_until(lock, std::min(next_, now + std::chrono::hours(24)),
                                  [this, next = next_] { return isStopped_ || next_ < next; });
    }
}

void Requests::stop() noexcept {
    Table left;
    {
        const std::lock_guard guard(mutex_);
        isStopped_ = true;
        left.swap(table_);
        changed_.notify_all();
    }
    if (thread_.joinable()) {
        thread_.join();
    }
    for (auto& [number, request] : left) {
        request.end(nullptr, RequestError::closed);
    }
}

std::size_t Requests::open() const noexcept {
    const std::lock_guard guard(mutex_);
    return table_.size();
}

}  // namespace sluice::nats::detail
