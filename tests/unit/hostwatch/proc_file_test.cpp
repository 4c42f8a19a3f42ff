#include "hostwatch/proc_file.hpp"

#include "proc_tree.hpp"

#include <gtest/gtest.h>

#include <string>

#include <sys/stat.h>

namespace hostwatch {
namespace {

TEST(ProcFile, ReadsTheFileAnewEachTime) {
    const test::ProcTree tree;
    tree.write("file", "first");
    ProcFile file(tree.path("file"));
    EXPECT_FALSE(file.read());
    EXPECT_EQ(file.text(), "first");
    tree.write("file", "2nd");
    EXPECT_FALSE(file.read());
    EXPECT_EQ(file.text(), "2nd");
    tree.write("file", "");
    EXPECT_FALSE(file.read());
    EXPECT_EQ(file.text(), "");
}

TEST(ProcFile, NamesTheReasonWhenTheFileIsMissing) {
    const test::ProcTree tree;
    ProcFile file(tree.path("absent"));
    const Problem problem = file.read();
    EXPECT_NE(problem.text.find("No such file"), std::string::npos) << problem.text;
    EXPECT_EQ(file.text(), "");
}

TEST(ProcFile, ForgetsTheTextBeforeAfterAProblem) {
    const test::ProcTree tree;
    tree.write("file", "text");
    ProcFile file(tree.path("file"));
    EXPECT_FALSE(file.read());
    std::filesystem::remove(tree.path("file"));
    EXPECT_TRUE(file.read());
    EXPECT_EQ(file.text(), "");
}

TEST(ProcFile, RefusesWhatIsNotARegularFile) {
    const test::ProcTree tree;
    EXPECT_TRUE(ProcFile(tree.root()).read());
    ASSERT_EQ(::mkfifo(tree.path("pipe").c_str(), 0600), 0);
    EXPECT_TRUE(ProcFile(tree.path("pipe")).read()) << "and does not wait for a writer";
    EXPECT_TRUE(ProcFile("/dev/zero").read());
}

TEST(ProcFile, ReadsUpToTheLimitAndNoFurther) {
    const test::ProcTree tree;
    tree.write("file", std::string(ProcFile::sizeLimit - 1, 'x'));
    ProcFile file(tree.path("file"));
    EXPECT_FALSE(file.read());
    EXPECT_EQ(file.text().size(), ProcFile::sizeLimit - 1);

    tree.write("file", std::string(ProcFile::sizeLimit, 'x'));
    EXPECT_FALSE(file.read());
    EXPECT_EQ(file.text().size(), ProcFile::sizeLimit);

    tree.write("file", std::string(ProcFile::sizeLimit + 1, 'x'));
    const Problem problem = file.read();
    EXPECT_NE(problem.text.find("1048576"), std::string::npos) << problem.text;
    EXPECT_EQ(file.text(), "");
}

}  // namespace
}  // namespace hostwatch
