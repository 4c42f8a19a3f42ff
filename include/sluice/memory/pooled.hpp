#pragma once

#include <sluice/base/setup_error.hpp>
#include <sluice/memory/pool_resource.hpp>

#include <cstddef>
#include <memory_resource>
#include <new>
#include <type_traits>

namespace [[gnu::visibility("default")]] sluice {

/// A base class with operator new and delete on a pool, for existing code that uses `new`.
///
///     class Message final : public Pooled<Message> { ... };
///
/// Use Pooled if existing code creates the objects with `new`. Use ObjectPool in new code, because
/// the program can limit, measure and trim each ObjectPool. Use PoolAllocator for containers and
/// std::allocate_shared, which ignore a class's operator new.
///
/// Pooled<Derived> and its derived classes share one PoolResource, which is created when first used
/// and never destroyed. Arrays, over-aligned objects, and objects beyond 4 KiB use the heap.
/// Derived must be final or have a virtual destructor.
///
/// Shared libraries have separate pools if a library hides its symbols, or if the program does not
/// export its symbols (-rdynamic). With separate pools, a program must create and delete each
/// object in the same library, and define virtual destructors in that library. A deletion in the
/// wrong library ends the program, but release builds may detect the error only in trim().
///
/// Errors: operator new throws std::bad_alloc; its nothrow forms return null.
template <class Derived>
class Pooled {
public:
    // NOLINTNEXTLINE(misc-new-delete-overloads)
    static void* operator new(std::size_t size) {
        void* const memory = tryAllocate(size);
        if (SLUICE_UNLIKELY(memory == nullptr)) {
            detail::allocationError("no memory for an object of a Pooled class", size, 0);
        }
        return memory;
    }
    static void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
        return tryAllocate(size);
    }
    static void operator delete(void* object, std::size_t size) noexcept {
        if (PoolResource& pools = resource(); pools.serves(size, usual)) {
            pools.deallocateBytes(object, size, usual);
        } else {
            toHeap(object);
        }
    }
    // Called if the constructor throws in a nothrow new expression.
    static void operator delete(void* object, const std::nothrow_t&) noexcept {
        if (!resource().tryDeallocateUnsized(object)) {
            toHeap(object);
        }
    }

    // Declared because the operator new above hides the global aligned and placement forms.
    static void* operator new(std::size_t size, std::align_val_t alignment) {
        return ::operator new(size, alignment);
    }
    static void* operator new(std::size_t size, std::align_val_t alignment,
                              const std::nothrow_t&) noexcept {
        return ::operator new(size, alignment, std::nothrow);
    }
    static void* operator new(std::size_t, void* address) noexcept { return address; }
    static void operator delete(void* object, std::align_val_t alignment) noexcept {
        ::operator delete(object, alignment);
    }
    static void operator delete(void* object, std::align_val_t alignment,
                                const std::nothrow_t&) noexcept {
        ::operator delete(object, alignment);
    }
    static void operator delete(void*, void*) noexcept {}

    /// The PoolResource of the class's objects, for its statistics.
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
        // Never destroyed, because static objects may delete Pooled objects at program exit.
        alignas(PoolResource) static std::byte storage[sizeof(PoolResource)];
        return *::new (static_cast<void*>(storage))
            PoolResource(options, std::pmr::new_delete_resource());
    }

    static void* tryAllocate(std::size_t size) noexcept {
        static_assert(std::has_virtual_destructor_v<Derived> || std::is_final_v<Derived>,
                      "Pooled<Derived>: make Derived final, or its destructor virtual");
        // Null if the PoolResource could not be created.
        PoolResource* const pools = detail::resultOrDefault([] { return &resource(); });
        if (pools == nullptr) {
            return nullptr;
        }
        return pools->serves(size, usual) ? pools->tryAllocateBytes(size, usual)
                                          : ::operator new(size, std::nothrow);
    }

    /// Not inlined, because g++ would warn that delete does not match operator new.
    [[gnu::noinline]] static void toHeap(void* object) noexcept { ::operator delete(object); }
};

}  // namespace sluice
