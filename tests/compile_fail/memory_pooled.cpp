#include <sluice/memory/object_pool.hpp>
#include <sluice/memory/pooled.hpp>

struct Final final : sluice::Pooled<Final> {};
struct Virtual : sluice::Pooled<Virtual> {
    virtual ~Virtual() = default;
};
struct Open : sluice::Pooled<Open> {};

#if CASE == 0
void allThatTheOtherCasesNearlyAre() {
    delete new Final;
    delete new Virtual;
    sluice::ObjectPool<int> pool;
    sluice::PoolPtr<int> first = pool.make(1);
    sluice::PoolPtr<int> second = static_cast<sluice::PoolPtr<int>&&>(first);
}
#elif CASE == 1
// EXPECT: make Derived final, or its destructor virtual
void openClass() {
    delete new Open;
}
#elif CASE == 2
// EXPECT: an ObjectPool holds single objects
sluice::ObjectPool<int[3]> arrays;
#endif
