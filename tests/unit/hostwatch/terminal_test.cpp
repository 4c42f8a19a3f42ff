#include "hostwatch/terminal.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace hostwatch {
namespace {

/// A stream into memory in the place of a terminal.
class Screen {
public:
    Screen() : file_(::open_memstream(&text_, &size_)) {}
    ~Screen() {
        std::fclose(file_);
        std::free(text_);
    }
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    std::FILE* file() const { return file_; }

    /// The text that was written since the last call.
    std::string takeText() {
        std::fflush(file_);
        const std::string all(text_, size_);
        std::string fresh = all.substr(taken_);
        taken_ = all.size();
        return fresh;
    }

private:
    char* text_ = nullptr;
    std::size_t size_ = 0;
    std::size_t taken_ = 0;
    std::FILE* file_;
};

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) {
        ++count;
    }
    return count;
}

constexpr Terminal::Size size{80, 24};

TEST(Terminal, HidesTheCursorAndGivesItBack) {
    Screen screen;
    {
        const Terminal terminal(screen.file());
        EXPECT_NE(screen.takeText().find("\x1b[?25l"), std::string::npos);
    }
    const std::string end = screen.takeText();
    EXPECT_NE(end.find("\x1b[?25h"), std::string::npos);
    EXPECT_NE(end.find("\x1b[?7h"), std::string::npos);
}

TEST(Terminal, DrawsTheNextFrameOverTheOneBefore) {
    Screen screen;
    Terminal terminal(screen.file());
    screen.takeText();
    terminal.draw({{"one"}, {"two"}, {"three"}}, size);
    const std::string first = screen.takeText();
    EXPECT_EQ(first.find("\x1b[3A"), std::string::npos);
    EXPECT_EQ(occurrences(first, "\r\n"), 3U);
    terminal.draw({{"four"}}, size);
    const std::string second = screen.takeText();
    EXPECT_EQ(second.find("\x1b[3A"), 0U);
    EXPECT_NE(second.find("\x1b[J"), std::string::npos) << "the longer frame must go";
    terminal.draw({{"five"}}, size);
    EXPECT_EQ(screen.takeText().find("\x1b[1A"), 0U);
}

TEST(Terminal, CutsToTheSizeThereIs) {
    Screen screen;
    Terminal terminal(screen.file());
    screen.takeText();
    terminal.draw({{"abcdefgh"}, {"title678", Line::Style::title}, {"third"}, {"fourth"}}, {6, 3});
    const std::string frame = screen.takeText();
    EXPECT_NE(frame.find("abcdef"), std::string::npos);
    EXPECT_EQ(frame.find('g'), std::string::npos);
    EXPECT_NE(frame.find("title6"), std::string::npos);
    EXPECT_EQ(frame.find("title67"), std::string::npos);
    EXPECT_EQ(frame.find("third"), std::string::npos) << "the cursor needs the last row";
}

TEST(Terminal, TakesARowOfItsOwnOnly) {
    Screen screen;
    Terminal terminal(screen.file());
    terminal.draw({{"a"}, {"b"}}, {1, 1});
    EXPECT_EQ(occurrences(screen.takeText(), "\r\n"), 0U);
}

TEST(Terminal, StartsOnAClearScreenAfterAChangeOfSize) {
    Screen screen;
    Terminal terminal(screen.file());
    terminal.draw({{"one"}}, size);
    screen.takeText();
    terminal.draw({{"one"}}, {60, 24});
    EXPECT_EQ(screen.takeText().find("\x1b[H\x1b[2J"), 0U);
    terminal.draw({{"one"}}, {60, 24});
    EXPECT_EQ(screen.takeText().find("\x1b[1A"), 0U);
}

TEST(Terminal, PutsTheStyleAroundTheText) {
    Screen screen;
    Terminal terminal(screen.file());
    screen.takeText();
    terminal.draw({{"cpu all", Line::Style::plain, 3}, {"warn", Line::Style::warning}}, size);
    const std::string frame = screen.takeText();
    EXPECT_NE(frame.find("\x1b[1mcpu\x1b[0m all"), std::string::npos);
    EXPECT_NE(frame.find("\x1b[33mwarn\x1b[0m"), std::string::npos);
}

TEST(Terminal, IsNotUsableWhenItIsNone) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
    ASSERT_NE(file, nullptr);
    EXPECT_FALSE(Terminal::isUsable(file.get()));
}

TEST(Terminal, AssumesAUsualSizeWhenItIsNotTold) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
    ASSERT_NE(file, nullptr);
    const Terminal terminal(file.get());
    EXPECT_EQ(terminal.size().columns, 80U);
    EXPECT_EQ(terminal.size().rows, 24U);
}

}  // namespace
}  // namespace hostwatch
