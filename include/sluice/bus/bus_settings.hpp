#pragma once

#include <sluice/bus/bus_traits.hpp>

#include <array>
#include <chrono>
#include <cstddef>

namespace sluice {

/// The values of bus traits, for traits that the compiler checks by name.
///
///     struct Small : sluice::BusSettings<> {
///         constexpr Small() {
///             depth = 64;
///             service = sluice::PriorityOrder::weighted;
///         }
///     };
///     sluice::Bus<Types, sluice::BusTraitsFrom<Small>> bus;
///
/// A class derived from FullBusTraits may declare a member `depht`, and the bus ignores it. Here
/// `depht = 64` does not compile. Values that the constructor does not set are those of Base.
/// Types, such as Wait and Observer, come from Base too: derive from FullBusTraits to change them.
/// Costs nothing at run time.
///
/// Tests: tests/unit/bus/bus_settings_test.cpp, tests/compile_fail/bus_setup.cpp.
template <class Base = FullBusTraits>
struct BusSettings {
    using BaseTraits = Base;

    std::size_t depth = Base::depth;
    bool priorities = Base::priorities;
    std::array<std::size_t, priorityCount> rooms = Base::rooms;
    std::array<BusOverflow, priorityCount> overflow = Base::overflow;
    std::chrono::nanoseconds blockLimit = Base::blockLimit;
    PriorityOrder service = Base::service;
    std::array<std::size_t, priorityCount> weights = Base::weights;
    bool statistics = Base::statistics;
    bool ids = Base::ids;
    TimeStamp timeStamp = Base::timeStamp;
    bool senders = Base::senders;
    bool origins = Base::origins;
    bool traces = Base::traces;
    std::size_t maxMessageSize = Base::maxMessageSize;
    std::size_t maxHandlers = Base::maxHandlers;
    std::size_t handlerSize = Base::handlerSize;
    Producers producers = Base::producers;
};

/// Traits of a bus with the values that the constructor of Settings sets. See BusSettings.
template <class Settings>
struct BusTraitsFrom : Settings::BaseTraits {
    static constexpr std::size_t depth = Settings().depth;
    static constexpr bool priorities = Settings().priorities;
    static constexpr std::array<std::size_t, priorityCount> rooms = Settings().rooms;
    static constexpr std::array<BusOverflow, priorityCount> overflow = Settings().overflow;
    static constexpr std::chrono::nanoseconds blockLimit = Settings().blockLimit;
    static constexpr PriorityOrder service = Settings().service;
    static constexpr std::array<std::size_t, priorityCount> weights = Settings().weights;
    static constexpr bool statistics = Settings().statistics;
    static constexpr bool ids = Settings().ids;
    static constexpr TimeStamp timeStamp = Settings().timeStamp;
    static constexpr bool senders = Settings().senders;
    static constexpr bool origins = Settings().origins;
    static constexpr bool traces = Settings().traces;
    static constexpr std::size_t maxMessageSize = Settings().maxMessageSize;
    static constexpr std::size_t maxHandlers = Settings().maxHandlers;
    static constexpr std::size_t handlerSize = Settings().handlerSize;
    static constexpr Producers producers = Settings().producers;
};

}  // namespace sluice
