// Built twice, with another suffix for its functions.

#include "libraries/logging.hpp"

#include <sluice/log/functions.hpp>

namespace sluice::test {

LogOfProcess SLUICE_TEST_LOG() {
    return {log::default_backend().get(), &log::detail::BackendRegistry::instance()};
}

bool SLUICE_TEST_IN_SINK() {
    return log::detail::BatchScope::isInside();
}

}  // namespace sluice::test
