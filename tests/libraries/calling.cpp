#include "libraries/parts.hpp"

namespace sluice::test {

void callInOneLibrary(const List& list) {
    list();
}

}  // namespace sluice::test
