#pragma once

#include <sluice/base/setup_error.hpp>
#include <sluice/memory/pool_resource.hpp>

#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <new>
#include <type_traits>

namespace [[gnu::visibility("default")]] sluice {

/// Class-specific `new` and `delete` on a pool. Existing code keeps `new Message`, `delete message`
/// and std::make_unique.
///
///     class Message final : public Pooled<Message> { ... };
///
/// Use it if objects are already created with `new`. Use ObjectPool in new code, because a pool
/// that is passed in can be bounded, measured and emptied. Use PoolAllocator for containers and
/// std::allocate_shared, which do not use a class's operator new.
///
/// One PoolResource serves Pooled<Derived> and its derived classes. It is created at the first use
/// and never destroyed. Arrays, and objects beyond 4 KiB, come from the heap. Because `delete`
/// needs the right size, Derived must be final or have a virtual destructor.
///
/// Shared objects: if one hides its symbols, or the program does not export its own (-rdynamic),
/// each has a resource of its own. Then create and delete the objects in one of them, and define a
/// virtual destructor there. A block deleted in the wrong one ends the program, in release builds
/// at the latest in trim().
///
/// Errors: as for `new`: std::bad_alloc, or null for the nothrow forms.
template <class Derived>
class Pooled {
public:
    // Its delete is the one with a size.
    // NOLINTNEXTLINE(misc-new-delete-overloads)
    static void* operator new(std::size_t size) { return orFail(tryAllocate(size, usual), size); }
    static void* operator new(std::size_t size, std::align_val_t alignment) {
        return orFail(tryAllocateWide(size, alignment), size);
    }
    static void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
        return tryAllocate(size, usual);
    }
    static void* operator new(std::size_t size, std::align_val_t alignment,
                              const std::nothrow_t&) noexcept {
        return tryAllocateWide(size, alignment);
    }
    /// Placement new, which the class's own operator new would hide.
    static void* operator new(std::size_t, void* address) noexcept { return address; }

    static void operator delete(void* object, std::size_t size) noexcept {
        deallocate(object, size, usual);
    }
    // No size: if a constructor throws, compilers look for this form and no other.
    static void operator delete(void* object, std::align_val_t alignment) noexcept {
        deallocateWide(object, alignment);
    }
    // Called if a constructor throws after a nothrow new, without a size.
    static void operator delete(void* object, const std::nothrow_t&) noexcept {
        if (!resource().tryDeallocateUnsized(object)) {
            toHeap(object, usual);
        }
    }
    static void operator delete(void* object, std::align_val_t alignment,
                                const std::nothrow_t&) noexcept {
        deallocateWide(object, alignment);
    }
    static void operator delete(void*, void*) noexcept {}

    /// The resource of the objects, for its statistics.
    static PoolResource& resource() {
        static PoolResource& instance = makeResource();
        return instance;
    }

protected:
    Pooled() = default;
    Pooled(const Pooled&) = default;
    Pooled& operator=(const Pooled&) = default;
    ~Pooled() = default;

private:
    static constexpr std::size_t usual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

    [[gnu::cold, gnu::noinline]] static PoolResource& makeResource() {
        PoolResourceOptions options;
        options.name = "Pooled";
        // Never destroyed: objects may be deleted while the program destroys its static objects.
        alignas(PoolResource) static std::byte storage[sizeof(PoolResource)];
        return *::new (static_cast<void*>(storage))
            PoolResource(options, std::pmr::new_delete_resource());
    }

    /// Null if there is no memory for the pools themselves.
    static PoolResource* tryResource() noexcept {
        return detail::resultOrDefault([] { return &resource(); });
    }

    static void* tryAllocate(std::size_t size, std::size_t alignment) noexcept {
        static_assert(std::has_virtual_destructor_v<Derived> || std::is_final_v<Derived>,
                      "Pooled<Derived>: make Derived final, or its destructor virtual");
        PoolResource* const pools = tryResource();
        if (pools == nullptr) {
            return nullptr;
        }
        if (pools->serves(size, alignment)) {
            return pools->tryAllocateBytes(size, alignment);
        }
        return alignment <= usual ? ::operator new(size, std::nothrow)
                                  : ::operator new(size, std::align_val_t{alignment}, std::nothrow);
    }

    static void* orFail(void* memory, std::size_t size) {
        if (__builtin_expect(memory == nullptr, 0)) {
            detail::allocationError("no memory for an object of a Pooled class", size, 0);
        }
        return memory;
    }

    // An over-aligned object has its size in front of it, because not every `delete` knows the
    // size. The bytes in front are as many as the alignment.

    static void* tryAllocateWide(std::size_t size, std::align_val_t wide) noexcept {
        const auto alignment = static_cast<std::size_t>(wide);
        auto* const block = static_cast<std::byte*>(tryAllocate(size + alignment, alignment));
        if (block == nullptr) {
            return nullptr;
        }
        std::byte* const object = block + alignment;
        std::memcpy(object - sizeof size, &size, sizeof size);
        return object;
    }

    static void deallocateWide(void* object, std::align_val_t wide) noexcept {
        if (object == nullptr) {
            return;
        }
        const auto alignment = static_cast<std::size_t>(wide);
        auto* const bytes = static_cast<std::byte*>(object);
        std::size_t size = 0;
        std::memcpy(&size, bytes - sizeof size, sizeof size);
        deallocate(bytes - alignment, size + alignment, alignment);
    }

    static void deallocate(void* object, std::size_t size, std::size_t alignment) noexcept {
        PoolResource& pools = resource();
        if (pools.serves(size, alignment)) {
            pools.deallocateBytes(object, size, alignment);
        } else {
            toHeap(object, alignment);
        }
    }

    /// Out of line: g++ warns if it sees both the class's `new` and this `delete`, although these
    /// objects came from the heap.
    [[gnu::noinline]] static void toHeap(void* object, std::size_t alignment) noexcept {
        if (alignment <= usual) {
            ::operator delete(object);
        } else {
            ::operator delete(object, std::align_val_t{alignment});
        }
    }
};

}  // namespace sluice
