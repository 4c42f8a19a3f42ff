#pragma once

/// \file
/// Everything that the event scenarios know, one function for each library's file.

#include "adapters/add_events.hpp"

namespace sluice::bench {

void addSluiceEvents(EventSubjects& subjects);
void addBoostSignals(EventSubjects& subjects);
void addSigcSignals(EventSubjects& subjects);
void addStdEvents(EventSubjects& subjects);

// All three are adapters/eventpp/peer.cpp, with other headers: eventpp's, its fork's, and those
// with which Sluice offers its own classes under eventpp's names. Those that the
// build was not given are absent.
void addEventpp(EventSubjects& subjects);
void addEventppFork(EventSubjects& subjects);
void addEventppNames(EventSubjects& subjects);

/// All of them, ours first. Subjects whose library was not there at compile time are listed as
/// absent.
EventSubjects eventSubjects();

}  // namespace sluice::bench
