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

/// The harvests of an engine without a worker.
///
/// The polling thread harvests: the thread that called poll() last. Before the first poll() it is
/// the thread that made the engine.
///
/// Threads: any thread may call any member.
///
/// Tests: tests/unit/log/manual_backend_test.cpp.
template <class Engine>
class Polling {
    using TimePoint = std::chrono::steady_clock::time_point;
    using Writing = Harvester::Writing;

public:
    explicit Polling(Engine& engine) noexcept : engine_(engine) {}
    Polling(const Polling&) = delete;
    Polling& operator=(const Polling&) = delete;

    /// For backend::poll().
    std::size_t poll() noexcept {
        if (Engine::isInHarvest()) {
            return 0;
        }
        take();
        return drain();
    }

    /// Makes the calling thread the polling thread. Relaxed: each thread only compares the value
    /// with its own number.
    void take() noexcept { thread_.store(std::this_thread::get_id(), std::memory_order_relaxed); }

    /// Whether the engine is manual, has not ended, and the caller is its polling thread.
    bool isMine() const noexcept {
        return engine_.options_.manual &&
               thread_.load(std::memory_order_relaxed) == std::this_thread::get_id() &&
               engine_.mode_.load(std::memory_order_seq_cst) == Engine::Mode::worker;
    }

    /// Harvests once. Returns the number of records that the sinks got. If a sink has closed the
    /// engine, it also finishes that close().
    std::size_t drain() noexcept {
        const std::uint64_t count = harvest();
        if (isRestLeft_.exchange(false, std::memory_order_acq_rel)) {
            writeRest(TimePoint::max());
        }
        return static_cast<std::size_t>(count);
    }

    /// Called by a thread whose lane is full. If it is the polling thread, it makes room by a
    /// harvest, because it cannot wait for itself. Returns false on any other thread. `polling` is
    /// this object.
    static bool makeRoom(void* polling) noexcept {
        auto& self = *static_cast<Polling*>(polling);
        if (!self.isMine()) {
            return false;
        }
        if (self.drain() == 0) {
            std::this_thread::yield();  // to a thread that was preempted in a log call
        }
        return true;
    }

    /// Writes the records of the closed intake, and flushes the sinks. False if `end` came first,
    /// or if a sink failed. Inside a harvest it returns false at once; the end of that harvest or
    /// the next poll() does the work.
    bool close(TimePoint end) noexcept {
        engine_.setMode(Engine::Mode::closed);
        if (Engine::isInHarvest()) {
            isRestLeft_.store(true, std::memory_order_release);
            return false;
        }
        return writeRest(end) && engine_.harvester_.isFlushed();
    }

private:
    std::uint64_t harvest() noexcept {
        const HarvestMutex::Guard guard = engine_.harvesting_.lock();
        const std::uint64_t before = engine_.harvester_.seen();
        engine_.harvest(guard, Writing::atOnce);
        return engine_.harvester_.seen() - before;
    }

    /// Writes the remaining records and closes the engine. False if `end` came first: then the
    /// others are not written.
    bool writeRest(TimePoint end) noexcept {
        const Key last = engine_.intake_.now();
        TimePoint begun;
        while (engine_.harvest(begun, Writing::atOnce) <= last) {
            if (std::chrono::steady_clock::now() >= end) {
                engine_.harvester_.abandon();
                engine_.controls_.close();
                return false;
            }
            std::this_thread::yield();
        }
        engine_.finish();
        engine_.controls_.close();
        return true;
    }

    Engine& engine_;
    std::atomic<std::thread::id> thread_{std::this_thread::get_id()};  ///< the polling thread
    /// Whether a sink has closed the engine; the next drain() finishes the close.
    std::atomic<bool> isRestLeft_{false};
};

}  // namespace sluice::log::detail
