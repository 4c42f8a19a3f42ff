#include "adapters/memory_subjects.hpp"
#include "adapters/resource_blocks.hpp"

#include <memory_resource>
#include <vector>

namespace sluice::bench {

namespace {

template <class Resource, std::size_t Bytes>
class PoolBlocks : public ResourceBlocks<Resource, Bytes> {
public:
    using ResourceBlocks<Resource, Bytes>::ResourceBlocks;
    void trim() { this->resource_.release(); }
};

template <std::size_t Bytes>
using Unsynchronized = PoolBlocks<std::pmr::unsynchronized_pool_resource, Bytes>;

template <std::size_t Bytes>
using Synchronized = PoolBlocks<std::pmr::synchronized_pool_resource, Bytes>;

// It frees nothing until everything is released, so it can only do batches.
template <std::size_t Bytes>
class Monotonic : public PlainAllocator {
public:
    explicit Monotonic(std::size_t most)
        : PlainAllocator(most), buffer_(most * (Bytes + alignof(std::max_align_t))) {}
    std::byte* allocate() {
        return static_cast<std::byte*>(base_->allocate(Bytes, alignof(std::max_align_t)));
    }
    void deallocate(std::byte* block) {
        base_->deallocate(block, Bytes, alignof(std::max_align_t));
    }
    void emptied() { resource_.release(); }

private:
    std::vector<std::byte> buffer_;
    std::pmr::monotonic_buffer_resource resource_{buffer_.data(), buffer_.size()};
    std::pmr::memory_resource* volatile base_ = &resource_;
};

}  // namespace

void addPmrResources(MemorySubjects& subjects) {
    Subject info;
    info.library = "libstdc++";
    info.version = std::to_string(_GLIBCXX_RELEASE);
    info.id = "pmr/unsynchronized_pool";
    info.use = "allocate(), deallocate() through memory_resource; for one thread, no lock";
    addAllocator<Unsynchronized>(subjects, info);
    info.id = "pmr/synchronized_pool";
    info.use = "allocate(), deallocate() through memory_resource";
    addSharedAllocator<Synchronized>(subjects, info).fewerAcross = 20;
    info.id = "pmr/monotonic (frees all at once)";
    info.use = "no general allocator: on a buffer of its own, release() after each batch";
    info.features.topology = "one thread";
    MemorySubject monotonic{info, {}, 1};
    addBatches<Monotonic>(monotonic, BatchSizes{});
    subjects.push_back(std::move(monotonic));
}

}  // namespace sluice::bench
