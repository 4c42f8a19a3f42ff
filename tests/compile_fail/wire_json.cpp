#include <sluice/wire/json.hpp>

#include <string>

template <class T>
struct Only {
    T value;
};

#if CASE == 0
std::string use(const Only<double>& message) {
    return sluice::wire::toJson(message);
}
#elif CASE == 1
// EXPECT: this type is no known type and no aggregate
std::string use(const Only<__int128>& message) {
    return sluice::wire::toJson(message);
}
#endif
