#pragma once

#include "conformance/close_suite.hpp"
#include "conformance/concurrent_suite.hpp"
#include "conformance/consumers_suite.hpp"
#include "conformance/exception_suite.hpp"
#include "conformance/lifetime_suite.hpp"
#include "conformance/order_suite.hpp"
#include "conformance/producers_suite.hpp"
#include "support/queue_shapes.hpp"

#include <gtest/gtest.h>

#if defined(__cpp_exceptions)
#define SLUICE_TEST_EXCEPTION_SUITE(Name, Shapes)                                                  \
    INSTANTIATE_TYPED_TEST_SUITE_P(Name, QueueExceptions, Shapes, ShapeNames)
#else
#define SLUICE_TEST_EXCEPTION_SUITE(Name, Shapes) static_assert(true)
#endif

/// The promises of every queue.
#define SLUICE_TEST_QUEUE_SUITES(Name, Shapes)                                                     \
    INSTANTIATE_TYPED_TEST_SUITE_P(Name, QueueOrder, Shapes, ShapeNames);                          \
    INSTANTIATE_TYPED_TEST_SUITE_P(Name, QueueLifetime, Shapes, ShapeNames);                       \
    INSTANTIATE_TYPED_TEST_SUITE_P(Name, QueueClose, Shapes, ShapeNames);                          \
    INSTANTIATE_TYPED_TEST_SUITE_P(Name, QueueThreads, Shapes, ShapeNames);                        \
    SLUICE_TEST_EXCEPTION_SUITE(Name, Shapes)

/// The same, and the promises of a queue with many producers.
#define SLUICE_TEST_SHARED_QUEUE_SUITES(Name, Shapes)                                              \
    SLUICE_TEST_QUEUE_SUITES(Name, Shapes);                                                        \
    INSTANTIATE_TYPED_TEST_SUITE_P(Name, QueueProducers, Shapes, ShapeNames)
