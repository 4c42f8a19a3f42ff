#include <sluice/wire.hpp>

#include <array>
#include <string>

struct Reading {
    int sensor = 0;
    double celsius = 0;
    std::string place;
};

int main() {
    std::array<unsigned char, 256> storage;
    sluice::wire::Buffer buffer(storage.data(), storage.size());
    const bool fits = sluice::wire::encode(Reading{7, 21.5, "roof"}, buffer);

    Reading reading;  // another program, that got buffer.size() bytes
    const auto error = sluice::wire::decode(buffer.data(), buffer.size(), reading);
    return fits && error == sluice::wire::DecodeError::none && reading.place == "roof" ? 0 : 1;
}
