#pragma once

#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/pooled_object.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>

namespace sluice {
namespace test {

/// Hops on to `next` until none are left.
struct Hop {
    std::size_t left;
};
struct Count {};
using CountRequest = Request<Count, std::size_t>;

class Member : public PooledObject<Member, Messages<Hop, CountRequest>> {
public:
    void handle(const Hop& hop) {
        ++hops_;
        if (hop.left != 0) {
            const SendResult result = next->post(Hop{hop.left - 1});
            EXPECT_TRUE(result == SendResult::ok || result == SendResult::closed);
        } else {
            *isDone = true;
        }
    }
    void handle(const CountRequest& request) { request.reply(hops_); }

    Member* next = nullptr;
    std::atomic<bool>* isDone = nullptr;

private:
    std::size_t hops_ = 0;
};

}  // namespace test
}  // namespace sluice
