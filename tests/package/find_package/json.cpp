#include <sluice/wire/json.hpp>

#include <string>

/// A text, if nlohmann-json is installed.
std::string textOfOne() {
    return sluice::wire::toJson(1);
}
