// Any bytes as the head of a request to the live page: they are read or refused, and each part that
// is read lies in them.

#include "../../src/live/http.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::live;
    const std::string head(reinterpret_cast<const char*>(data), size);
    const Request request = parseRequest(head);
    std::vector<std::string_view> parts{request.path, request.query};
    for (const auto& [name, value] : request.fields) {
        parts.push_back(value);
    }
    for (const std::string_view part : parts) {
        const bool isInside =
            part.data() >= head.data() && part.data() + part.size() <= head.data() + head.size();
        if (!part.empty() && (!isInside || part.find('\n') != std::string_view::npos)) {
            std::abort();
        }
    }
    if (request.status == 0 && request.path.front() != '/') {
        std::abort();
    }
    (void)isOwnHost(request.field("host"), 80, {"robot.lan"});
    (void)isSameToken(request.query, "0123456789abcdef");
    return 0;
}
