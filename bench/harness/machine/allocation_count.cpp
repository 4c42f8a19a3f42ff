#include "harness/machine/allocation_count.hpp"

#include <dlfcn.h>

namespace sluice::bench {

namespace {

using Counter = std::uint64_t (*)();

// Finds the counter of the library that is loaded first; see bench/counting_malloc.
Counter counter() noexcept {
    static const Counter found =
        reinterpret_cast<Counter>(dlsym(RTLD_DEFAULT, "sluiceAllocationCount"));
    return found;
}

}  // namespace

bool countsAllocations() noexcept {
    return counter() != nullptr;
}

std::uint64_t allocationsSoFar() noexcept {
    return countsAllocations() ? counter()() : 0;
}

}  // namespace sluice::bench
