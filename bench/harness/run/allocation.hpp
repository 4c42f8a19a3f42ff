#pragma once

/// \file
/// Rounds that allocate and free on one thread.
///
/// An allocator under test is an adapter, a class for blocks of one size:
///
///     explicit Allocator(std::size_t most);  // so many blocks will live at once
///     std::byte* allocate();                 // null when it has none
///     void deallocate(std::byte* block);     // on any thread, if the subject is for several
///     void emptied();                        // all blocks of a batch were freed
///     void trim();                           // asks it to give memory back
///
/// Every block is written and read back: see Touch.

#include "harness/machine/clock.hpp"
#include "harness/run/booked_round.hpp"
#include "harness/run/child.hpp"
#include "harness/run/touch.hpp"
#include "harness/statistics/cheap_random.hpp"
#include "harness/statistics/statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace sluice::bench {

/// The books of one thread that allocates and frees. They are few, because they are timed.
template <std::size_t Bytes>
class BlockBooks {
public:
    /// Returns false if the allocator had no block.
    bool allocated(std::byte* block) noexcept {
        if (block == nullptr) {
            ++refused_;
            return false;
        }
        Touch<Bytes>::write(block, ++allocated_);
        sent_ += Touch<Bytes>::expected(allocated_);
        hide(block);
        return true;
    }

    /// Call it before the block is freed.
    void freed(const std::byte* block) noexcept {
        received_ += Touch<Bytes>::read(block);
        ++freed_;
    }

    Counts counts() const noexcept {
        Counts counts;
        counts.planned = counts.attempted = allocated_ + refused_;
        counts.accepted = allocated_;
        counts.rejected = refused_;
        counts.delivered = freed_;
        counts.sentSum = sent_;
        counts.receivedSum = received_;
        return counts;
    }

private:
    std::uint64_t allocated_ = 0;
    std::uint64_t refused_ = 0;
    std::uint64_t freed_ = 0;
    std::uint64_t sent_ = 0;
    std::uint64_t received_ = 0;
};

// The timed loops. They are flattened for all subjects, so that no subject pays for a call that
// another subject does not make. A function that an allocator keeps out of line stays out of line.

template <class Allocator, std::size_t Bytes>
[[gnu::flatten]] BlockBooks<Bytes> runPairs(Allocator& allocator, BlockBooks<Bytes> books,
                                            std::uint64_t pairs) {
    for (std::uint64_t i = 0; i < pairs; ++i) {
        std::byte* const block = allocator.allocate();
        if (!books.allocated(block)) {
            break;
        }
        books.freed(block);
        allocator.deallocate(block);
    }
    return books;
}

/// `blocks` has room for a batch. `order` has the indices in the order in which blocks are freed.
template <class Allocator, std::size_t Bytes>
[[gnu::flatten]] BlockBooks<Bytes>
runBatches(Allocator& allocator, BlockBooks<Bytes> books, std::uint64_t batches,
           std::vector<std::byte*>& blocks, const std::vector<std::size_t>& order) {
    for (std::uint64_t batch = 0; batch < batches; ++batch) {
        for (std::byte*& block : blocks) {
            block = allocator.allocate();
            if (!books.allocated(block)) {
                return books;
            }
        }
        for (const std::size_t index : order) {
            books.freed(blocks[index]);
            allocator.deallocate(blocks[index]);
        }
        allocator.emptied();
    }
    return books;
}

/// Frees each block before it allocates the next one.
template <class Allocator, std::size_t Bytes>
Round pairRound(const RoundPlan& plan) {
    return bookedRound(plan, [&plan](Round& round) {
        Allocator allocator(1);
        BlockBooks<Bytes> books = runPairs(allocator, BlockBooks<Bytes>{}, plan.runIn);
        const Nanoseconds start = now();
        books = runPairs(allocator, books, plan.messages);
        round.time(start, now(), plan.messages);
        return books.counts();
    });
}

inline std::vector<std::size_t> indices(std::size_t count, bool shuffled) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    CheapRandom random;
    for (std::size_t i = count; shuffled && i > 1; --i) {
        std::swap(order[i - 1], order[random.below(i)]);
    }
    return order;
}

/// Allocates `capacity` blocks, then frees them, in the same order or shuffled. The time is that of
/// one block's pair of calls.
template <class Allocator, std::size_t Bytes>
Round batchRound(const RoundPlan& plan) {
    return bookedRound(plan, [&plan](Round& round) {
        Allocator allocator(plan.capacity);
        std::vector<std::byte*> blocks(plan.capacity);
        const std::vector<std::size_t> order = indices(plan.capacity, plan.shuffled);
        const std::uint64_t batches = plan.messages / plan.capacity + 1;
        BlockBooks<Bytes> books = runBatches(allocator, BlockBooks<Bytes>{},
                                             plan.runIn / plan.capacity + 1, blocks, order);
        const Nanoseconds start = now();
        books = runBatches(allocator, books, batches, blocks, order);
        round.time(start, now(), batches * plan.capacity);
        return books.counts();
    });
}

/// Times single calls. Each call takes one of `capacity` places at random. It frees the block
/// there, or allocates one if the place is empty. So about half of the places have a block.
template <class Allocator, std::size_t Bytes>
Round callLatencyRound(const RoundPlan& plan) {
    return bookedRound(plan, [&plan](Round& round) {
        Allocator allocator(plan.capacity);
        BlockBooks<Bytes> books;
        std::vector<std::byte*> places(plan.capacity, nullptr);
        CheapRandom random;
        round.samples.reserve(plan.messages);
        const auto step = [&](std::byte*& place) {
            Nanoseconds start = 0;
            const bool frees = place != nullptr;
            if (frees) {
                books.freed(place);
                start = now();
                allocator.deallocate(std::exchange(place, nullptr));
            } else {
                start = now();
                place = allocator.allocate();
            }
            const Nanoseconds end = now();
            if (frees == plan.timesFree && round.samples.size() < plan.messages) {
                round.samples.push_back(double(end - start));
            }
            return frees || books.allocated(place);
        };
        bool good = true;
        for (std::uint64_t i = 0; i < plan.runIn && good; ++i) {
            good = step(places[random.below(plan.capacity)]);
        }
        round.samples.clear();
        while (good && round.samples.size() < plan.messages) {
            good = step(places[random.below(plan.capacity)]);
        }
        for (std::byte* const block : places) {
            if (block != nullptr) {
                books.freed(block);
                allocator.deallocate(block);
            }
        }
        round.ns = round.samples.empty() ? 0 : median(round.samples);
        return books.counts();
    });
}

/// The same as callLatencyRound(), without the call.
inline Round clockAloneRound(const RoundPlan& plan) {
    return bookedRound(plan, [&plan](Round& round) {
        round.samples.reserve(plan.messages);
        while (round.samples.size() < plan.messages) {
            const Nanoseconds start = now();
            const Nanoseconds end = now();
            round.samples.push_back(double(end - start));
        }
        round.ns = median(round.samples);
        return Counts{};
    });
}

/// The MiB by which a process of its own grows. It allocates `capacity` blocks, replaces four times
/// as many at random, and frees all in random order.
template <class Allocator, std::size_t Bytes>
Round residentRound(const RoundPlan& plan) {
    return inChild([&plan](Round& round) {
        std::vector<std::byte*> blocks(plan.capacity, nullptr);
        BlockBooks<Bytes> books;
        CheapRandom random;
        const double before = residentMiB();
        Allocator allocator(plan.capacity);
        const auto renew = [&](std::byte*& block) {
            if (block != nullptr) {
                books.freed(block);
                allocator.deallocate(block);
            }
            block = allocator.allocate();
            (void)books.allocated(block);
        };
        std::for_each(blocks.begin(), blocks.end(), renew);
        for (std::size_t i = 0; i < 4 * plan.capacity; ++i) {
            renew(blocks[random.below(plan.capacity)]);
        }
        round.ns = residentMiB() - before;
        while (!blocks.empty()) {
            std::swap(blocks[random.below(blocks.size())], blocks.back());
            books.freed(blocks.back());
            allocator.deallocate(blocks.back());
            blocks.pop_back();
        }
        if (plan.moment == Moment::trimmed) {
            allocator.trim();
        }
        round.ns = plan.moment == Moment::peak ? round.ns : residentMiB() - before;
        round.counts = books.counts();
    });
}

}  // namespace sluice::bench
