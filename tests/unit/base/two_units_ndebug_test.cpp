#ifndef NDEBUG
#define NDEBUG
#endif

#include <sluice/base/platform.hpp>
#include <sluice/base/role_check.hpp>

namespace sluice::test {

template <class T>
inline char typeMark = 0;

const void* roleScopeWithoutAssertions() {
    return &typeMark<RoleCheck<StdPlatform>::Scope>;
}
const void* callScopeWithoutAssertions() {
    return &typeMark<CallCheck::Scope>;
}

}  // namespace sluice::test
