#pragma once

/// \file
/// The books of listeners. They read each argument. Sums tell whether each argument came to the
/// right listener.

#include "harness/run/message.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

namespace sluice::bench {

/// The books of the listeners that one thread calls. Each listener gets the books as an argument,
/// so that threads share no books.
class alignas(128) Tally {
public:
    /// Enters a value that the listener of this weight has got.
    void take(std::uint64_t value, std::uint64_t weight) noexcept {
        Cell& cell = cells_[(value + weight) % cells_.size()];
        cell.sum += value * weight;
        ++cell.count;
    }

    /// Notes the value of the next call. pass() counts other values as strange.
    void announce(std::uint64_t value) noexcept { announced_ = value; }
    void pass(std::uint64_t value) noexcept { strange_ += value != announced_; }

    std::uint64_t count() const noexcept { return total(&Cell::count); }
    std::uint64_t sum() const noexcept { return total(&Cell::sum); }
    std::uint64_t strange() const noexcept { return strange_; }

private:
    struct Cell {
        std::uint64_t sum = 0;
        std::uint64_t count = 0;
    };

    std::uint64_t total(std::uint64_t Cell::*figure) const noexcept {
        std::uint64_t all = 0;
        for (const Cell& cell : cells_) {
            all += cell.*figure;
        }
        return all;
    }

    // Several, so that a listener does not wait for the entry of the listener before it.
    std::array<Cell, 8> cells_{};
    std::uint64_t announced_ = 0;
    std::uint64_t strange_ = 0;
};

/// Adds up its arguments.
struct Listener {
    std::uint64_t weight;
    void operator()(std::uint64_t value, Tally& tally) const noexcept { tally.take(value, weight); }
};

/// A listener that is added and removed. The number of its calls is not known beforehand.
struct PassingListener {
    void operator()(std::uint64_t value, Tally& tally) const noexcept { tally.pass(value); }
};

/// Makes the arguments of queued events, one after the other.
template <class Argument>
class ArgumentSource;

using ShortArgument = Message<32>;

template <>
class ArgumentSource<ShortArgument> {
public:
    ShortArgument next() noexcept { return {0, sequence_++}; }

private:
    std::uint64_t sequence_ = 0;
};

/// Forty characters, more than a string holds without the heap. The last eight are the number.
template <>
class ArgumentSource<std::string> {
public:
    const std::string& next() noexcept {
        std::memcpy(text_.data() + text_.size() - sizeof sequence_, &sequence_, sizeof sequence_);
        ++sequence_;
        return text_;
    }

private:
    std::string text_ = std::string(40, 'e');
    std::uint64_t sequence_ = 0;
};

/// On the heap, like messages with several owners.
using PointerArgument = std::shared_ptr<const ShortArgument>;

template <>
class ArgumentSource<PointerArgument> {
public:
    PointerArgument next() { return std::make_shared<const ShortArgument>(values_.next()); }

private:
    ArgumentSource<ShortArgument> values_;
};

inline std::uint64_t sequenceOf(const ShortArgument& argument) noexcept {
    return argument.sequence();
}
inline std::uint64_t sequenceOf(const std::string& argument) noexcept {
    std::uint64_t sequence = 0;
    std::memcpy(&sequence, argument.data() + argument.size() - sizeof sequence, sizeof sequence);
    return sequence;
}

inline std::uint64_t sequenceOf(const PointerArgument& argument) noexcept {
    return argument->sequence();
}

inline std::uint64_t checksumOf(const ShortArgument& argument) noexcept {
    return argument.checksum();
}
inline std::uint64_t checksumOf(const std::string& argument) noexcept {
    std::uint64_t first = 0;
    std::memcpy(&first, argument.data(), sizeof first);
    return first + sequenceOf(argument);
}

inline std::uint64_t checksumOf(const PointerArgument& argument) noexcept {
    return argument->checksum();
}

/// The arguments that arrived: their sum, and whether they came in their order. The fields fit into
/// registers if a visitor is inlined.
class Arrivals {
public:
    template <class Argument>
    void take(const Argument& argument) noexcept {
        const std::uint64_t sequence = sequenceOf(argument);
        sum_ += checksumOf(argument);
        ++count_;
        disorder_ += sequence != expected_;
        expected_ = sequence + 1;
    }

    std::uint64_t count() const noexcept { return count_; }
    std::uint64_t sum() const noexcept { return sum_; }
    std::uint64_t disorder() const noexcept { return disorder_; }

private:
    std::uint64_t sum_ = 0;
    std::uint64_t count_ = 0;
    std::uint64_t disorder_ = 0;
    std::uint64_t expected_ = 0;
};

}  // namespace sluice::bench
