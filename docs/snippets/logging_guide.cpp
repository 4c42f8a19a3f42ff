// The code of docs/guide/logging.md.

#include <sluice/log.hpp>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

/// A folder of its own, which goes with the program.
const std::string folder = [] {
    char name[] = "/tmp/sluice_logging_guide_XXXXXX";
    return std::string(mkdtemp(name));
}();

std::string contents(const std::string& name) {
    std::ifstream file(folder + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
}

bool standInOrder(const std::string& name, const std::vector<std::string>& words) {
    const std::string text = contents(name);
    std::size_t at = 0;
    for (const std::string& word : words) {
        at = text.find(word, at);
        if (at == std::string::npos) {
            return false;
        }
    }
    return true;
}

bool firstLog() {
    const std::string file = folder + "/first.log";
    {
        auto log = spdlog::basic_logger_mt<sluice::log::async_factory>("first", file);
        log->info("{} of {} sensors answer", 7, 8);

        sluice::log::flush_wait();  // everything logged before is in the file
    }
    return contents("first.log").find("7 of 8 sensors answer") != std::string::npos;
}

/// Counts what reaches it.
struct CountingSink : spdlog::sinks::base_sink<std::mutex> {
    std::vector<std::string> texts;

private:
    void sink_it_(const spdlog::details::log_msg& message) override {
        texts.emplace_back(message.payload.data(), message.payload.size());
    }
    void flush_() override {}
};

class RadioSink final : public sluice::log::batch_sink {
public:
    explicit RadioSink(std::vector<std::string>& sent) : sent_(sent) {}

    void log(const spdlog::details::log_msg& message) override {
        formatter_->format(message, text_);
    }
    void log_batch(const spdlog::details::log_msg* first, std::size_t count,
                   std::size_t& taken) override {
        for (taken = 0; taken < count; ++taken) {
            if (should_log(first[taken].level)) {
                log(first[taken]);
            }
        }
    }
    void end_batch() override { flush(); }
    void flush() override {
        if (text_.size() != 0) {
            sent_.emplace_back(text_.data(), text_.size());  // many lines in one packet
            text_.clear();
        }
    }
    void set_pattern(const std::string& pattern) override {
        set_formatter(std::make_unique<sluice::log::pattern_formatter>(pattern));
    }
    void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
        formatter_ = std::move(formatter);  // before the first record
    }

private:
    std::vector<std::string>& sent_;
    std::unique_ptr<spdlog::formatter> formatter_ =
        std::make_unique<sluice::log::pattern_formatter>();
    spdlog::memory_buf_t text_;
};

}  // namespace

struct Point {
    int x;
    int y;
};

template <>
struct fmt::formatter<Point> : fmt::formatter<int> {
    template <class Context>
    auto format(const Point& point, Context& context) const {
        fmt::formatter<int>::format(point.x, context);
        *context.out() = ',';
        return fmt::formatter<int>::format(point.y, context);
    }
};

template <>
struct sluice::log::copy_when_logging<Point> : std::true_type {};

struct Route {
    std::string from;
    std::string to;
};

template <>
struct fmt::formatter<Route> : fmt::formatter<std::string_view> {
    template <class Context>
    auto format(const Route& route, Context& context) const {
        return fmt::formatter<std::string_view>::format(route.from + " to " + route.to, context);
    }
};

template <>
struct sluice::log::argument_codec<Route> {
    static std::size_t size(const Route& route) noexcept {
        return route.from.size() + 1 + route.to.size();
    }
    static void write(std::byte* to, std::size_t, const Route& route) noexcept {
        std::memcpy(to, route.from.c_str(), route.from.size() + 1);
        std::memcpy(to + route.from.size() + 1, route.to.data(), route.to.size());
    }
    static Route read(const std::byte* from, std::size_t size) {
        const std::string_view both(reinterpret_cast<const char*>(from), size);
        const std::size_t end = both.find('\0');
        return {std::string(both.substr(0, end)), std::string(both.substr(end + 1))};
    }
};

namespace {

bool deferredCalls() {
    const auto sink = std::make_shared<CountingSink>();
    const auto by = std::make_shared<sluice::log::backend>();
    const std::shared_ptr<spdlog::logger> log =
        std::make_shared<sluice::log::async_logger>("deferred", sink, by);

    SLUICE_LOG_INFO(log, "order {} of {}: {:.2f}", 17, "ACME", 99.5);
    SLUICE_LOG_WARN(log, "at {}, from {}", Point{3, 4}, Route{"Rome", "Oslo"});

    by->flush_wait();
    return sink->texts ==
           std::vector<std::string>{"order 17 of ACME: 99.50", "at 3,4, from Rome to Oslo"};
}

bool fields() {
    const std::string file = folder + "/fields.log";
    const auto sink = std::make_shared<sluice::log::file_sink_mt>(file);
    const auto by = std::make_shared<sluice::log::backend>();
    const auto log = std::make_shared<sluice::log::async_logger>("fields", sink, by);

    using sluice::log::kv;
    SLUICE_LOG_INFO(log, "order {} done", 17, kv("ms", 1.5), kv("user", "ann lee"));

    const sluice::log::scoped_context request(kv("request", 9));
    log->info("begins");  // begins request=9

    by->flush_wait();
    sink->set_formatter(std::make_unique<sluice::log::json_formatter>());
    log->info("in JSON");
    by->flush_wait();
    return standInOrder("fields.log", {"order 17 done ms=1.5 user=\"ann lee\"", "begins request=9",
                                       R"("message":"in JSON","context":{"request":9}})"});
}

bool limitedCalls() {
    const auto sink = std::make_shared<CountingSink>();
    const auto by = std::make_shared<sluice::log::backend>();
    const auto log = std::make_shared<sluice::log::async_logger>("limited", sink, by);
    for (int i = 0; i < 100; ++i) {
        SLUICE_LOG_ONCE(log, spdlog::level::warn, "the old port is in use");
        SLUICE_LOG_EVERY(50, log, spdlog::level::info, "{} packets", i);
        SLUICE_LOG_AT_MOST(5, log, spdlog::level::err, "packet {} is too long", i);  // a second
    }
    by->flush_wait();
    return sink->texts.size() >= 1 + 2 + 5;
}

bool existingLogger() {
    sluice::log::make_async(spdlog::default_logger());
    spdlog::info("from now on another thread writes this");
    return sluice::log::flush_wait();
}

bool policies() {
    const std::string file = folder + "/policies.log";
    using sluice::Overflow;
    const auto by = sluice::log::default_backend();
    const auto sink = std::make_shared<sluice::log::file_sink_mt>(file);
    sluice::log::async_logger calm("calm", sink, by, Overflow::block);
    sluice::log::async_logger newest("newest", sink, by, Overflow::dropOldest);
    sluice::log::async_logger oldest("oldest", sink, by, Overflow::reject);
    calm.info("waits for room");
    newest.info("takes the room of this thread's oldest records");
    oldest.info("is left out when there is no room");
    calm.info("comes last, as it was logged last");
    return sluice::log::flush_wait() &&
           standInOrder("policies.log", {"waits", "takes", "is left", "comes last"});
}

bool dropCallback() {
    std::atomic<std::uint64_t> alarm{0};
    sluice::log::backend_options options;
    options.on_drop = [&](const sluice::log::dropped_records& some) {
        if (some.level >= spdlog::level::err) {
            alarm.fetch_add(some.count);  // some.logger is the logger's name
        }
    };
    options.queue_size = 1;
    options.manual = true;
    const auto by = std::make_shared<sluice::log::backend>(options);
    sluice::log::async_logger log("core", std::make_shared<CountingSink>(), by,
                                  sluice::Overflow::reject);
    for (int i = 0; i < 3; ++i) {
        log.error("{}", i);
    }
    return by->shutdown() && alarm == 2;
}

bool flushing() {
    const auto by = sluice::log::default_backend();
    auto log = spdlog::get("first");
    log->flush_on(spdlog::level::err);  // the sinks are flushed behind such a record
    log->flush();                       // does not wait; the flush keeps its place in the order
    return by->flush_wait(10s);         // false when that was not enough
}

bool ownBackend() {
    sluice::log::backend_options options;
    options.queue_size = 1024;  // messages of each thread
    options.queue_bytes = 1 << 18;
    options.pacing = sluice::log::pacing_policy::nap;
    options.thread_name = "audit-log";
    options.on_thread_start = [] { std::printf("the writer begins\n"); };
    const auto by = std::make_shared<sluice::log::backend>(options);

    const auto sink =
        std::make_shared<spdlog::sinks::rotating_file_sink_mt>(folder + "/audit.log", 1 << 20, 3);
    const auto audit = std::make_shared<sluice::log::async_logger>("audit", sink, by);
    audit->info("somebody came in");

    return by->shutdown(10s);  // everything is written; also done by the destructor
}

bool manualBackend() {
    const auto sink = std::make_shared<CountingSink>();
    sluice::log::backend_options options;
    options.manual = true;
    const auto by = std::make_shared<sluice::log::backend>(options);
    const auto log = std::make_shared<sluice::log::async_logger>("loop", sink, by);
    for (int turn = 0; turn < 3; ++turn) {
        log->info("turn {}", turn);
        by->poll();  // writes on this thread; returns how many records
    }
    return sink->texts == std::vector<std::string>{"turn 0", "turn 1", "turn 2"};
}

bool fileSink() {
    auto core = sluice::log::file_logger_mt<sluice::log::async_factory>("core", folder + "/x.log");
    core->info("one write for all that is there");

    const auto rolling = std::make_shared<sluice::log::file_sink_mt>(folder + "/rolling.log");
    sluice::log::file_rotation rotation;
    rotation.max_bytes = 10 << 20;
    rotation.daily = true;  // at midnight
    rotation.after_rotation = [](const std::string& old) { std::puts(old.c_str()); };
    rotation.max_files = 10;                         // beside the one being written
    rotation.max_age = std::chrono::hours(24 * 30);  // since the last write
    rolling->set_rotation(rotation);
    return sluice::log::flush_wait();
}

bool newPattern(const std::string& file) {
    const auto log = std::make_shared<sluice::log::async_logger>(
        "new", std::make_shared<sluice::log::file_sink_mt>(file), sluice::log::default_backend());
    log->info("before");
    log->set_pattern("new: %v");
    log->info("after");  // the first line with the new pattern
    return sluice::log::flush_wait();
}

bool ownClock(const std::shared_ptr<sluice::log::file_sink_mt>& sink) {
    using Simulated = std::atomic<std::chrono::milliseconds>;
    const auto simulated = std::make_shared<Simulated>(std::chrono::milliseconds(0));
    sluice::log::backend_options options;
    options.clock = [simulated] {
        return std::chrono::system_clock::time_point(simulated->load());
    };
    const auto by = std::make_shared<sluice::log::backend>(options);

    sluice::log::file_rotation rotation;
    rotation.daily = true;
    rotation.clock = options.clock;
    sink->set_rotation(rotation);

    const auto log = std::make_shared<sluice::log::async_logger>("robot", sink, by);
    log->info("begins");  // 1970-01-01
    simulated->store(std::chrono::hours(48));
    log->info("goes on");  // 1970-01-03, in a new file
    return by->shutdown();
}

bool radioSink() {
    std::vector<std::string> sent;
    const auto by = std::make_shared<sluice::log::backend>();
    sluice::log::async_logger log("radio", std::make_shared<RadioSink>(sent), by);
    log.set_pattern("%v");
    log.info("one");
    log.info("two");
    by->flush_wait();
    std::string all;
    for (const std::string& packet : sent) {
        all += packet;
    }
    return all == "one\ntwo\n";
}

bool statistics() {
    const auto by = std::make_shared<sluice::log::backend>();
    const sluice::log::backend_statistics all = by->statistics();
    for (const sluice::log::thread_statistics& one : all.threads) {
        std::printf("%s: %llu logged, at most %zu waiting\n", one.thread_name.c_str(),
                    static_cast<unsigned long long>(one.logged), one.high_water_messages);
    }
    const std::size_t missing = by->overrun_counter() + by->discard_counter();
    by->reset_discard_counter();
    return missing == 0 && all.logged == all.written + all.dropped + all.messages;
}

bool crashes() {
    sluice::log::install_crash_handler(2s);  // at most so long does a crash wait for the back ends
    return true;
}

bool theEnd() {
    return sluice::log::shutdown(10s);
}

}  // namespace

int main() {
    const bool all[] = {
        firstLog(),
        deferredCalls(),
        fields(),
        limitedCalls(),
        existingLogger(),
        policies(),
        dropCallback(),
        flushing(),
        ownBackend(),
        manualBackend(),
        fileSink(),
        newPattern(folder + "/new.log"),
        ownClock(std::make_shared<sluice::log::file_sink_mt>(folder + "/robot.log")),
        radioSink(),
        statistics(),
        crashes(),
        theEnd()};
    std::filesystem::remove_all(folder);
    for (const bool good : all) {
        if (!good) {
            return 1;
        }
    }
    return 0;
}
