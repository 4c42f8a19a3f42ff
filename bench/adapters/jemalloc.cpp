#include "adapters/library_of.hpp"
#include "adapters/memory_subjects.hpp"

#include <dlfcn.h>

namespace sluice::bench {

namespace {

// Debian builds it without a prefix. The program is linked with it, because its thread-local
// storage is too large for a library that is loaded later; its malloc() is looked up in it alone.
struct Jemalloc {
    void* (*malloc)(std::size_t) = nullptr;
    void (*free)(void*) = nullptr;
    int (*control)(const char*, void*, std::size_t*, void*, std::size_t) = nullptr;

    Jemalloc() noexcept {
        if (void* const library = dlopen("libjemalloc.so.2", RTLD_NOW | RTLD_NOLOAD)) {
            malloc = reinterpret_cast<decltype(malloc)>(dlsym(library, "malloc"));
            free = reinterpret_cast<decltype(free)>(dlsym(library, "free"));
            control = reinterpret_cast<decltype(control)>(dlsym(library, "mallctl"));
        }
    }

    template <class Value>
    Value get(const char* name) const {
        Value value{};
        std::size_t size = sizeof value;
        control(name, &value, &size, nullptr, 0);
        return value;
    }
};

const Jemalloc jemalloc;

template <std::size_t Bytes>
struct JemallocBlocks : PlainAllocator {
    using PlainAllocator::PlainAllocator;
    static std::byte* allocate() { return static_cast<std::byte*>(jemalloc.malloc(Bytes)); }
    static void deallocate(std::byte* block) { jemalloc.free(block); }
    static void trim() {
        // First the cache of this thread, then all arenas.
        jemalloc.control("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
        jemalloc.control("arena.4096.purge", nullptr, nullptr, nullptr, 0);
    }
};

// Its own count of this thread's allocations is a better proof than the names of functions.
std::string whyNotMeasured() {
    if (jemalloc.malloc == nullptr || jemalloc.free == nullptr || jemalloc.control == nullptr) {
        return "it is not linked as expected";
    }
    const auto allocated = [] { return jemalloc.get<std::uint64_t>("thread.allocated"); };
    const std::uint64_t before = allocated();
    void* volatile ours = std::malloc(5000);
    const std::uint64_t between = allocated();
    void* const theirs = jemalloc.malloc(5000);
    const bool apart = before == between && allocated() > between;
    jemalloc.free(theirs);
    std::free(ours);
    return apart ? whyNotIsolated() : "its heap and the C library's are not apart";
}

}  // namespace

void addJemalloc(MemorySubjects& subjects) {
    Subject info;
    info.id = "jemalloc";
    info.library = "jemalloc";
    info.prebuilt = true;
    info.use = "its malloc() and free(); the process keeps the C library's";
    info.absentBecause = whyNotMeasured();
    if (info.absentBecause.empty()) {
        info.version = jemalloc.get<const char*>("version");
    }
    addSharedAllocator<JemallocBlocks>(subjects, info);
}

}  // namespace sluice::bench
