#ifndef NDEBUG
#define NDEBUG
#endif

#include <sluice/base/platform.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/bus.hpp>

namespace sluice::test {

template <class T>
inline char typeMark = 0;

const void* roleScopeWithoutAssertions() {
    return &typeMark<RoleCheck<StdPlatform>::Scope>;
}
const void* callScopeWithoutAssertions() {
    return &typeMark<CallCheck::Scope>;
}
void processWithoutAssertions(Bus<Messages<int>>& bus) {
    (void)bus.discard();
    (void)bus.processWith([](int) {});
    (void)bus.processWith([](int&) {});
}

}  // namespace sluice::test
