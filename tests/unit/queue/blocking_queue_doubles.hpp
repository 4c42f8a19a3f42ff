#pragma once

#include "unit/queue/queue_doubles.hpp"
#include "unit/queue/scripted_wait.hpp"

#include <sluice/queue/blocking_queue.hpp>
#include <sluice/queue/spsc_ring.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace sluice {
namespace test {

using namespace std::chrono_literals;

template <class T>
using Scripted = BlockingQueue<SpscRing<T, 2>, ScriptedWait, ScriptedPacing>;

class BlockingQueueTest : public testing::Test {
protected:
    BlockingQueueTest() {
        ScriptedWait::reset();
        ScriptedPacing::reset();
        (void)queue.popFor(1ns);
        consumerSide = ScriptedWait::lastWaiter;
        (void)queue.tryPush(0);
        (void)queue.tryPush(0);
        (void)queue.pushFor(0, 1ns);
        producerSide = ScriptedWait::lastWaiter;
        (void)queue.consumeFor(0s, [](int) {});
        ScriptedWait::reset();
        ScriptedPacing::reset();
        forget();
    }

    void forget() {
        consumerSide->notifications = 0;
        producerSide->notifications = 0;
        ScriptedWait::sleeps = 0;
    }
    void fill() {
        ASSERT_EQ(queue.tryPush(1), SendResult::ok);
        ASSERT_EQ(queue.tryPush(2), SendResult::ok);
        forget();
    }

    Scripted<int> queue;
    ScriptedWait* consumerSide = nullptr;
    ScriptedWait* producerSide = nullptr;
};

}  // namespace test
}  // namespace sluice
