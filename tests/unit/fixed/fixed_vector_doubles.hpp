#pragma once

#include <sluice/fixed/fixed_vector.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>
#if defined(__cpp_exceptions)
#include <stdexcept>
#endif

namespace sluice {
namespace test {

/// Counts objects and operations, and throws in the copy or move that `fuse` counts down to.
struct Tracked {
    static inline int living = 0;
    static inline int fuse = 0;
    static void burn() {
#if defined(__cpp_exceptions)
        if (fuse != 0 && --fuse == 0) {
            throw std::runtime_error("fuse");
        }
#endif
    }

    Tracked(int number) : number_(number) { ++living; }
    Tracked(const Tracked& other) : number_(other.number_) {
        burn();
        ++living;
    }
    Tracked& operator=(const Tracked&) = default;
    ~Tracked() { --living; }
    int number_;
};

/// Its copy may throw, its move may not, and it must not be moved onto itself.
struct SafeMove : Tracked {
    using Tracked::Tracked;
    SafeMove(const SafeMove&) = default;
    SafeMove(SafeMove&& other) noexcept : Tracked(std::exchange(other.number_, -1)) {}
    SafeMove& operator=(const SafeMove&) = default;
    SafeMove& operator=(SafeMove&& other) noexcept {
        EXPECT_NE(this, &other);
        number_ = std::exchange(other.number_, -1);
        return *this;
    }
};

template <class T>
using Four = FixedVector<T, 4>;

template <class T, std::size_t N>
std::vector<int> numbersOf(const FixedVector<T, N>& items) {
    std::vector<int> numbers;
    for (const T& item : items) {
        numbers.push_back(item.number_);
    }
    return numbers;
}
using Numbers = std::vector<int>;

class FixedVectorTest : public testing::Test {
protected:
    void SetUp() override {
        Tracked::living = 0;
        Tracked::fuse = 0;
    }
    void TearDown() override { EXPECT_EQ(Tracked::living, 0); }
};

}  // namespace test
}  // namespace sluice
