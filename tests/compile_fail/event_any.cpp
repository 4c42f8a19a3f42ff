#include <sluice/eventpp/any_data.hpp>
#include <sluice/eventpp/any_id.hpp>
#include <sluice/eventpp/any_value_storage.hpp>

#include <memory>
#include <string>
#include <utility>

using sluice::AnyData;
using sluice::AnyHashableId;

struct Opaque {};

template <class T>
struct LengthDigester {
    std::size_t operator()(const T&) const { return sizeof(T); }
};

void use() {
#if CASE == 0
    const AnyData<16> data = std::make_unique<int>(1);
    AnyHashableId id = std::string("open");
    id = 3;
    const sluice::AnyId<LengthDigester, sluice::AnyValueStorage> exact = std::string("open");
    (void)id.getDigest();
#elif CASE == 1
    // EXPECT: AnyData: the object must be copyable, or movable and passed as an rvalue
    const auto owner = std::make_unique<int>(1);
    const AnyData<16> data = owner;
#elif CASE == 2
    // EXPECT: AnyData: MaxSize must be at least 1
    const AnyData<0> data = 1;
#elif CASE == 3
    // EXPECT: use of deleted function.*AnyData
    AnyData<16> data = 1;
    AnyData<16> copy = data;
#elif CASE == 4
    // EXPECT: maxSizeOf: name at least one type
    const AnyData<sluice::maxSizeOf<>()> data = 1;
#elif CASE == 5
    // EXPECT: AnyId: the Digester cannot digest this type; specialise it, or pass a std::string
    const AnyHashableId id = "open";
#elif CASE == 6
    // EXPECT: AnyId: the Digester cannot digest this type
    const AnyHashableId id = Opaque();
#elif CASE == 7
    // EXPECT: AnyValueStorage: the type needs operator ==
    const sluice::AnyId<LengthDigester, sluice::AnyValueStorage> id = Opaque();
#endif
}
