// Any bytes as a recording: each message that is read lies in the content of its file.

#include "../../src/record/mcap.hpp"

#include <cstdlib>

#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::detail::mcap;
    static const int file = ::memfd_create("recording", 0);
    if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) {
        std::abort();
    }
    try {
        Reader reader("/proc/self/fd/" + std::to_string(file));
        for (Message message; reader.next(message);) {
            (void)std::string(message.data);  // its bytes can be read
            (void)reader.channels().at(message.channel);
        }
    } catch (const std::runtime_error&) {  // no recording
    }
    return 0;
}
