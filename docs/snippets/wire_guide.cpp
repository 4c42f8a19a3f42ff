// The code of docs/guide/wire.md.
#include <sluice/wire.hpp>
#include <sluice/wire/json.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

namespace {

struct Reading {
    std::int32_t sensor = 0;
    double celsius = 0;
    std::string place;
};

constexpr auto describe(sluice::wire::Type<Reading>) {
    using sluice::wire::field;
    return sluice::wire::fields(field("sensor", &Reading::sensor),
                                field("celsius", &Reading::celsius),
                                field("place", &Reading::place));
}

bool writesAndReads() {
    std::array<unsigned char, 256> storage;
    sluice::wire::Buffer buffer(storage.data(), storage.size());
    const bool fits = encode(Reading{7, 21.5, "roof"}, buffer);

    Reading reading;
    const auto error = sluice::wire::decode(buffer.data(), buffer.size(), reading);
    std::printf("%s: sensor %d\n", toString(error), static_cast<int>(reading.sensor));
    return fits && error == sluice::wire::DecodeError::none && reading.sensor == 7 &&
           reading.celsius == 21.5 && reading.place == "roof";
}

bool writesAndReadsJson() {
    const std::string text = sluice::wire::toJson(Reading{7, 21.5, "roof"});
    Reading reading;
    const auto error = sluice::wire::fromJson(text, reading);
    return error == sluice::wire::DecodeError::none && reading.celsius == 21.5 &&
           text == R"({"sensor":7,"celsius":21.5,"place":"roof"})";
}

}  // namespace

int main() {
    return writesAndReads() && writesAndReadsJson() ? 0 : 1;
}
