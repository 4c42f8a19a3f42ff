// Random bytes for wire::decodeEnvelope(): as they are, and with a checksum that fits, as nearly no
// random one does. Each envelope that it accepts must come back the same after encodeEnvelope().
#include <sluice/wire/envelope.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

using namespace sluice;

void read(const std::vector<unsigned char>& message) {
    wire::Envelope envelope;
    if (wire::decodeEnvelope(message.data(), message.size(), envelope) !=
        wire::EnvelopeError::none) {
        return;
    }
    std::vector<unsigned char> again = message;
    wire::encodeEnvelope(envelope, again.data(), envelope.length);
    if (again != message) {
        std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
    std::vector<unsigned char> message(bytes, bytes + size);
    read(message);
    if (size >= wire::envelopeSize) {
        const std::uint32_t checksum =
            wire::detail::envelopeChecksum(message.data(), size - wire::envelopeSize);
        wire::detail::putLittle<4>(message.data() + 60, checksum);
        read(message);
    }
    return 0;
}
