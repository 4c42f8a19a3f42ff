#pragma once

#include <sluice/log/detail/lanes/record_queue.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace sluice::test {

/// Names a record by its thread and its number.
struct Label {
    std::uint32_t thread = 0;
    std::uint32_t number = 0;

    friend bool operator==(const Label& a, const Label& b) {
        return a.thread == b.thread && a.number == b.number;
    }
};

template <class Traits = log::detail::RecordQueueTraits>
using LabelQueue = log::detail::RecordQueue<Label, Traits>;

inline constexpr auto blocking = Overflow::block;
inline constexpr auto dropping = Overflow::dropOldest;
inline constexpr auto rejecting = Overflow::reject;

/// Posts a record whose payload is `text`.
template <class RecordQueue>
SendResult postText(RecordQueue& queue, const Label& label, const std::string& text,
                    Overflow policy = blocking) {
    return queue.post(label, text.size(), policy, [&text](std::byte* to) noexcept {
        std::memcpy(to, text.data(), text.size());
    });
}

/// Posts a record of `size` bytes.
template <class RecordQueue>
SendResult postBytes(RecordQueue& queue, const Label& label, std::size_t size,
                     Overflow policy = blocking) {
    return queue.post(label, size, policy, [size, &label](std::byte* to) noexcept {
        std::memset(to, static_cast<int>(label.number & 0xFFU), size);
    });
}

struct Emitted {
    Label label;
    log::detail::Stamp stamp;
    std::string payload;
};

/// Polls once and emits the records that may be emitted.
template <class RecordQueue>
std::vector<Emitted> emitAll(RecordQueue& queue, log::detail::Stamp limit = log::detail::endOfTime,
                             std::size_t max = 256) {
    std::vector<Emitted> all;
    queue.poll();
    const auto keep = [&all](const typename RecordQueue::Record& record) {
        const auto* const text = reinterpret_cast<const char*>(record.payload);
        all.push_back({record.head, record.stamp, std::string(text, record.size)});
    };
    while (queue.emitBefore(limit, max, keep) != 0) {
    }
    return all;
}

/// The counts of the queue, for a watchdog.
template <class RecordQueue>
auto stateOf(const RecordQueue& queue) {
    return [&queue](std::FILE* out) {
        const auto sum = queue.statistics();
        std::fprintf(out, "%zu lanes, %llu logged, %llu overrun, %zu in lanes\n", queue.laneCount(),
                     static_cast<unsigned long long>(sum.logged),
                     static_cast<unsigned long long>(sum.dropped), sum.messages);
    };
}

inline std::vector<std::uint32_t> numbersOf(const std::vector<Emitted>& all) {
    std::vector<std::uint32_t> numbers;
    for (const Emitted& emitted : all) {
        numbers.push_back(emitted.label.number);
    }
    return numbers;
}

}  // namespace sluice::test
