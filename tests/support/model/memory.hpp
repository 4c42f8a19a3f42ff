#pragma once

#include "site.hpp"
#include "view.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::model {

using Word = std::uint64_t;
using LocationId = std::uint32_t;

/// The memory of one execution. It holds all stores to each atomic, so that a load can return any
/// store that the C++ memory model allows. It holds the last accesses to each plain object, to find
/// data races.
///
/// The modification order is the order of execution, and no load returns a later store. Both are
/// restrictions (no load buffering, no 2+2W). Other schedules show most lost results.
///
/// Sequentially consistent accesses have one order, as in [atomics.order] 3-6. Fences do what
/// AsymmetricFence promises: light against heavy and heavy against heavy, never light against
/// light. No fence makes relaxed accesses synchronise.
class Memory {
public:
    struct Store {
        Word value;
        View view;  // joined into the view of an acquire load that reads the store
        std::uint64_t hash;
    };

    struct Location {
        std::uint64_t key;  // creator and its count of creations: the same in each execution
        std::vector<Store> stores;
        std::uint32_t lastAccess[maxThreads];
        std::size_t creator;
        std::uint32_t createdAt;
        bool isAlive;
        bool isShared;  // as Search knew at the creation
        std::uint64_t orderHash;
        std::uint8_t concurrentUsers;  // bit per thread
        bool concurrentlyWritten;
    };

    struct Plain {
        std::size_t writer;
        std::uint32_t writtenAt;
        std::uint32_t readAt[maxThreads];
        bool holdsObject;
    };

    void clear() noexcept {
        locationCount_ = 0;
        plains_.clear();
        lightSeen_ = View{};
        heavySeen_ = View{};
        seqCstSeen_ = View{};
        hash_ = 0;
        fenceHash_ = 0;
    }

    // Atomics ------------------------------------------------------------------------------------

    bool isFull() const noexcept { return locationCount_ == maxLocations; }

    LocationId create(std::size_t thread, std::uint64_t key, bool isShared, Word value, View& now) {
        if (locations_.size() == locationCount_) {
            locations_.emplace_back();
        }
        Location& location = locations_[locationCount_];
        location.key = key;
        location.stores.clear();
        location.stores.push_back(Store{value, now, mix(key, 1)});
        for (std::uint32_t& access : location.lastAccess) {
            access = 0;
        }
        location.creator = thread;
        location.createdAt = now.clock[thread];
        location.isAlive = true;
        location.isShared = isShared;
        location.orderHash = mix(key, 1);
        location.concurrentUsers = 0;
        location.concurrentlyWritten = false;
        hash_ += mix(key, location.orderHash);
        return static_cast<LocationId>(locationCount_++);
    }

    Location& operator[](LocationId id) noexcept { return locations_[id]; }
    std::size_t locationCount() const noexcept { return locationCount_; }

    /// Whether the construction of the location happened before `now`.
    bool isCreatedBefore(const Location& location, const View& now) const noexcept {
        return now.clock[location.creator] >= location.createdAt;
    }

    /// The thread with an access that did not happen before `now`; maxThreads if there is none.
    std::size_t unorderedAccess(const Location& location, const View& now) const noexcept {
        std::size_t t = 0;
        while (t < maxThreads && location.lastAccess[t] <= now.clock[t]) {
            ++t;
        }
        return t;
    }

    /// The oldest store that a load may return.
    std::size_t oldestVisible(LocationId id, const View& now,
                              std::memory_order order) const noexcept {
        const std::size_t oldest = now.seen[id];
        const std::size_t ordered = seqCstSeen_.seen[id];
        return order == std::memory_order_seq_cst && oldest < ordered ? ordered : oldest;
    }

    const Store& read(LocationId id, std::size_t index, std::memory_order order, View& now) {
        const Store& store = locations_[id].stores[index];
        now.see(id, index);
        if (acquires(order)) {
            now.join(store.view);
        }
        return store;
    }

    /// Appends a store. A read-modify-write continues the release sequence of the store that it
    /// replaces.
    void write(LocationId id, Word value, bool readsLast, std::memory_order order, View& now,
               std::uint64_t hash) {
        Location& location = locations_[id];
        const std::size_t index = location.stores.size();
        now.see(id, index);
        Store store{value, View{}, hash};
        if (releases(order)) {
            store.view = now;
        }
        if (readsLast) {
            store.view.join(location.stores.back().view);
        }
        if (order == std::memory_order_seq_cst) {
            seqCstSeen_.see(id, index);
        }
        location.stores.push_back(store);
        hash_ -= mix(location.key, location.orderHash);
        location.orderHash = mix(location.orderHash, hash);
        hash_ += mix(location.key, location.orderHash);
    }

    // Fences -------------------------------------------------------------------------------------

    void fence(Action kind, View& now) noexcept {
        now.joinSeen(heavySeen_);
        if (kind == Action::heavyFence) {
            now.joinSeen(lightSeen_);
            heavySeen_.joinSeen(now);
        } else {
            lightSeen_.joinSeen(now);
        }
    }

    /// Adds one access to the hash of the order of fences and sequentially consistent accesses.
    /// Returns the hash: the calling thread has learned this order.
    std::uint64_t ordered(std::uint64_t threadHash) noexcept {
        return fenceHash_ = mix(fenceHash_, threadHash);
    }

    // Plain objects ------------------------------------------------------------------------------

    std::size_t createPlain(std::size_t thread, const View& now) {
        plains_.push_back(Plain{thread, now.clock[thread], {}, false});
        return plains_.size() - 1;
    }

    Plain& plain(std::size_t id) noexcept { return plains_[id]; }
    std::size_t plainCount() const noexcept { return plains_.size(); }

    /// Records an access. Returns the thread that it races with; maxThreads if there is none.
    std::size_t access(std::size_t id, bool writes, std::size_t thread, const View& now) noexcept {
        Plain& object = plains_[id];
        if (object.writtenAt > now.clock[object.writer]) {
            return object.writer;
        }
        for (std::size_t t = 0; writes && t < maxThreads; ++t) {
            if (object.readAt[t] > now.clock[t]) {
                return t;
            }
        }
        if (writes) {
            object.writer = thread;
            object.writtenAt = now.clock[thread];
        } else {
            object.readAt[thread] = now.clock[thread];
        }
        return maxThreads;
    }

    /// Equal for two executions that have done the same so far.
    std::uint64_t hash() const noexcept { return mix(hash_, fenceHash_); }

private:
    std::vector<Location> locations_;  // kept between executions, to reuse its memory
    std::size_t locationCount_ = 0;
    std::vector<Plain> plains_;
    View lightSeen_;
    View heavySeen_;
    View seqCstSeen_;
    std::uint64_t hash_ = 0;
    std::uint64_t fenceHash_ = 0;
};

}  // namespace sluice::model
