#pragma once

/// \file
/// The version of Sluice. docs/versions.md explains the three version numbers.
///
///     #if SLUICE_VERSION < 200
///     #error "this program needs Sluice 0.2"
///     #endif

#define SLUICE_VERSION_MAJOR 0
#define SLUICE_VERSION_MINOR 1
#define SLUICE_VERSION_PATCH 0

/// 10000 * major + 100 * minor + patch.
#define SLUICE_VERSION                                                                             \
    (SLUICE_VERSION_MAJOR * 10000 + SLUICE_VERSION_MINOR * 100 + SLUICE_VERSION_PATCH)
