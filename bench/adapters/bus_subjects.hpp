#pragma once

/// \file
/// Every bus that the bus scenarios know, one function for each library's file.

#include "adapters/add_bus.hpp"

namespace sluice::bench {

void addSluiceBus(BusSubjects& subjects);
void addMcccBus(BusSubjects& subjects);
void addMcccSingleProducer(BusSubjects& subjects);

/// All of them, ours first. Subjects whose library was not there at compile time are listed as
/// absent.
BusSubjects busSubjects();

}  // namespace sluice::bench
