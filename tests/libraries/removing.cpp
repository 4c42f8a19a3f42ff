#include "libraries/parts.hpp"

namespace sluice::test {

bool removeInAnother(List& list, const List::Handle& handle) {
    return list.remove(handle);
}

}  // namespace sluice::test
