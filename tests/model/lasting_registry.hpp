#pragma once

#include "support/model/expectations.hpp"

#include <sluice/base/reader_registry.hpp>

#include <vector>

namespace sluice {

/// The checker has room for few atomics.
template <>
inline constexpr unsigned detail::readersInGroup<model::ModelPlatform> = 1;

namespace model {

/// Lasts until the program ends: a thread of the checker gives its slot back after the scenario.
inline BasicReaderRegistry<ModelPlatform>& lastingRegistry() {
    static std::vector<BasicReaderRegistry<ModelPlatform>*> all;
    all.push_back(new BasicReaderRegistry<ModelPlatform>);
    return *all.back();
}

inline Options options(Budget budget, bool ownThreads) {
    Options result = options(budget);
    result.ownThreads = ownThreads;
    return result;
}

}  // namespace model
}  // namespace sluice
