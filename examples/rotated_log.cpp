// A log file that logrotate renames while the program writes: watch_file() notices it, and no line
// is lost. The example renames the file itself, as logrotate does without `copytruncate`.

#include <sluice/log.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

namespace {

std::size_t linesOf(const std::string& name) {
    std::ifstream file(name);
    std::size_t lines = 0;
    for (std::string line; std::getline(file, line);) {
        ++lines;
    }
    return lines;
}

}  // namespace

int main() {
    char name[] = "/tmp/sluice_rotated_log_XXXXXX";
    const std::string folder = mkdtemp(name);
    const std::string file = folder + "/service.log";

    const auto sink = std::make_shared<sluice::log::file_sink_mt>(file);
    sink->watch_file();
    const auto log = std::make_shared<sluice::log::async_logger>("service", sink,
                                                                 sluice::log::default_backend());

    for (int i = 0; i < 3000; ++i) {
        log->info("request {}", i);
        if (i % 1000 == 500) {
            sluice::log::flush_wait();  // the old file is seen to be used; logrotate does not wait
            std::filesystem::rename(file, file + "." + std::to_string(i));
        }
    }
    sluice::log::flush_wait();

    std::size_t lines = 0;
    std::size_t files = 0;
    for (const auto& each : std::filesystem::directory_iterator(folder)) {
        lines += linesOf(each.path());
        ++files;
    }
    std::printf("%zu lines in %zu files\n", lines, files);
    std::filesystem::remove_all(folder);
    return lines == 3000 && files == 4 ? 0 : 1;
}
