#pragma once

/// \file
/// Every log that the log scenarios know, one function for each library's file.

#include "adapters/add_log.hpp"

namespace sluice::bench {

void addSluiceLogs(LogSubjects& subjects);
void addSpdlog(LogSubjects& subjects);
void addSpdlogPeer(LogSubjects& subjects);
void addQuill(LogSubjects& subjects);
void addQuillBounded(LogSubjects& subjects);
void addNoLog(LogSubjects& subjects);

/// All of them, ours first. Subjects whose library was not there at compile time are listed as
/// absent.
LogSubjects logSubjects();

}  // namespace sluice::bench
