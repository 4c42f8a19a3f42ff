#pragma once

/// \file
/// Everything that the memory scenarios know, one function for each library's file.

#include "adapters/add_allocator.hpp"

namespace sluice::bench {

void addPools(MemorySubjects& subjects);
void addPooledClass(MemorySubjects& subjects);
void addPlacement(MemorySubjects& subjects);
void addHeap(MemorySubjects& subjects);
void addMimalloc(MemorySubjects& subjects);
void addJemalloc(MemorySubjects& subjects);
void addBoostPools(MemorySubjects& subjects);
void addPmrResources(MemorySubjects& subjects);
void addMessageKinds(MemorySubjects& subjects);

/// All of them, ours first.
MemorySubjects memorySubjects();

}  // namespace sluice::bench
