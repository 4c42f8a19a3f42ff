// Any bytes as the head of a request to the live page: they are read or refused, and each part that
// is read lies in them.

#include "../../src/live/http.cpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::live;
    const std::string head(reinterpret_cast<const char*>(data), size);
    const Parsed parsed = parseRequest(head);
    const Request& request = parsed.request;
    for (const std::string_view part : {request.path, request.query, request.host, request.origin,
                                        request.authorization, request.cookie, request.accept}) {
        const bool isInside =
            part.data() >= head.data() && part.data() + part.size() <= head.data() + head.size();
        if (!part.empty() && (!isInside || part.find('\n') != std::string_view::npos)) {
            std::abort();
        }
    }
    if (parsed.status == 0 && request.path.front() != '/') {
        std::abort();
    }
    (void)isOwnHost(request.host, 80, {"robot.lan"});
    (void)isSameToken(request.query, "0123456789abcdef");
    return 0;
}
