#pragma once

/// \file
/// Every queue that the queue scenarios know, one function for each library's file.

#include "adapters/add_queue.hpp"

namespace sluice::bench {

void addSpscRing(QueueSubjects& subjects);
void addMpscRing(QueueSubjects& subjects);
void addMpmcRing(QueueSubjects& subjects);
void addMpscLanes(QueueSubjects& subjects);
void addMpmcLanes(QueueSubjects& subjects);
void addSegmentQueue(QueueSubjects& subjects);

void addBoostSpsc(QueueSubjects& subjects);
void addBoostQueue(QueueSubjects& subjects);
void addMoodycamelCq(QueueSubjects& subjects);
void addMoodycamelRwq(QueueSubjects& subjects);
void addTbbBounded(QueueSubjects& subjects);
void addAtomicQueue(QueueSubjects& subjects);
void addRigtorpSpsc(QueueSubjects& subjects);

/// All of them, ours first. Subjects whose library was not there at compile time are listed as
/// absent.
QueueSubjects queueSubjects();

}  // namespace sluice::bench
