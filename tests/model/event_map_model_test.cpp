#include "support/model/expectations.hpp"

#include <sluice/base/spin_lock.hpp>
#include <sluice/event/detail/event_map.hpp>

#include "support/testing.hpp"

// The hash map of events as shipped, under the model checker.

namespace sluice::model {
namespace {

/// A key whose content is checked for data races.
class Key {
public:
    explicit Key(int number) : number_(number) {}
    int number(Site site = Site::here()) const { return number_.get(site); }

private:
    Plain<int> number_;
};

struct Hash {
    std::size_t operator()(const Key& key) const { return static_cast<std::size_t>(key.number()); }
};
struct Equal {
    bool operator()(const Key& a, const Key& b) const { return a.number() == b.number(); }
};
struct ModelThreading {
    using Platform = ModelPlatform;
    using Mutex = BasicSpinLock<ModelPlatform>;
};

/// Its first table has room for one entry, so the second key makes it grow.
using HashMap = detail::HashMap<Key, int, Hash, Equal, ModelThreading, 2>;
/// Its first table has room for two entries.
using RoomyHashMap = detail::HashMap<Key, int, Hash, Equal, ModelThreading, 4>;

template <class Map>
int sizeOf(const Map& map) {
    int size = 0;
    map.forEach([&size](const Key& key, int) { size += key.number() > 0 ? 1 : 0; });
    return size;
}

/// Two threads add the same keys in the opposite order.
template <class Map>
void eachKeyIsThereOnce() {
    Map map;
    int* one[2] = {};
    int* two[2] = {};
    parallel([&] { one[0] = &map.findOrAdd(Key(1)), one[1] = &map.findOrAdd(Key(2)); },
             [&] { two[1] = &map.findOrAdd(Key(2)), two[0] = &map.findOrAdd(Key(1)); });
    check(one[0] == two[0] && one[1] == two[1], "both threads got the same entries");
    check(sizeOf(map) == 2, "no key is there twice");
    check(map.find(Key(1)) == one[0] && map.find(Key(2)) == one[1], "and both are found");
}

/// A thread visits all entries twice while another one adds them.
template <class Map>
void eachIsVisited() {
    Map map;
    parallel([&] { (void)map.findOrAdd(Key(2)), (void)map.findOrAdd(Key(1)); },
             [&] {
                 const int before = sizeOf(map);
                 check(before <= 2 && sizeOf(map) >= before, "none goes away");
             });
}

/// A thread searches for a key that another thread adds.
template <class Map>
void whatIsAddedIsFound() {
    Map map;
    parallel([&] { (void)map.findOrAdd(Key(1)), (void)map.findOrAdd(Key(2)); },
             [&] {
                 const bool isSecondThere = map.find(Key(2)) != nullptr;
                 check(map.find(Key(1)) != nullptr || !isSecondThere, "it was added before");
             });
}

/// One thread searches while another one adds.
template <class Map>
void whatWasAddedBeforeIsFound() {
    Map map;
    int& one = map.findOrAdd(Key(1));
    parallel([&] { (void)map.findOrAdd(Key(2)); },
             [&] {
                 check(map.find(Key(1)) == &one, "it stays");
                 int* const two = map.find(Key(2));
                 check(two == nullptr || map.find(Key(2)) == two, "once found, it stays found");
             });
}

TEST(EventMapModelTest, KeysAreThereOnceAndStay) {
    EXPECT_TRUE(holds(eachKeyIsThereOnce<HashMap>, options({2, 2})));
    EXPECT_TRUE(holds(eachIsVisited<HashMap>, options({2, 2})));
    EXPECT_TRUE(holds(whatIsAddedIsFound<HashMap>, options({2, 2})));
    EXPECT_TRUE(holds(whatIsAddedIsFound<RoomyHashMap>, options({2, 2})));
    EXPECT_TRUE(holds(whatWasAddedBeforeIsFound<HashMap>, options({2, 2})));
}

TEST(EventMapModelTest, EveryOrderIsNeededButOne) {
    const Scenarios hashed{eachKeyIsThereOnce<HashMap>, whatWasAddedBeforeIsFound<HashMap>,
                           eachIsVisited<HashMap>,      eachIsVisited<RoomyHashMap>,
                           whatIsAddedIsFound<HashMap>, whatIsAddedIsFound<RoomyHashMap>};
    // The checker does not see the plain members of a table, which add() reads.
    EXPECT_TRUE(survive({"add: load acquire -> relaxed"},
                        ordersOf("event_map.hpp", options({2, 2}), hashed)));
}

}  // namespace
}  // namespace sluice::model
