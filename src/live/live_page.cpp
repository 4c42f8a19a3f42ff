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
    Json families = Json::object();
    for (const ObjectReadings& object : snapshot.objects) {
        Json readings = Json::array();
        for (const Reading& each : object.readings) {
            readings.push_back(
                {each.family->name, each.value, each.type, each.priority, each.reason});
        }
        objects.push_back(
            {{"id", object.id}, {"name", object.name}, {"readings", std::move(readings)}});
    }
    for (const MetricFamily* const each : detail::familiesOf(snapshot)) {
        families[std::string(each->name)] = {{"label", each->label},
                                             {"counts", each->kind == MetricFamily::Kind::counter},
                                             {"time", each->isTime}};
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
            const std::string text = "live page: other machines can reach " +
                                     http_.listener().address +
                                     "; the token and the page travel without encryption";
            options_.notice ? options_.notice(text)
                            : void(std::fprintf(stderr, "%s\n", text.c_str()));
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
        const bool isUnix = !listener.unixPath.empty();  // no browser gets here
        const std::string_view host = request.field("host");
        const std::string_view origin = request.field("origin");
        if (!isUnix && !live::isOwnHost(host, listener.port, options_.hostNames)) {
            return live::refusal(403, "this host name is not one of LiveOptions::hostNames");
        }
        if ((!origin.empty() && origin != "http://" + std::string(host)) ||
            (request.field("sec-fetch-site") == "cross-site" && request.path != "/")) {
            return live::refusal(403, "pages of other sites may not read this one");
        }
        if (!options_.token.empty() && !hasToken(request)) {
            return signIn(request);
        }
        if (request.path == "/") {
            return {200, "text/html; charset=utf-8", page(),
                    std::string("Content-Security-Policy: ") + live::pagePolicy + "\r\n", false};
        }
        if (request.path == "/metrics") {
            const bool isOpen = request.field("accept").find("application/openmetrics-text") !=
                                std::string_view::npos;
            const MetricsFormat format =
                isOpen ? MetricsFormat::openMetrics : MetricsFormat::classic;
            std::string text;
            writeMetrics(
                history_.back(), [&text](std::string_view part) { text += part; }, format);
            return {200, contentType(format), live::textOf(std::move(text)), {}, false};
        }
        if (request.path == "/snapshot") {
            return {200, "application/json", json_, {}, false};
        }
        if (request.path == "/events") {
            return {200, "text/event-stream", event(), {}, true};
        }
        if (request.path == "/trace") {
            return trace(request.query);
        }
        return live::refusal(404, "there are /, /metrics, /snapshot, /events and /trace");
    }

    Response trace(std::string_view query) {
        if (options_.recorder == nullptr) {
            return live::refusal(404, "traces are off: LiveOptions::recorder is null");
        }
        constexpr std::string_view field = "seconds=";
        const bool isField = query.substr(0, field.size()) == field;
        const std::string_view number = query.substr(isField ? field.size() : query.size());
        int seconds = 0;
        const char* const end = number.data() + number.size();
        if (std::from_chars(number.data(), end, seconds).ptr != end || seconds < 1 ||
            seconds > 600) {
            return live::refusal(400, "seconds is 1 to 600, as in /trace?seconds=5");
        }
        if (trace_ != nullptr) {
            return live::refusal(503, "one trace at a time: try again soon");
        }
        trace_ = live::textOf(options_.recorder->perfetto(std::chrono::seconds(seconds)));
        return {200, "application/octet-stream", trace_,
                "Content-Disposition: attachment; filename=\"last.perfetto-trace\"\r\n", false};
    }

    static live::Text page() {
        static const live::Text text = live::textOf(
            std::string(reinterpret_cast<const char*>(live::pageBytes), live::pageSize));
        return text;
    }

    [[nodiscard]] bool hasToken(const live::Request& request) const {
        constexpr std::string_view bearer = "Bearer ";
        const std::string cookie = "; " + cookieStart();
        const std::string_view authorization = request.field("authorization");
        if (authorization.substr(0, bearer.size()) == bearer) {
            return live::isSameToken(authorization.substr(bearer.size()), options_.token);
        }
        const std::string cookies = "; " + std::string(request.field("cookie"));
        const std::size_t at = cookies.find(cookie);
        if (at == std::string::npos) {
            return false;
        }
        const std::string_view value = std::string_view(cookies).substr(at + cookie.size());
        return live::isSameToken(value.substr(0, value.find(';')), options_.token);
    }
    /// A cookie counts for all ports of its host, so its name has the port.
    [[nodiscard]] std::string cookieStart() const {
        return "sluice_token_" + std::to_string(http_.listener().port) + "=";
    }
    /// Turns the token of an address into a cookie, so that it is in no history.
    [[nodiscard]] Response signIn(const live::Request& request) const {
        constexpr std::string_view field = "token=";
        if (request.path != "/" || request.query.substr(0, field.size()) != field ||
            !live::isSameToken(request.query.substr(field.size()), options_.token)) {
            return live::refusal(401,
                                 "a token is needed: /?token=... or Authorization: Bearer ...");
        }
        return {303, "text/plain; charset=utf-8", live::textOf("signed in\n"),
                "Location: /\r\nSet-Cookie: " + cookieStart() + options_.token +
                    "; HttpOnly; SameSite=Strict; Path=/\r\n",
                false};
    }

    const Inspector& inspector_;
    const LiveOptions options_;
    const live::Clock::time_point begin_ = live::Clock::now();
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
