#pragma once

/// \file
/// A pool's pair: one block or object of 64 bytes is allocated and given back.

#include "count.hpp"

#include <initializer_list>
#include <string>

namespace sluice::count {

template <class Pool>
void countPair(const Counting& counting) {
    Pool pool;
    counting.each([] {},
                  [&] {
                      forEachMessage([&](const Message&) {
                          auto* const block = pool.allocate();
                          expect(block != nullptr, "a pool had no block");
                          use(block);
                          pool.deallocate(block);
                      });
                  });
}

template <class Pool>
void addPool(Rows& rows, const std::string& subject, std::initializer_list<const char*> pools) {
    for (const char* const pool : pools) {
        rows.push_back({std::string("memory/") + pool + "/pair", subject, &countPair<Pool>});
    }
}

}  // namespace sluice::count
