#pragma once

// Headers that nearly every test includes, parsed once. The headers under test do not rely on them:
// each is also compiled alone (all_verify_interface_header_sets).

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>
