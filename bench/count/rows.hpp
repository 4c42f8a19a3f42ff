#pragma once

/// \file
/// The sources that add rows: one for each of our modules, one for each peer.

#include "count.hpp"

namespace sluice::count {

void addQueues(Rows& rows);
void addEvents(Rows& rows);
void addPools(Rows& rows);
void addBuses(Rows& rows);
void addActors(Rows& rows);
void addLogs(Rows& rows);

void addStandardLibrary(Rows& rows);
void addBoost(Rows& rows);
void addMoodycamel(Rows& rows);
void addTbb(Rows& rows);
void addSpdlog(Rows& rows);

// Peers whose headers are given.
void addAtomicQueue(Rows& rows);
void addEventpp(Rows& rows);
void addEventppFork(Rows& rows);
void addMccc(Rows& rows);
void addRigtorp(Rows& rows);

}  // namespace sluice::count
