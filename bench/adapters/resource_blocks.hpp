#pragma once

#include "adapters/add_allocator.hpp"

#include <memory_resource>

namespace sluice::bench {

/// Any std::pmr::memory_resource, called as containers call it: through the virtual functions.
template <class Resource, std::size_t Bytes>
class ResourceBlocks : public PlainAllocator {
public:
    explicit ResourceBlocks(std::size_t most) : PlainAllocator(most) {}
    std::byte* allocate() {
        return static_cast<std::byte*>(base_->allocate(Bytes, alignof(std::max_align_t)));
    }
    void deallocate(std::byte* block) {
        base_->deallocate(block, Bytes, alignof(std::max_align_t));
    }

protected:
    Resource resource_;

private:
    // Not known to the compiler, as it would not be behind a polymorphic_allocator.
    std::pmr::memory_resource* volatile base_ = &resource_;
};

}  // namespace sluice::bench
