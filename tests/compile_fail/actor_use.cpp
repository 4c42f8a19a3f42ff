#include <sluice/actor.hpp>
#include <sluice/bus.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>

struct Sample {
    int value;
};
struct Alarm {
    int code;
};
struct Unlisted {};

using Types = sluice::Messages<Sample, Alarm>;

struct Restarts : sluice::ActorTraits {
    static constexpr sluice::OnFailure onFailure = sluice::OnFailure::restart;
};

#if CASE == 0
struct Fine : sluice::ActiveObject<Fine, Types, Restarts> {
    void handle(const Sample&) {}
    void handle(const Alarm&, const Header&) {}
    void restart() {}
    void handlerFailed(std::exception_ptr) noexcept {}
};
bool allThatTheOtherCasesNearlyAre(Fine& fine) {
    return fine.start() && fine.post(Sample{1}) == sluice::SendResult::ok;
}
#elif CASE == 1
// EXPECT ONLY: for each type of its Messages: one is missing
struct Missing : sluice::ActiveObject<Missing, Types> {
    void handle(const Sample&) {}
};
bool use(Missing& object) {
    return object.start();
}
#elif CASE == 4
// EXPECT ONLY: with OnFailure::restart the class has a public .restart\(\).
struct NoRestart : sluice::ActiveObject<NoRestart, Types, Restarts> {
    void handle(const Sample&) {}
    void handle(const Alarm&) {}
};
bool use(NoRestart& object) {
    return object.start();
}
#elif CASE == 5
// EXPECT: this type is not among the Messages of the bus
struct Poster : sluice::ActiveObject<Poster, Types> {
    void handle(const Sample&) {}
    void handle(const Alarm&) {}
};
sluice::SendResult use(Poster& object) {
    return object.post(Unlisted{});
}
#elif CASE == 7
// EXPECT ONLY: .handlerFailed\(std::exception_ptr\). must be noexcept
struct Careless : sluice::ActiveObject<Careless, Types> {
    void handle(const Sample&) {}
    void handle(const Alarm&) {}
    void handlerFailed(std::exception_ptr) {}
};
bool use(Careless& object) {
    return object.start();
}
#elif CASE == 8
// EXPECT ONLY: this object has no timers: set maxTimers in its traits above 0
struct Untimed : sluice::ActiveObject<Untimed, Types> {
    void handle(const Sample&) {}
    void handle(const Alarm&) {}
};
bool use(Untimed& object) {
    return bool(object.postAfter(std::chrono::seconds(1), Sample{1}));
}
#elif CASE == 9
// EXPECT ONLY: a type with maxInFlight and Overflow::dropOldest do not go together
struct Dropping : sluice::ActorTraits {
    static constexpr std::array<sluice::Overflow, sluice::priorityCount> overflow{
        sluice::Overflow::reject, sluice::Overflow::dropOldest, sluice::Overflow::reject};
    template <class Message>
    static constexpr std::uint32_t maxInFlight = 3;
};
struct Limited : sluice::ActiveObject<Limited, Types, Dropping> {
    void handle(const Sample&) {}
    void handle(const Alarm&) {}
};
bool use(Limited& object) {
    return object.start();
}
#elif CASE == 10
// EXPECT ONLY: a type with maxInFlight and expiry do not go together
struct Expiring : sluice::ActorTraits {
    static constexpr bool expiry = true;
    template <class Message>
    static constexpr std::uint32_t maxInFlight = 3;
};
struct Limited : sluice::ActiveObject<Limited, Types, Expiring> {};
bool use(Limited& object) {
    return object.post(Sample{1}) == sluice::SendResult::ok;
}
#elif CASE == 11
// EXPECT ONLY: the traits of a PooledObject derive from PooledTraits
struct Owned : sluice::PooledObject<Owned, Types, sluice::ActorTraits> {
    void handle(const Sample&) {}
    void handle(const Alarm&) {}
};
bool use(Owned& object, sluice::Executor& executor) {
    return object.start(executor);
}
#elif CASE == 12
// EXPECT ONLY: a PooledObject has no ids, expiry, rooms, overflow policies
struct Drops : sluice::PooledTraits {
    static constexpr std::array<sluice::Overflow, sluice::priorityCount> overflow{
        sluice::Overflow::reject, sluice::Overflow::dropOldest, sluice::Overflow::reject};
};
struct Dropping : sluice::PooledObject<Dropping, Types, Drops> {
    void handle(const Sample&) {}
    void handle(const Alarm&) {}
};
bool use(Dropping& object, sluice::Executor& executor) {
    return object.start(executor);
}
#elif CASE == 13
// EXPECT ONLY: mayWait, Observer, handler tables, Wait or Pacing
struct Hastens : sluice::PooledTraits {
    static bool mayWait() noexcept { return false; }
};
struct Hastening : sluice::PooledObject<Hastening, Types, Hastens> {
    void handle(const Sample&) {}
    void handle(const Alarm&) {}
};
bool use(Hastening& object, sluice::Executor& executor) {
    return object.start(executor);
}
#endif
