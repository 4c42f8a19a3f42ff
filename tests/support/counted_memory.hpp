#pragma once

#include <atomic>
#include <cstddef>
#include <memory_resource>

namespace sluice::test {

/// A memory resource that counts its allocations. Any thread may use it.
class CountedMemory : public std::pmr::memory_resource {
public:
    [[nodiscard]] std::size_t allocations() const noexcept {
        return allocations_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::size_t bytesInUse() const noexcept {
        return bytesInUse_.load(std::memory_order_relaxed);
    }

protected:
    // Relaxed, all: tests read after a join, or need only the number.
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        allocations_.fetch_add(1, std::memory_order_relaxed);
        bytesInUse_.fetch_add(bytes, std::memory_order_relaxed);
        return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* place, std::size_t bytes, std::size_t alignment) override {
        bytesInUse_.fetch_sub(bytes, std::memory_order_relaxed);
        std::pmr::new_delete_resource()->deallocate(place, bytes, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }

private:
    std::atomic<std::size_t> allocations_{0};
    std::atomic<std::size_t> bytesInUse_{0};
};

}  // namespace sluice::test
