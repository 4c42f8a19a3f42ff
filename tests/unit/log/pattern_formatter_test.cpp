#include <sluice/log/pattern_formatter.hpp>

#include "support/testing.hpp"
#include <spdlog/details/log_msg.h>
#include <spdlog/pattern_formatter.h>

#include <ctime>
#include <random>

namespace {

using spdlog::details::log_msg;
using std::chrono::nanoseconds;
using Time = spdlog::log_clock::time_point;

Time at(std::int64_t ns) {
    return Time(std::chrono::duration_cast<Time::duration>(nanoseconds(ns)));
}

/// What a formatter makes of a message, behind what is there already, and what it says of colors.
struct Line {
    std::string text;
    std::size_t colorBegin;
    std::size_t colorEnd;

    bool operator==(const Line& other) const {
        return text == other.text && colorBegin == other.colorBegin && colorEnd == other.colorEnd;
    }
};

std::ostream& operator<<(std::ostream& out, const Line& line) {
    return out << '\'' << line.text << "' " << line.colorBegin << ".." << line.colorEnd;
}

Line lineOf(spdlog::formatter& formatter, const log_msg& message) {
    message.color_range_start = message.color_range_end = 0;
    spdlog::memory_buf_t to;
    const std::string_view before = "before";
    to.append(before.data(), before.data() + before.size());
    formatter.format(message, to);
    return {{to.data(), to.size()}, message.color_range_start, message.color_range_end};
}

/// A formatter of each library for one pattern.
class Pair {
public:
    explicit Pair(const std::string& pattern,
                  spdlog::pattern_time_type type = spdlog::pattern_time_type::local,
                  const std::string& eol = "\n")
        : theirs_(pattern, type, eol),
          ours_(sluice::log::pattern_formatter(pattern, type, eol).clone()) {}

    void expectSame(const log_msg& message) {
        EXPECT_EQ(lineOf(*ours_, message), lineOf(theirs_, message));
    }

private:
    spdlog::pattern_formatter theirs_;
    std::unique_ptr<spdlog::formatter> ours_;
};

/// For local times that change twice a year.
void livesInBerlin() {
#if !defined(_WIN32)                   // where spdlog takes the zone of the machine
    setenv("TZ", "Europe/Berlin", 1);  // NOLINT(concurrency-mt-unsafe): there is no other thread
    tzset();
#endif
}

/// A message from 2026, of a Sunday.
log_msg example(std::string_view text = "Hello", std::string_view name = "core") {
    log_msg message(at(1'795'316'463'012'345'678), spdlog::source_loc{"/a/file.cpp", 42, "run"},
                    spdlog::string_view_t(name.data(), name.size()), spdlog::level::warn,
                    spdlog::string_view_t(text.data(), text.size()));
    message.thread_id = 4711;
    return message;
}

// Q is a flag of no version, and & is that of the thread's context. `+` is four times as likely.
constexpr std::string_view allFlags = "+++nlLtvaAbhBcCYDxmdHIMSefFEprRTXzP^$@sg#!%+Q&] ";

TEST(LogPatternFormatter, WritesADocumentedPatternAsText) {
    sluice::log::pattern_formatter formatter("[%Y-%m-%d %H:%M:%S.%e] [%n] [%l] %v",
                                             spdlog::pattern_time_type::utc);
    EXPECT_EQ(lineOf(formatter, example()).text,
              "before[2026-11-22 03:01:03.012] [core] [warning] Hello\n");
}

TEST(LogPatternFormatter, TimesGoAnyWay) {
    Pair pair("%c %E.%F %f %e");
    log_msg message = example();
    const std::int64_t second = 1'000'000'000;
    for (const std::int64_t ns :
         {std::int64_t{0}, second - 1, second, 5 * second, 5 * second + 1, 5 * second - 1,
          -std::int64_t{1}, -second, -second - 1, std::int64_t{1}, 1'795'316'463 * second,
          1'795'316'463 * second + 999'999'999, 1'795'316'462 * second, -second / 2, second / 2}) {
#if defined(_WIN32)
        if (ns < 0) {
            continue;  // spdlog reads beyond its names of days
        }
#endif
        message.time = at(ns);
        pair.expectSame(message);
    }
}

TEST(LogPatternFormatter, ElapsedTimeIsCountedFromTheLineBefore) {
    sluice::log::pattern_formatter ours("%u %i %o %O|%9u", spdlog::pattern_time_type::utc);
    log_msg message = example();
    (void)lineOf(ours, message);
    message.time += std::chrono::milliseconds(2500);
    EXPECT_EQ(lineOf(ours, message).text, "before2500000000 2500000 2500 2|2500000000\n");
}

// Ten seconds after a line spdlog looks at it again, which may be in the middle of a second.
TEST(LogPatternFormatter, TheTimeZoneChangesWhenSpdlogSeesIt) {
    livesInBerlin();
    const std::int64_t summerTime = 1'774'746'000;  // begins on 29 March 2026
    Pair pair("%T%z");
    log_msg message = example();
    for (const double second : {-0.5, 9.2, 9.8, 10.1}) {
        message.time = at(summerTime * 1'000'000'000 + static_cast<std::int64_t>(second * 1e9));
        pair.expectSame(message);
    }
}

/// Patterns and messages that nobody has thought of.
class Chance {
public:
    explicit Chance(std::uint32_t seed) : random_(seed) {}

    std::size_t below(std::size_t limit) { return random_() % limit; }

    std::string pattern() {
        std::string pattern;
        for (std::size_t i = below(12); i != 0; --i) {
            pattern += below(3) == 0 ? text(20) : flag();
        }
        return pattern + (below(8) == 0 ? "%" : "");
    }

    std::string text(std::size_t most) {
        using namespace std::string_view_literals;
        constexpr std::string_view characters = "ab:. []-=!09\n\0%v"sv;
        std::string text;
        for (std::size_t i = below(below(8) == 0 ? 20 * most : most); i != 0; --i) {
            text += characters[below(characters.size())];
        }
        return text;
    }

    Time::duration lengthBelow(std::size_t limit) {
        return std::chrono::duration_cast<Time::duration>(nanoseconds(below(limit)));
    }
    Time time(Time last) {
        switch (below(5)) {
        case 0:
            return last;
        case 1:
            return last + lengthBelow(2'000'000'000);
        case 2:
            return last - lengthBelow(2'000'000'000);
        case 3:
            return at(static_cast<std::int64_t>(random_() % 4'000'000'000) * 1'000'000'000);
        default:
            return last + lengthBelow(1000);
        }
    }

private:
    std::string flag() {
        std::string flag = "%";
        if (below(4) == 0) {
            flag += std::string(below(2), below(2) == 0 ? '-' : '=');
            flag += std::to_string(below(20));
            flag += std::string(below(2), '!');
        }
        return flag + allFlags[below(allFlags.size())];
    }

    std::mt19937_64 random_;
};

TEST(LogPatternFormatter, RandomPatternsMessagesAndTimesGiveTheSameLines) {
    livesInBerlin();
    for (std::uint32_t seed = 0; seed < 1500; ++seed) {
        Chance chance(seed);
        const std::string pattern = chance.pattern();
        SCOPED_TRACE("seed " + std::to_string(seed) + ": '" + pattern + "'");
        Pair pair(pattern,
                  chance.below(2) == 0 ? spdlog::pattern_time_type::local
                                       : spdlog::pattern_time_type::utc,
                  chance.text(5));
        Time time = example().time;
        for (int line = 0; line < 30; ++line) {
            const std::string text = chance.text(60);
            const std::string name = chance.below(4) == 0 ? "" : chance.text(25);
            log_msg message = example(text, name);
            message.level = static_cast<spdlog::level::level_enum>(chance.below(7));
            message.thread_id = chance.below(2) == 0 ? chance.below(10) : ~chance.below(100);
            message.time = time = chance.time(time);
            if (chance.below(2) == 0) {
                message.source = {};
            }
            pair.expectSame(message);
        }
        ASSERT_FALSE(HasFailure());
    }
}

}  // namespace
