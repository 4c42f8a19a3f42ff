#pragma once

#include "strands.hpp"

#include <array>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace sluice::model {

/// Strands as threads, of which one runs at a time. Each has its own thread-local objects, whose
/// destructors are part of the scenario. Use it for code with such objects: fibers cost far less.
class ThreadStrands final : public Strands {
public:
    void start(std::size_t strand, std::function<void()> body,
               std::function<void()> ended) override {
        threads_[strand] =
            std::thread([this, strand, body = std::move(body), ended = std::move(ended)]() mutable {
                awaitTurn(strand);
                // The first thread-local object of its thread is the last to be destroyed.
                thread_local AtThreadEnd atThreadEnd;
                atThreadEnd.ended = std::move(ended);
                body();
            });
    }

    void transfer(std::size_t from, std::size_t to) override {
        leave(from, to);
        awaitTurn(from);
    }

    void leave(std::size_t, std::size_t to) override {
        const std::lock_guard<std::mutex> lock(mutex_);
        turn_ = to;
        turnOf_[to].notify_one();
    }

    void collect() override {
        for (std::thread& thread : threads_) {
            if (thread.joinable()) {
                thread.join();
            }
        }
    }

    void abandon() override {
        for (std::thread& thread : threads_) {
            if (thread.joinable()) {
                thread.detach();
            }
        }
    }

private:
    struct AtThreadEnd {
        std::function<void()> ended;
        ~AtThreadEnd() { ended(); }
    };

    void awaitTurn(std::size_t strand) {
        std::unique_lock<std::mutex> lock(mutex_);
        turnOf_[strand].wait(lock, [&] { return turn_ == strand; });
    }

    std::mutex mutex_;
    std::array<std::condition_variable, maxThreads + 1> turnOf_;
    std::size_t turn_ = explorer;
    std::array<std::thread, maxThreads> threads_;
};

}  // namespace sluice::model
