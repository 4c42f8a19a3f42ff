#pragma once

#include <sluice/base/setup_error.hpp>
#include <sluice/memory/pool_resource.hpp>

#include <cstddef>
#include <limits>
#include <type_traits>

namespace sluice {

/// A standard allocator for a PoolResource, without virtual calls.
///
///     auto message = std::allocate_shared<Message>(PoolAllocator<Message>(resource), 1, 2);
///
/// Use PoolAllocator if the allocator type may be part of your types. Use PoolResource with
/// std::pmr to keep the allocator out of your types.
///
/// All allocators of one PoolResource are equal, so containers on one resource swap, splice and
/// move in constant time. Thread safety and errors: as for PoolResource.
template <class T>
class PoolAllocator {
public:
    using value_type = T;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;

    PoolAllocator(PoolResource& resource) noexcept : resource_(&resource) {}
    template <class U>
    PoolAllocator(const PoolAllocator<U>& other) noexcept : resource_(&other.resource()) {}

    [[nodiscard]] T* allocate(std::size_t count) {
        constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 2 / sizeof(T);
        if (count > most) {
            detail::allocationError("elements asked of a PoolAllocator are too many", count, most);
        }
        return static_cast<T*>(resource_->allocateBytes(count * sizeof(T), alignof(T)));
    }
    void deallocate(T* objects, std::size_t count) noexcept {
        resource_->deallocateBytes(objects, count * sizeof(T), alignof(T));
    }

    [[nodiscard]] PoolResource& resource() const noexcept { return *resource_; }

    template <class U>
    friend bool operator==(const PoolAllocator& a, const PoolAllocator<U>& b) noexcept {
        return &a.resource() == &b.resource();
    }
    template <class U>
    friend bool operator!=(const PoolAllocator& a, const PoolAllocator<U>& b) noexcept {
        return !(a == b);
    }

private:
    PoolResource* resource_;
};

}  // namespace sluice
