#pragma once

// The view of two shared libraries on the log of their process. The libraries hide all their other
// symbols.

namespace sluice::test {

struct LogOfProcess {
    const void* defaultBackend;
    const void* members;
};

[[gnu::visibility("default")]] LogOfProcess logOfOneLibrary();
[[gnu::visibility("default")]] LogOfProcess logOfAnother();

/// Whether a call of this library is known to come from a sink that the other one's back end calls.
[[gnu::visibility("default")]] bool isOneLibraryInASink();
[[gnu::visibility("default")]] bool isAnotherInASink();

}  // namespace sluice::test
