#pragma once

#include <sluice/log/detail/backend/harvest_mutex.hpp>
#include <sluice/log/detail/backend/harvester.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace sluice::log::detail {

/// The harvests of a back end without a worker.
///
/// The polling thread harvests: the thread that called poll() last. Before the first poll() it is
/// the thread that made the back end.
///
/// Threads: any thread may call any member.
///
/// Tests: tests/unit/log/manual_backend_test.cpp.
template <class BackendCore>
class ManualHarvests {
    using TimePoint = std::chrono::steady_clock::time_point;
    using Writing = Harvester::Writing;

public:
    explicit ManualHarvests(BackendCore& core) noexcept : core_(core) {}
    ManualHarvests(const ManualHarvests&) = delete;
    ManualHarvests& operator=(const ManualHarvests&) = delete;

    /// For backend::poll().
    std::size_t poll() noexcept {
        if (BackendCore::isInHarvest()) {
            return 0;
        }
        take();
        return harvestOnce();
    }

    /// Makes the calling thread the polling thread. Relaxed: each thread only compares the value
    /// with its own number.
    void take() noexcept { thread_.store(std::this_thread::get_id(), std::memory_order_relaxed); }

    /// Whether the back end is manual, has not ended, and the caller is its polling thread.
    bool isMine() const noexcept {
        return core_.options_.manual &&
               thread_.load(std::memory_order_relaxed) == std::this_thread::get_id() &&
               core_.mode_.load(std::memory_order_seq_cst) == BackendCore::Mode::worker;
    }

    /// Harvests once. Returns the number of records that the sinks got. If a sink has closed the
    /// core, it also finishes that close().
    std::size_t harvestOnce() noexcept {
        const std::uint64_t count = countHarvested();
        if (isRestLeft_.exchange(false, std::memory_order_acq_rel)) {
            writeRest(TimePoint::max());
        }
        return static_cast<std::size_t>(count);
    }

    /// Called by a thread whose lane is full. If it is the polling thread, it makes room by a
    /// harvest, because it cannot wait for itself. Returns false on any other thread. `manual` is
    /// this object.
    static bool makeRoom(void* manual) noexcept {
        auto& self = *static_cast<ManualHarvests*>(manual);
        if (!self.isMine()) {
            return false;
        }
        if (self.harvestOnce() == 0) {
            std::this_thread::yield();  // to a thread that was preempted in a log call
        }
        return true;
    }

    /// Writes the records of the closed queue, and flushes the sinks. False if `end` came first,
    /// or if a sink failed. Inside a harvest it returns false at once; the end of that harvest or
    /// the next poll() does the work.
    bool close(TimePoint end) noexcept {
        core_.setMode(BackendCore::Mode::closed);
        if (BackendCore::isInHarvest()) {
            isRestLeft_.store(true, std::memory_order_release);
            return false;
        }
        return writeRest(end) && core_.harvester_.isFlushed();
    }

private:
    std::uint64_t countHarvested() noexcept {
        const HarvestMutex::Guard guard = core_.harvesting_.lock();
        const std::uint64_t before = core_.harvester_.seen();
        core_.harvest(guard, Writing::atOnce);
        return core_.harvester_.seen() - before;
    }

    /// Writes the remaining records and closes the back end. False if `end` came first: then the
    /// others are not written.
    bool writeRest(TimePoint end) noexcept {
        const Stamp last = core_.queue_.now();
        TimePoint begun;
        while (core_.harvest(begun, Writing::atOnce) <= last) {
            if (std::chrono::steady_clock::now() >= end) {
                core_.harvester_.abandon();
                core_.actions_.close();
                return false;
            }
            std::this_thread::yield();
        }
        core_.finish();
        core_.actions_.close();
        return true;
    }

    BackendCore& core_;
    std::atomic<std::thread::id> thread_{std::this_thread::get_id()};  ///< the polling thread
    /// Whether a sink has closed the back end; the next harvestOnce() finishes the close.
    std::atomic<bool> isRestLeft_{false};
};

}  // namespace sluice::log::detail
