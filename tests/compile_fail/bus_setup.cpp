#include <sluice/base/single_core_platform.hpp>
#include <sluice/bus.hpp>
#include <sluice/wait/spin_waits.hpp>

#include <array>
#include <chrono>
#include <cstddef>

struct Small {
    int value;
};
struct Large {
    unsigned char bytes[65];
};
struct SmallTraits : sluice::FullBusTraits {
    static constexpr std::size_t depth = 2;
    static constexpr std::size_t maxMessageSize = 64;
    static constexpr std::size_t maxHandlers = 1;
};
struct ThrowingDestructor {
    ~ThrowingDestructor() noexcept(false) {}
};
using sluice::Bus;
using sluice::Messages;
using Shares = std::array<std::size_t, sluice::priorityCount>;

#if CASE == 0
struct OwnRooms : SmallTraits {
    static constexpr Shares rooms{1, 0, 100};
};
struct Watcher : sluice::BusObserver {
    void pressureChanged(sluice::Pressure, sluice::Pressure) noexcept {}
};
struct Watched : SmallTraits {
    using Observer = Watcher;
    using Platform = sluice::SingleCorePlatform<sluice::ThisProgramRunsOnOneCore>;
    using Wait = sluice::BasicBusySpin<Platform>;
};
struct Overloaded : sluice::BusObserver {
    void pressureChanged(sluice::Pressure, sluice::Pressure) noexcept {}
    void pressureChanged(sluice::Pressure) noexcept {}
};
struct WatchedByOverloads : SmallTraits {
    using Observer = Overloaded;
};
sluice::SendResult allThatTheOtherCasesNearlyAre() {
    Bus<Messages<Small>, SmallTraits> smallest;
    Bus<Messages<Small>, Watched> watched;
    (void)watched.publish(Small{1});
    Bus<Messages<Small>, WatchedByOverloads> watchedByOverloads;
    (void)watchedByOverloads.publish(Small{1});
    Bus<Messages<Small, Large>, OwnRooms>* large = nullptr;
    return large != nullptr ? smallest.publish(Small{1}) : smallest.publish(Small{2});
}
#elif CASE == 2
// EXPECT ONLY: a message is larger than maxMessageSize of the traits
Bus<Messages<Small, Large>, SmallTraits> bus;
#elif CASE == 3
// EXPECT ONLY: each type of message is listed once
Bus<Messages<Small, Large, Small>> bus;
#elif CASE == 6
// EXPECT: a bus needs at least one type of message
Bus<Messages<>> bus;
#elif CASE == 7
// EXPECT ONLY: the types of messages are listed without const and volatile
Bus<Messages<const Small>> bus;
#elif CASE == 8
// EXPECT ONLY: messages are objects: no references, functions or arrays
Bus<Messages<int[4]>> bus;
#elif CASE == 9
// EXPECT ONLY: destroying a message must not throw
Bus<Messages<ThrowingDestructor>> bus;
#elif CASE == 10
// EXPECT ONLY: a bus without priorities is a bare ring, which cannot drop messages
struct DroppingRing : sluice::BareBusTraits {
    static constexpr std::array<sluice::Overflow, sluice::priorityCount> overflow{
        sluice::Overflow::dropOldest, sluice::Overflow::dropOldest, sluice::Overflow::dropOldest};
};
Bus<Messages<Small>, DroppingRing> bus;
#elif CASE == 11
// EXPECT ONLY: the Observer of the traits hides a member of BusObserver
struct Deafened : sluice::BusObserver {
    void pressureChanged(sluice::Pressure) noexcept {}
};
struct Unheard : SmallTraits {
    using Observer = Deafened;
};
Bus<Messages<Small>, Unheard> bus;
#elif CASE == 13
// EXPECT ONLY: the Observer of the traits must derive from BusObserver
struct Deafened {
    void pressureChanged(sluice::Pressure, sluice::Pressure) noexcept {}
};
struct Unobserved : SmallTraits {
    using Observer = Deafened;
};
Bus<Messages<Small>, Unobserved> bus;
#elif CASE == 14
// EXPECT ONLY: dropOldest needs Producers::many
struct OnePublisher : SmallTraits {
    static constexpr sluice::Producers producers = sluice::Producers::one;
    static constexpr std::array<sluice::Overflow, sluice::priorityCount> overflow{
        sluice::Overflow::dropOldest, sluice::Overflow::reject, sluice::Overflow::reject};
};
Bus<Messages<Small>, OnePublisher> bus;
#elif CASE == 15
// EXPECT ONLY: SingleCorePlatform is unsafe with more than one processor
struct Unasked : SmallTraits {
    using Platform = sluice::SingleCorePlatform<int>;
};
Bus<Messages<Small>, Unasked> bus;
#elif CASE == 16
// EXPECT ONLY: dropOldest moves a message out of the bus before its handler runs
struct Fixed {
    Fixed() = default;
    Fixed(const Fixed&) = delete;
};
struct Dropping : SmallTraits {
    static constexpr std::array<sluice::Overflow, sluice::priorityCount> overflow{
        sluice::Overflow::dropOldest, sluice::Overflow::reject, sluice::Overflow::reject};
};
Bus<Messages<Fixed>, Dropping> bus;
#endif
