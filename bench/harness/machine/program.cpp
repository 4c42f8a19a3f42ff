#include "harness/machine/program.hpp"

#include "harness/machine/interruption.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <stdexcept>

namespace sluice::bench {

namespace {

std::vector<char*> pointersTo(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

std::vector<std::string> environmentWith(const std::string& preload) {
    std::vector<std::string> words;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        words.emplace_back(*entry);
    }
    if (!preload.empty()) {
        words.push_back("LD_PRELOAD=" + preload);
    }
    return words;
}

std::string readAll(int file) {
    std::string text;
    std::array<char, 65536> piece{};
    for (ssize_t count = 0; (count = read(file, piece.data(), piece.size())) > 0;) {
        text.append(piece.data(), std::size_t(count));
    }
    return text;
}

}  // namespace

std::string ownPath() {
    std::array<char, PATH_MAX> path{};
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    return {path.data(), std::size_t(length < 0 ? 0 : length)};
}

std::string outputOfOwnProgram(const std::vector<std::string>& arguments,
                               const std::string& preload) {
    std::vector<std::string> words = {ownPath()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> variables = environmentWith(preload);
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) {
        throw std::runtime_error("no pipe to be had");
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    const sigset_t blocked = interruptions();
    posix_spawnattr_setsigmask(&attributes, &blocked);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t child = 0;
    const int failure = posix_spawn(&child, words.front().c_str(), &actions, &attributes,
                                    pointersTo(words).data(), pointersTo(variables).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string output;
    int status = 0;
    if (failure == 0) {
        output = readAll(ends[0]);
        waitpid(child, &status, 0);
    }
    close(ends[0]);
    if (failure != 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        throw std::runtime_error("a process for some of the rounds has failed");
    }
    return output;
}

}  // namespace sluice::bench
