#include "streams.hpp"

#include <sluice/bridge/nats/detail/subject.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <stdexcept>
#include <string_view>

namespace sluice::nats::detail {
namespace {

using Context = std::unique_ptr<jsCtx, Destroy<jsCtx_Destroy>>;

Context contextOf(Link::Impl& link) {
    jsCtx* made = nullptr;
    require(natsConnection_JetStream(&made, link.connection, nullptr), "JetStream");
    return Context(made);
}

std::int64_t nanoseconds(std::chrono::milliseconds time) {
    return std::chrono::nanoseconds(time).count();
}

/// Returns the text as a part of a consumer's name, which must not contain dots. A dot becomes an
/// underscore, except if underscores are kept. Any other sign becomes its number. So different
/// texts stay different: two imports with one consumer would share its messages.
std::string inName(const std::string& text, std::string_view kept) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    const bool isDotUnderscore = kept.find('_') == std::string_view::npos;
    std::string name;
    for (const char c : text) {
        const auto number = static_cast<unsigned char>(c);
        if (std::isalnum(number) != 0 || kept.find(c) != std::string_view::npos) {
            name += c;
        } else if (c == '.' && isDotUnderscore) {
            name += '_';
        } else {
            name += '=';
            name += digits[number / 16U];
            name += digits[number % 16U];
        }
    }
    return name;
}

/// Returns the end of the name of each consumer of this subject and priority. The importer's name
/// is in front of it.
std::string nameEnding(Priority priority, const std::string& subject) {
    return "-" + inName(subject, "") + "-" + toString(priority);
}

}  // namespace

std::string streamOf(const DurableOptions& options, Priority priority) {
    return options.stream + (priority == Priority::high ? "_high" : "_rest");
}

void openStream(Link::Impl& link, const DurableOptions& options, Priority priority) {
    const std::string name = streamOf(options, priority);
    std::vector<std::string> subjects;
    if (priority == Priority::high) {
        subjects = {durableSubject(options.stream, Priority::high, ">")};
    } else {
        subjects = {durableSubject(options.stream, Priority::low, ">"),
                    durableSubject(options.stream, Priority::medium, ">")};
    }
    std::array<const char*, 2> texts{};
    std::transform(subjects.begin(), subjects.end(), texts.begin(),
                   [](const std::string& subject) { return subject.c_str(); });
    jsStreamConfig wanted;
    (void)jsStreamConfig_Init(&wanted);
    wanted.Name = name.c_str();
    wanted.Subjects = texts.data();
    wanted.SubjectsLen = static_cast<int>(subjects.size());
    // A message leaves the stream when each importer has acknowledged it. A full stream refuses
    // messages: that is the back-pressure. The stream has one limit only, because servers have
    // acknowledged too early if there were two.
    wanted.Retention = js_InterestPolicy;
    wanted.Discard = js_DiscardNew;
    wanted.MaxBytes = options.streamBytes;
    wanted.Storage = js_FileStorage;
    wanted.Replicas = options.replicas;
    wanted.Duplicates = nanoseconds(options.duplicateWindow);
    const BlockedSignals mask;
    const natsStatus status =
        js_AddStream(nullptr, contextOf(link).get(), &wanted, nullptr, nullptr);
    if (status == NATS_NO_RESPONDERS) {
        throw std::runtime_error("nats: stream " + name +
                                 ": the server has no JetStream; start it with -js");
    }
    require(status, "stream " + name);
}

OpenedConsumer openConsumer(Link::Impl& link, const DurableOptions& options, Priority priority,
                            const std::string& subject) {
    OpenedConsumer opened;
    opened.name = inName(options.name, "-_") + nameEnding(priority, subject);
    const std::string filter = durableSubject(options.stream, priority, subject);
    jsConsumerConfig wanted;
    (void)jsConsumerConfig_Init(&wanted);
    wanted.Durable = opened.name.c_str();
    wanted.FilterSubject = filter.c_str();
    wanted.DeliverPolicy = js_DeliverNew;
    wanted.AckPolicy = js_AckExplicit;
    // A killed server loses messages on their way and acknowledgements. If each of them waited for
    // `redeliverAfter`, some kills would use up MaxAckPending, and nothing would arrive until then.
    std::vector<std::int64_t> waits;
    // With shareWork, though, another program would then handle the messages of a slow handler.
    for (std::chrono::milliseconds wait(1000); wait < options.redeliverAfter && !options.shareWork;
         wait *= 2) {
        waits.push_back(nanoseconds(wait));
    }
    waits.push_back(nanoseconds(options.redeliverAfter));
    wanted.BackOff = waits.data();
    wanted.BackOffLen = static_cast<int>(waits.size());
    wanted.AckWait = waits.front();
    // Half of the ring of an import. Programs that share the work limit their orders themselves.
    wanted.MaxAckPending = options.shareWork ? 1 << 24 : options.pullBatch;
    wanted.InactiveThreshold = nanoseconds(options.forgetAfter);
    const BlockedSignals mask;
    jsConsumerInfo* info = nullptr;
    require(js_AddConsumer(&info, contextOf(link).get(), streamOf(options, priority).c_str(),
                           &wanted, nullptr, nullptr),
            "consumer " + opened.name);
    opened.created = info->Created;
    opened.orders = info->NumWaiting;
    jsConsumerInfo_Destroy(info);
    return opened;
}

std::optional<bool> hasImporter(Link::Impl& link, const DurableOptions& options,
                                const std::string& subject) {
    // Each import has a consumer for each priority, so one stream is enough.
    const std::string ending = nameEnding(Priority::high, subject);
    jsOptions wait;
    (void)jsOptions_Init(&wait);
    wait.Wait = 2000;  // milliseconds
    jsConsumerNamesList* made = nullptr;
    const BlockedSignals mask;
    const natsStatus status = js_ConsumerNames(
        &made, contextOf(link).get(), streamOf(options, Priority::high).c_str(), &wait, nullptr);
    if (status == NATS_NOT_FOUND) {
        return false;  // the stream has no consumer
    }
    if (status != NATS_OK) {
        return std::nullopt;
    }
    const std::unique_ptr<jsConsumerNamesList, Destroy<jsConsumerNamesList_Destroy>> names(made);
    return std::any_of(names->List, names->List + names->Count, [&](std::string_view name) {
        return name.size() >= ending.size() && name.substr(name.size() - ending.size()) == ending;
    });
}

}  // namespace sluice::nats::detail
