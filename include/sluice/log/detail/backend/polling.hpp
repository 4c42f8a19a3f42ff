#pragma once

#include <sluice/log/detail/backend/harvest_turns.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

namespace sluice::log::detail {

/// How an engine without a worker gets its harvests.
///
/// Tests: tests/unit/log/manual_backend_test.cpp.
///
/// The polling thread makes the harvests. It is the thread that polled last, or before that the one
/// that made the engine.
///
/// Any thread may call any member.
template <class Engine>
class Polling {
    using TimePoint = std::chrono::steady_clock::time_point;

public:
    explicit Polling(Engine& engine) noexcept : engine_(engine) {}
    Polling(const Polling&) = delete;
    Polling& operator=(const Polling&) = delete;

    /// Writes what there is. The calling thread is the polling thread from now on. Returns how many
    /// records the sinks were given. 0 in a harvest.
    std::size_t poll() noexcept {
        if (Engine::isInHarvest()) {
            return 0;
        }
        take();
        return drain();
    }

    /// The calling thread is the polling thread from now on. Relaxed: only the thread itself wants
    /// to know.
    void take() noexcept { thread_.store(std::this_thread::get_id(), std::memory_order_relaxed); }

    /// Whether the engine is manual, has not ended, and the caller is its polling thread.
    bool isMine() const noexcept {
        return engine_.options_.manual &&
               thread_.load(std::memory_order_relaxed) == std::this_thread::get_id() &&
               engine_.mode_.load(std::memory_order_seq_cst) == Engine::Mode::worker;
    }

    /// A harvest. Returns how many records the sinks were given.
    std::size_t drain() noexcept {
        const std::uint64_t count = harvest();
        if (isRestLeft_.exchange(false, std::memory_order_acq_rel)) {
            writeRest(TimePoint::max());
        }
        return static_cast<std::size_t>(count);
    }

    /// The calling thread found its lane full. The polling thread makes room; waiting for room, it
    /// would wait for itself. False for any other thread. `polling` is one of these.
    static bool makeRoom(void* polling) noexcept {
        auto& self = *static_cast<Polling*>(polling);
        if (!self.isMine()) {
            return false;
        }
        if (self.drain() == 0) {
            std::this_thread::yield();  // for a thread that is stopped in the middle of a log call
        }
        return true;
    }

    /// The intake is closed: writes what it has, and flushes the sinks. False when `end` came first
    /// or a sink failed. In a harvest this is left to the end of the harvest, or to the next
    /// poll().
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
        const std::lock_guard<HarvestTurns> lock(engine_.harvesting_);
        const std::uint64_t before = engine_.harvester_.seen();
        engine_.harvestLocked();
        return engine_.harvester_.seen() - before;
    }

    /// False when `end` came first: then what is left is not written.
    bool writeRest(TimePoint end) noexcept {
        const Key last = engine_.intake_.now();
        TimePoint begun;
        while (engine_.harvest(begun) <= last) {
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
    std::atomic<std::thread::id> thread_{std::this_thread::get_id()};
    std::atomic<bool> isRestLeft_{false};  // a sink has closed the engine
};

}  // namespace sluice::log::detail
