#include <sluice/wire.hpp>

#include <optional>

#if CASE == 0
struct Pair {
    int left;
    int right;
};
constexpr auto describe(sluice::wire::Type<Pair>) {
    using sluice::wire::field;
    return sluice::wire::fields(field("left", &Pair::left), field("r\xC3\xA9", &Pair::right));
}
bool use(sluice::wire::Buffer& buffer) {
    return sluice::wire::encode(Pair{1, 2}, buffer);
}
#elif CASE == 1
// EXPECT: describe\(\): two fields have the same name, or a name is not UTF-8
struct Twice {
    int left;
    int right;
};
constexpr auto describe(sluice::wire::Type<Twice>) {
    using sluice::wire::field;
    return sluice::wire::fields(field("left", &Twice::left), field("left", &Twice::right));
}
bool use(sluice::wire::Buffer& buffer) {
    return sluice::wire::encode(Twice{1, 2}, buffer);
}
#elif CASE == 3
// EXPECT: an optional must not hold an optional
struct Nested {
    std::optional<std::optional<int>> number;
};
constexpr auto describe(sluice::wire::Type<Nested>) {
    return sluice::wire::fields(sluice::wire::field("number", &Nested::number));
}
bool use(sluice::wire::Buffer& buffer) {
    return sluice::wire::encode(Nested{}, buffer);
}
#elif CASE == 4
// EXPECT ONLY: address of bit-field
struct Flags {
    unsigned low : 3;
    unsigned high : 5;
};
bool use(sluice::wire::Buffer& buffer) {
    return sluice::wire::encode(Flags{5, 9}, buffer);
}
#elif CASE == 5
// EXPECT: wire: write the enum's type, as in `enum Colour : int`
struct Painted {
    enum { red, green } colour;
};
auto use(const unsigned char* bytes, Painted& painted) {
    return sluice::wire::decode(bytes, 4, painted);
}
#endif
