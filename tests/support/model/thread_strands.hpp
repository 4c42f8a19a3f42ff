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

/// Strands as threads that hand a baton on: each has thread-local objects of its own, whose
/// destructors are part of the scenario. For code that uses such objects; fibers are far cheaper.
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
