#include "libraries/version.hpp"

namespace {
sluice::test::VersionList::Handle handle;
}

extern "C" [[gnu::visibility("default")]] void startVersion(sluice::test::VersionList& list) {
    handle = list.append([](int& version) { version = SLUICE_TEST_VERSION; });
}

extern "C" [[gnu::visibility("default")]] void stopVersion(sluice::test::VersionList& list) {
    (void)list.removeAndWait(handle);
}
