#pragma once

#include <sluice/bridge/nats/options.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/wire/envelope.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace sluice::nats::detail {

/// Shortens the origin of an envelope to the 32 bits of a bus header. The result is never 0,
/// because 0 marks a message of this process.
inline std::uint32_t shortOrigin(std::uint64_t origin) noexcept {
    const auto folded = static_cast<std::uint32_t>(origin ^ (origin >> 32));
    return folded == 0 ? 1 : folded;
}

/// Returns the number of the type in the envelope: FNV-1a over the subject and the version.
inline std::uint32_t typeOf(const NatsRoute& route) noexcept {
    std::uint32_t hash = 2166136261U;
    const auto mix = [&hash](std::uint32_t value) { hash = (hash ^ value) * 16777619U; };
    for (const char c : route.subject) {
        mix(static_cast<unsigned char>(c));
    }
    mix(route.schemaVersion);
    return hash;
}

/// Like typeOf(), for the questions and answers of a route. The numbers differ from typeOf(), so
/// that importers refuse questions.
inline std::uint32_t questionTypeOf(NatsRoute route) {
    route.subject += '?';
    return typeOf(route);
}
inline std::uint32_t answerTypeOf(NatsRoute route) {
    route.subject += '!';
    return typeOf(route);
}

inline std::string durableSubject(const std::string& stream, Priority priority,
                                  const std::string& subject) {
    return stream + "." + toString(priority) + "." + subject;
}

/// Returns the subject of a route and priority on the server.
inline std::string subjectOf(const NatsRoute& route, const std::string& stream, Priority priority) {
    return route.profile == Profile::durable ? durableSubject(stream, priority, route.subject)
                                             : route.subject + "." + toString(priority);
}

/// Returns true if the text is ASCII without spaces, control characters and any of `signs`.
inline bool isPlain(const std::string& text, std::string_view signs) noexcept {
    return std::none_of(text.begin(), text.end(), [signs](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte <= ' ' || byte >= 0x7F || signs.find(c) != std::string_view::npos;
    });
}

/// Returns true if the text is a valid subject: tokens separated by dots, in ASCII, without
/// wildcards, spaces, control characters, quotation marks and backslashes. The server changes the
/// last two and non-ASCII characters when it reports a denied subject.
inline bool isSubject(const std::string& subject) noexcept {
    return !subject.empty() && subject.front() != '.' && subject.back() != '.' &&
           subject.find("..") == std::string::npos && isPlain(subject, "*>\"\\");
}

/// The maximum length of a subject in bytes. libnats truncates the report of a denied subject, so a
/// longer subject could not be recognised.
inline constexpr std::size_t longestSubject = 200;

/// Returns a random number. It is never 0.
inline std::uint64_t drawNumber() {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device() | 1U;
}

}  // namespace sluice::nats::detail
