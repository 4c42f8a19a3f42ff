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

/// Never 0: that would be a message of this process.
inline std::uint32_t shortOrigin(std::uint64_t origin) noexcept {
    const auto folded = static_cast<std::uint32_t>(origin ^ (origin >> 32));
    return folded == 0 ? 1 : folded;
}

/// The type in the envelope: one number for a subject and a version.
inline std::uint32_t typeOf(const NatsRoute& route) noexcept {
    std::uint32_t hash = 2166136261U;
    const auto mix = [&hash](std::uint32_t value) { hash = (hash ^ value) * 16777619U; };
    for (const char c : route.subject) {
        mix(static_cast<unsigned char>(c));
    }
    mix(route.schemaVersion);
    return hash;
}

inline std::string subjectOf(const NatsRoute& route, const std::string& stream, Priority priority) {
    return route.profile == Profile::durable
               ? stream + "." + toString(priority) + "." + route.subject
               : route.subject + "." + toString(priority);
}

/// Whether the text has no space, no control character, and none of these signs.
inline bool isPlain(const std::string& text, std::string_view signs) noexcept {
    return std::none_of(text.begin(), text.end(), [signs](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte <= ' ' || byte == 0x7F || signs.find(c) != std::string_view::npos;
    });
}

/// Whether the subject is one of a message: tokens with dots between them, no wildcard, no space,
/// no control character, and no sign that the server changes when it names a subject that it
/// denies.
inline bool isSubject(const std::string& subject) noexcept {
    return !subject.empty() && subject.front() != '.' && subject.back() != '.' &&
           subject.find("..") == std::string::npos && isPlain(subject, "*>\"\\");
}

/// libnats cuts the text in which the server names a denied subject.
inline constexpr std::size_t longestSubject = 200;

inline std::uint64_t drawNumber() {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device() | 1U;
}

}  // namespace sluice::nats::detail
