#include "http.hpp"

#include <sluice/base/blocked_signals.hpp>
#include <sluice/inspect/findings.hpp>
#include <sluice/inspect/flight_recorder.hpp>
#include <sluice/inspect/metrics_text.hpp>

#include <nlohmann/json.hpp>

#include <charconv>
#include <cstdio>
#include <deque>
#include <exception>
#include <thread>
#include <utility>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace sluice {
namespace live {

// Made from src/live/page when the library is built.
extern const unsigned char pageBytes[];
extern const std::size_t pageSize;
extern const char* const pagePolicy;

/// The JSON text of a snapshot, which docs/guide/inside.md describes.
std::string jsonOf(const Snapshot& snapshot, const std::vector<Finding>& found,
                   const LiveOptions& options, Clock::time_point begin) {
    using Json = nlohmann::ordered_json;
    const auto milliseconds = [](auto time) {
        return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
    };
    Json objects = Json::array();
    for (const ObjectReadings& object : snapshot.objects) {
        Json readings = Json::array();
        for (const Reading& each : object.readings) {
            readings.push_back({each.metric, each.value, each.type, each.priority, each.reason});
        }
        objects.push_back(
            {{"id", object.id}, {"name", object.name}, {"readings", std::move(readings)}});
    }
    Json families = Json::object();
    for (const Reading* const each : detail::metricsOf(snapshot)) {
        families[each->metric] = {{"counts", each->isCounter}, {"time", each->isTime()}};
    }
    Json flows = Json::array();
    for (const Flow& each : snapshot.flows) {
        flows.push_back({each.from, each.to, each.type});
    }
    Json texts = Json::array();
    for (const Finding& each : found) {
        texts.push_back({{"fault", each.isFault}, {"object", each.object}, {"text", each.text}});
    }
    const Json all{{"schema", 1},
                   {"title", options.title},
                   {"pid", ::getpid()},
                   {"at", milliseconds(snapshot.time - begin)},
                   {"time", milliseconds(std::chrono::system_clock::now().time_since_epoch())},
                   {"traces", options.recorder != nullptr},
                   {"findings", std::move(texts)},
                   {"families", std::move(families)},
                   {"objects", std::move(objects)},
                   {"flows", std::move(flows)}};
    return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace live

class LivePage::Server {
public:
    Server(const Inspector& inspector, LiveOptions options)
        : inspector_(inspector),
          options_(std::move(options)),
          http_(options_, [this](const live::Request& request) { return handle(request); }) {
        read();
        if (http_.listener().isPublic) {
            std::fprintf(stderr, "live page: other machines can reach %s; nothing is encrypted\n",
                         http_.listener().address.c_str());
        }
        const detail::BlockedSignals inherited;
        thread_ = std::thread([this] {
            const sched_param ordinary{};
            (void)::pthread_setschedparam(::pthread_self(), SCHED_OTHER, &ordinary);
            (void)::pthread_setname_np(::pthread_self(), "sluice-live");
            http_.run([this] {
                try {
                    read();
                    http_.publish(event());
                } catch (const std::exception&) {  // no memory: the last reading stays
                }
            });
        });
    }
    ~Server() {
        http_.stop();
        thread_.join();
    }

    [[nodiscard]] const live::HttpServer& http() const noexcept { return http_; }

private:
    using Response = live::Response;

    /// Reads the inspector. Findings compare with the reading of a second ago.
    void read() {
        if (trace_.use_count() == 1) {  // else it is still being sent
            trace_ = nullptr;
        }
        history_.push_back(inspector_.snapshot());
        while (history_.size() > 2 &&
               history_[1].time + std::chrono::seconds(1) <= history_.back().time) {
            history_.pop_front();
        }
        json_ = live::textOf(live::jsonOf(
            history_.back(), findings(history_.front(), history_.back()), options_, begin_));
    }
    [[nodiscard]] live::Text event() const { return live::textOf("data: " + *json_ + "\n\n"); }

    Response handle(const live::Request& request) {
        const live::Listener& listener = http_.listener();
        const bool isUnix = listener.unixPlace.sun_family != 0;  // no browser gets here
        const std::string_view host = request.field("host");
        const std::string_view origin = request.field("origin");
        if (!isUnix && !live::isOwnHost(host, listener.port, options_.hostNames)) {
            return live::refusal(403, "this host name is not one of LiveOptions::hostNames");
        }
        if ((!origin.empty() && origin != "http://" + std::string(host)) ||
            (request.field("sec-fetch-site") == "cross-site" && request.path != "/")) {
            return live::refusal(403, "pages of other sites may not read this one");
        }
        if (!options_.token.empty() && !hasToken(request.field("authorization"), "Bearer ") &&
            !hasToken(request.field("cookie"), cookieStart())) {
            return signIn(request);
        }
        if (request.path == "/") {
            return {200, "text/html; charset=utf-8", page_,
                    std::string("Content-Security-Policy: ") + live::pagePolicy + "\r\n"};
        }
        if (request.path == "/metrics") {
            return metrics(request.field("accept"));
        }
        if (request.path == "/snapshot") {
            return {200, "application/json", json_};
        }
        if (request.path == "/events") {
            return {200, "text/event-stream", event(), {}, true};
        }
        if (request.path == "/trace") {
            return trace(request.query);
        }
        return live::refusal(404, "there are /, /metrics, /snapshot, /events and /trace");
    }

    [[nodiscard]] Response metrics(std::string_view accepted) const {
        const bool isOpen = accepted.find("application/openmetrics-text") != std::string_view::npos;
        std::string text;
        writeMetrics(
            history_.back(), [&text](std::string_view part) { text += part; },
            isOpen ? MetricsFormat::openMetrics : MetricsFormat::classic);
        const char* const type = isOpen
                                     ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                     : "text/plain; version=0.0.4; charset=utf-8";
        return {200, type, live::textOf(std::move(text))};
    }

    Response trace(std::string_view query) {
        if (options_.recorder == nullptr) {
            return live::refusal(404, "traces are off: LiveOptions::recorder is null");
        }
        constexpr std::string_view field = "seconds=";
        const std::string_view number = query.substr(std::min(field.size(), query.size()));
        const char* const end = number.data() + number.size();
        int seconds = 0;
        if (query.substr(0, field.size()) != field ||
            std::from_chars(number.data(), end, seconds).ptr != end || seconds < 1 ||
            seconds > 600) {
            return live::refusal(400, "seconds is 1 to 600, as in /trace?seconds=5");
        }
        if (trace_ != nullptr) {
            return live::refusal(503, "one trace at a time: try again soon");
        }
        trace_ = live::textOf(options_.recorder->perfetto(std::chrono::seconds(seconds)));
        return {200, "application/octet-stream", trace_,
                "Content-Disposition: attachment; filename=\"last.perfetto-trace\"\r\n"};
    }

    /// Whether a list such as `a=1; b=2` has the token behind this start.
    [[nodiscard]] bool hasToken(std::string_view list, const std::string& start) const {
        const std::string text = "; " + std::string(list);
        const std::size_t at = text.find("; " + start);
        const std::string_view value =
            std::string_view(text).substr(at == std::string::npos ? 0 : at + 2 + start.size());
        return live::isSameToken(value.substr(0, value.find(';')), options_.token);
    }
    /// A cookie counts for all ports of its host, so its name has the port.
    [[nodiscard]] std::string cookieStart() const {
        return "sluice_token_" + std::to_string(http_.listener().port) + "=";
    }
    /// Turns the token of an address into a cookie, so that it is in no history.
    [[nodiscard]] Response signIn(const live::Request& request) const {
        if (request.path != "/" || !hasToken(request.query, "token=")) {
            return live::refusal(401,
                                 "a token is needed: /?token=... or Authorization: Bearer ...");
        }
        return {303, "text/plain; charset=utf-8", live::textOf("signed in\n"),
                "Location: /\r\nSet-Cookie: " + cookieStart() + options_.token +
                    "; HttpOnly; SameSite=Strict; Path=/\r\n"};
    }

    const Inspector& inspector_;
    const LiveOptions options_;
    const live::Clock::time_point begin_ = live::Clock::now();
    const live::Text page_ =
        live::textOf(std::string(reinterpret_cast<const char*>(live::pageBytes), live::pageSize));
    std::deque<Snapshot> history_;  ///< used by the thread, as json_
    live::Text json_;
    live::Text trace_;  ///< until it is sent and an interval begins
    live::HttpServer http_;
    std::thread thread_;
};

LivePage::LivePage(const Inspector& inspector, LiveOptions options)
    : server_(std::make_unique<Server>(inspector, std::move(options))) {
}
LivePage::~LivePage() = default;

std::string LivePage::address() const {
    return server_->http().listener().address;
}
LiveStatistics LivePage::statistics() const {
    return server_->http().statistics();
}

}  // namespace sluice
