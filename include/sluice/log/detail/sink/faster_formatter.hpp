#pragma once

/// \file
/// fasterFormatter: takes our pattern_formatter for spdlog's own one.
///
/// Whatever sets a pattern in spdlog (a logger, the registry, each factory) gives every sink a
/// spdlog::pattern_formatter that is already made, and that does not tell its pattern. So it is
/// read from where it lies. Access is not checked in an explicit instantiation, which is how the
/// language lets one name a private member from outside; the members are the same from 1.10 to
/// 1.15, and later versions keep their own formatter until somebody has looked.
///
/// Tests: tests/unit/log/file_sink_test.cpp.

#include <sluice/log/pattern_formatter.hpp>

#include <spdlog/common.h>
#include <spdlog/formatter.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/version.h>

#include <memory>
#include <string>

namespace sluice::log::detail {

#if SPDLOG_VERSION < 11600

struct PatternMember {
    using Type = std::string spdlog::pattern_formatter::*;
    friend Type memberOf(PatternMember);
};
struct EolMember {
    using Type = std::string spdlog::pattern_formatter::*;
    friend Type memberOf(EolMember);
};
struct TimeTypeMember {
    using Type = spdlog::pattern_time_type spdlog::pattern_formatter::*;
    friend Type memberOf(TimeTypeMember);
};
struct CustomFlagsMember {
    using Type = spdlog::pattern_formatter::custom_flags spdlog::pattern_formatter::*;
    friend Type memberOf(CustomFlagsMember);
};

/// Defines memberOf() for a member that cannot be named elsewhere.
template <class Member, typename Member::Type Pointer>
struct MemberAccess {
    friend typename Member::Type memberOf(Member) { return Pointer; }
};
extern template struct MemberAccess<PatternMember, &spdlog::pattern_formatter::pattern_>;
extern template struct MemberAccess<EolMember, &spdlog::pattern_formatter::eol_>;
extern template struct MemberAccess<TimeTypeMember, &spdlog::pattern_formatter::pattern_time_type_>;
extern template struct MemberAccess<CustomFlagsMember,
                                    &spdlog::pattern_formatter::custom_handlers_>;

/// One that writes the same; it is `formatter` itself when that is none of spdlog's or has flags of
/// its user's.
inline std::unique_ptr<spdlog::formatter>
fasterFormatter(std::unique_ptr<spdlog::formatter> formatter) {
    const auto* const known = dynamic_cast<const spdlog::pattern_formatter*>(formatter.get());
    if (known == nullptr || !(known->*memberOf(CustomFlagsMember{})).empty()) {
        return formatter;
    }
    return std::make_unique<pattern_formatter>(known->*memberOf(PatternMember{}),
                                               known->*memberOf(TimeTypeMember{}),
                                               known->*memberOf(EolMember{}));
}

#else

inline std::unique_ptr<spdlog::formatter>
fasterFormatter(std::unique_ptr<spdlog::formatter> formatter) {
    return formatter;
}

#endif

}  // namespace sluice::log::detail
