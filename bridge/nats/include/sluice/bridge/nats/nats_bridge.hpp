#pragma once

#include <sluice/bridge/nats/client.hpp>
#include <sluice/bridge/nats/detail/coding.hpp>
#include <sluice/bridge/nats/detail/importer.hpp>
#include <sluice/bridge/nats/detail/link.hpp>
#include <sluice/bridge/nats/detail/outbox.hpp>
#include <sluice/bridge/nats/detail/pull.hpp>
#include <sluice/bridge/nats/detail/requests.hpp>
#include <sluice/bridge/nats/detail/responder.hpp>
#include <sluice/bridge/nats/detail/subject.hpp>
#include <sluice/bridge/nats/detail/trouble_reporter.hpp>
#include <sluice/bridge/nats/options.hpp>
#include <sluice/bridge/nats/statistics.hpp>
#include <sluice/bus/bus.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/wait/park.hpp>
#include <sluice/wire/buffer.hpp>
#include <sluice/wire/codec.hpp>
#include <sluice/wire/envelope.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice::nats {
namespace detail {

struct ExportContext {
    Link& rest;
    Link& high;
    Outbox* outbox;  ///< null: the bridge has no durable profile
    Counters& counters;
    const std::string& stream;
    std::uint64_t origin;
    std::uint32_t incarnation;
    std::size_t maxMessageSize;
    BridgeObserver* observer;  ///< may be null
};

/// The last sequence of each priority. All exporters of a route share the sequences, because
/// importers and the server distinguish messages of an origin and type only by sequence.
using RouteSequences = std::array<std::atomic<std::uint64_t>, priorityCount>;

/// Sends the messages of one type on one route.
///
/// Threads: in the core profile, only one thread at a time may send on a route. In the durable
/// profile, any thread may send.
template <class T>
class Exporter {
public:
    Exporter(const ExportContext& context, const NatsRoute& route, RouteSequences& sequences)
        : context_(context),
          sequences_(sequences),
          type_(typeOf(route)),
          profile_(route.profile),
          reporter_(context.observer, "nats: " + route.subject + ": ") {
        for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
            subjects_[indexOf(priority)] = subjectOf(route, context.stream, priority);
        }
        if (profile_ == Profile::core) {
            bytes_.resize(context.maxMessageSize);
        } else if (context.observer != nullptr && context.outbox->lacksImporter(route.subject)) {
            reporter_.report(
                {"no importer has started yet; if no other consumer wants the messages, "
                 "the server drops them"});
        }
    }

    using Deadline = Park::Clock::time_point;

    /// Sends a message and counts the result. In the durable profile, waits until the deadline, if
    /// any, while the outbox is full.
    OutletResult send(const T& message, Priority priority, std::uint64_t trace,
                      std::optional<Deadline> deadline = std::nullopt,
                      Confirmation&& confirmation = {}) noexcept {
        const OutletResult result =
            profile_ == Profile::durable
                ? sendDurably(message, priority, trace, deadline, std::move(confirmation))
                : sendCore(message, priority, trace);
        Counters& counters = context_.counters;
        const bool isDurable = profile_ == Profile::durable;
        if (result == OutletResult::tooLarge) {
            reporter_.report(
                {"a message is larger than maxMessageSize or than the server accepts"});
        } else if (result == OutletResult::congested) {
            reporter_.report({"the server is slow or not connected, and "
                              "messages are refused"});
        } else if (result == OutletResult::unencodable) {
            reporter_.report({"the codec refuses a message; perhaps a text is not UTF-8"});
        }
        add(result == OutletResult::ok                       ? counters.sent
            : result == OutletResult::notOnDisk              ? counters.notOnDisk
            : result == OutletResult::congested && isDurable ? counters.congested
                                                             : counters.unsent);
        return result;
    }

    /// Sends a message, and returns a future for the server's answer.
    std::future<OutletResult> confirm(const T& message, Priority priority, std::uint64_t trace) {
        if (profile_ == Profile::core) {
            throw std::runtime_error("nats: " + subjects_[indexOf(priority)] +
                                     ": confirm needs the durable profile, and the route has core");
        }
        Confirmation confirmation(new std::promise<OutletResult>);
        std::future<OutletResult> future = confirmation->get_future();
        const OutletResult result =
            send(message, priority, trace, std::nullopt, std::move(confirmation));
        if (result != OutletResult::ok) {
            answer(confirmation, result);
        }
        return future;
    }

    /// Skips one sequence for a message that was not sent, so that importers see a gap.
    void skip(Priority priority) noexcept { (void)nextSequence(priority); }

private:
    static std::size_t indexOf(Priority priority) noexcept {
        return static_cast<std::size_t>(priority);
    }

    OutletResult sendDurably(const T& message, Priority priority, std::uint64_t trace,
                             std::optional<Deadline> deadline,
                             Confirmation&& confirmation) noexcept {
        Outbox::Reservation reservation;
        Outbox& outbox = *context_.outbox;
        const OutletResult room = deadline ? outbox.reserveUntil(*deadline, priority, reservation)
                                           : outbox.reserve(priority, reservation);
        if (room != OutletResult::ok) {
            return room;
        }
        std::size_t body = 0;
        const OutletResult form =
            encodeBody(message, reservation.data(), reservation.capacity(), body);
        if (form != OutletResult::ok) {
            return form;
        }
        if (!outbox.fits(wire::envelopeSize + body, priority)) {
            return OutletResult::tooLarge;
        }
        const std::uint64_t sequence = nextSequence(priority);
        encodeHead(reservation.data(), body, priority, trace, sequence);
        return outbox.commit(std::move(reservation), wire::envelopeSize + body,
                             {priority, subjects_[indexOf(priority)].c_str(), context_.origin,
                              context_.incarnation, type_, sequence},
                             std::move(confirmation));
    }

    OutletResult sendCore(const T& message, Priority priority, std::uint64_t trace) noexcept {
        std::size_t body = 0;
        const OutletResult form = encodeBody(message, bytes_.data(), bytes_.size(), body);
        if (form != OutletResult::ok) {
            return form;
        }
        Link& link = priority == Priority::high ? context_.high : context_.rest;
        // Relaxed: in the core profile, only one thread at a time sends.
        std::atomic<std::uint64_t>& last = sequences_[indexOf(priority)];
        const std::uint64_t sequence = last.load(std::memory_order_relaxed) + 1;
        encodeHead(bytes_.data(), body, priority, trace, sequence);
        const std::size_t size = wire::envelopeSize + body;
        if (!link.publish(subjects_[indexOf(priority)].c_str(), bytes_.data(), size)) {
            return link.state() == LinkState::closed ? OutletResult::closed
                   : size > link.maxPayload()        ? OutletResult::tooLarge
                                                     : OutletResult::congested;
        }
        last.store(sequence, std::memory_order_relaxed);
        return OutletResult::ok;
    }

    void encodeHead(unsigned char* bytes, std::size_t body, Priority priority, std::uint64_t trace,
                    std::uint64_t sequence) const noexcept {
        wire::Envelope envelope;
        envelope.traceId = trace;
        envelope.schemaHash = schema_;
        envelope.type = type_;
        envelope.priority = static_cast<std::uint8_t>(priority);
        envelope.origin = context_.origin;
        envelope.incarnation = context_.incarnation;
        envelope.sequence = sequence;
        wire::encodeEnvelope(envelope, bytes, static_cast<std::uint32_t>(body));
    }

    std::uint64_t nextSequence(Priority priority) noexcept {
        // Relaxed: it orders nothing.
        return sequences_[indexOf(priority)].fetch_add(1, std::memory_order_relaxed) + 1;
    }

    const ExportContext context_;
    RouteSequences& sequences_;
    const std::uint32_t type_;
    const Profile profile_;
    const std::uint64_t schema_ = wire::Codec<T>::schemaHash();
    std::array<std::string, priorityCount> subjects_;
    std::vector<unsigned char> bytes_;  ///< core profile: buffer for the envelope and the message
    TroubleReporter reporter_;
};

}  // namespace detail

/// Sends messages of one type to other processes, and returns a result for each. The bridge owns
/// the connection, so it must outlive the outlet.
///
///     auto outlet = bridge.outlet<Alarm>({"fleet.alarm"});
///     const OutletResult result = outlet.send(Alarm{7}, Priority::high);
template <class T>
class Outlet {
public:
    /// Sends a message without publishing it to the local bus.
    ///
    /// Threads: in the durable profile, any thread may call send(). In the core profile, only one
    /// thread at a time may send on a route, including the bus' consumer if the route is exported.
    OutletResult send(const T& message, Priority priority = Priority::medium,
                      std::uint64_t trace = 0) noexcept {
        return exporter_.send(message, priority, trace);
    }

    /// Like send(), but waits while the outbox is full, for at most `timeout` or until close(). The
    /// core profile has no outbox, so sendFor() does not wait.
    ///
    ///     outlet.sendFor(5s, Alarm{7}, Priority::high);
    template <class Rep, class Period>
    OutletResult sendFor(std::chrono::duration<Rep, Period> timeout, const T& message,
                         Priority priority = Priority::medium, std::uint64_t trace = 0) noexcept {
        return exporter_.send(message, priority, trace, deadlineAfter<Park::Clock>(timeout));
    }

    /// Like send(), for durable routes. The future is ready when the server has stored the message
    /// and all earlier messages of its priority, when the bridge is closed, or immediately if the
    /// message is refused. Throws std::bad_alloc, or std::runtime_error with one line if the route
    /// has the core profile.
    ///
    ///     const bool isStored = outlet.confirm(Alarm{7}).get() == OutletResult::ok;
    [[nodiscard]] std::future<OutletResult>
    confirm(const T& message, Priority priority = Priority::medium, std::uint64_t trace = 0) {
        return exporter_.confirm(message, priority, trace);
    }

private:
    template <class AnyBus>
    friend class NatsBridge;
    explicit Outlet(detail::Exporter<T>& exporter) : exporter_(exporter) {}
    detail::Exporter<T>& exporter_;
};

/// Carries messages of chosen types between a bus and the buses of other processes, through a NATS
/// server.
///
///     sluice::nats::NatsBridge bridge(bus, {"nats://robot-7:4222"});
///     bridge.importType<Order>({"fleet.order"});
///     bridge.exportType<Position>({"fleet.position"});
///
/// Each route has a profile:
///
/// - core: at most once (core NATS). An importer counts gaps, which are messages missing between
///   the first and the last message received from one run of a sender.
/// - durable: at least once (JetStream). The outbox keeps an accepted message until the server has
///   stored it, and the server keeps it until the bus of each importer has accepted it. Importers
///   drop duplicates. Without outboxFolder, messages in the outbox are lost if the process ends
///   without close(). The server drops a route's messages until its first importer has started;
///   exportType() and outlet() check this once, and report it to the observer.
///
/// Threads: any thread may call statistics() and state(). The other functions are for the owner,
/// one thread at a time. The bus' consumer never waits for the server. Each of the two links has
/// one thread that sends core messages, and one that publishes the messages of all durable imports.
/// Each core import has one thread per priority. With Overflow::block, that thread waits while the
/// bus is full, and close() waits for the thread, so another thread must consume the bus.
///
/// Loops: an imported message has an origin, and no bridge exports it again. A bridge drops
/// messages of its own origin. Two bridges of one bus need the same `origin` in their options.
///
/// Priority: messages of high priority have their own link and stream. The subject contains the
/// priority: fleet.order.high, or `<stream>.high.fleet.order`.
///
/// Performance: the bus' consumer allocates nothing per message. An importer allocates once per run
/// of a sender, up to maxOrigins.
///
/// Lifetime: the bus outlives the bridge. The destructor closes without waiting for the server.
template <class AnyBus>
class NatsBridge {
    using Header = typename AnyBus::Header;
    static_assert(
        Header::hasOrigin,
        "a bridge needs Traits::origins, to distinguish imported messages from local ones");
    static constexpr bool canNoteHandled = Header::hasPriority && Header::hasSender;

public:
    /// Connects to the server. Throws std::runtime_error with one line if no server can be reached,
    /// if the server refuses, or if a setting is out of range. With startWithoutServer, it is no
    /// error if no server accepts the connection.
    NatsBridge(AnyBus& bus, const NatsOptions& given)
        : bus_(bus), options_(detail::checked(given)), rest_(given, "rest"), high_(given, "high") {
        if (!options_.durable.stream.empty()) {
            outbox_ = std::make_unique<detail::Outbox>(rest_, high_, options_);
            restPull_ = std::make_unique<detail::Pull>(rest_, options_.durable);
            highPull_ = std::make_unique<detail::Pull>(high_, options_.durable);
        }
        // originOf() requires the folder's lock, which the outbox has acquired.
        if (options_.origin == 0) {
            options_.origin = detail::originOf(options_.durable.outboxFolder);
        }
    }
    NatsBridge(const NatsBridge&) = delete;
    NatsBridge& operator=(const NatsBridge&) = delete;
    ~NatsBridge() { (void)close(std::chrono::milliseconds(0)); }

    /// Sends each message of type T that the bus handles after this call. A message that cannot be
    /// sent is counted, and importers see a gap. Throws std::runtime_error with one line if the
    /// route is invalid, or if the bus has reached its maximum number of handlers.
    template <class T>
    void exportType(const NatsRoute& route) {
        detail::Exporter<T>& exporter = addExporter<T>(route);
        handlers_.push_back(
            bus_.template subscribe<T>([this, &exporter](const T& message, const Header& header) {
                exportOne(exporter, message, header);
            }));
        if (!handlers_.back()) {
            throw std::runtime_error("nats: the bus has no room for the handler that exports " +
                                     route.subject);
        }
    }

    /// Returns an outlet, which sends messages of type T to other processes without the bus.
    /// Importers see no gap for a refused message, unless the disk refused it. Throws
    /// std::runtime_error with one line if the route is invalid.
    template <class T>
    [[nodiscard]] Outlet<T> outlet(const NatsRoute& route) {
        return Outlet<T>(addExporter<T>(route));
    }

    /// Publishes each message of type T that arrives after this call into the bus. A durable import
    /// continues where the importer of this name stopped. A bridge can import a subject once per
    /// profile. Throws std::runtime_error with one line if the route is invalid or the server
    /// refuses. After a refusal by the server, destroy the bridge and create another one.
    template <class T>
    void importType(const NatsRoute& route) {
        requireImport<T>(route);
        const detail::ImportContext<AnyBus> context{bus_,
                                                    counters_,
                                                    isClosing_,
                                                    options_.origin,
                                                    options_.maxOrigins,
                                                    options_.durable.shareWork,
                                                    options_.observer};
        std::array<detail::Importer<T, AnyBus>*, priorityCount> made{};
        for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
            const detail::ImportNumber number =
                route.untilHandled ? detail::ImportNumber::next() : detail::ImportNumber::none();
            auto importer =
                std::make_shared<detail::Importer<T, AnyBus>>(context, route, priority, number);
            made[static_cast<std::size_t>(priority)] = importer.get();
            importers_.push_back(std::move(importer));
        }
        if (route.untilHandled) {
            noteHandled<T>(made);
        }
        for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
            detail::Receiver& receiver = *made[static_cast<std::size_t>(priority)];
            if (route.profile == Profile::durable) {
                (priority == Priority::high ? highPull_ : restPull_)
                    ->add(priority, route.subject, receiver);
            } else {
                linkOf(priority).subscribe(
                    detail::subjectOf(route, options_.durable.stream, priority), receiver,
                    options_.importBacklog);
            }
        }
        awaitServer();
    }

    /// Returns a client for the programs that serve the route. Throws std::runtime_error with one
    /// line if the route is invalid.
    template <class Question, class Answer>
    [[nodiscard]] Client<Question, Answer> client(const NatsRoute& route) {
        requireRequests<Question>(route);
        if (requests_.load() == nullptr) {
            auto made =
                std::make_shared<detail::Requests>(rest_, high_, options_.maxRequests, counters_);
            importers_.push_back(made);
            made->start(options_.importBacklog);
            requests_.store(made.get());
        }
        auto asker = std::make_shared<detail::Asker<Question, Answer>>(
            *requests_.load(), counters_, route, options_, incarnation_);
        exporters_.push_back(asker);
        return Client<Question, Answer>(*asker);
    }

    /// Answers each question that a Client sends on the route, in this or another program.
    ///
    ///     bridge.serve<Where, Position>({"fleet.where"}, [&](const Where&) { return position; });
    ///
    /// Each question is published to the bus with the client's priority, within the quotas of the
    /// bus. The bus' consumer calls `handler(question)` or `handler(question, header)` like any
    /// handler of the type, unless the request's timeout has passed since the question arrived. If
    /// the handler throws, the client receives `refused`. If several programs serve a subject, one
    /// of them receives each question.
    ///
    /// Throws std::runtime_error with one line if the route is invalid, if the bus has reached its
    /// maximum number of handlers, or if the server refuses.
    template <class Question, class Answer, class Handler>
    void serve(const NatsRoute& route, Handler handler) {
        static_assert(Header::hasSender, "serve() needs Traits::senders, which number questions");
        static_assert(std::is_copy_constructible_v<Handler>,
                      "the handler of serve() is copied: capture a std::shared_ptr to an object "
                      "that cannot be copied");
        requireRequests<Question>(route);
        if (!served_.insert(route.subject).second) {
            throw std::runtime_error("nats: the bridge serves " + route.subject + " already");
        }
        using Responder = detail::Responder<Question, Answer, AnyBus>;
        std::shared_ptr<const typename Responder::Handler> shared;
        if constexpr (std::is_invocable_v<Handler&, const Question&>) {
            shared = std::make_shared<typename Responder::Handler>(
                [handler = std::move(handler)](const Question& question, const Header&) mutable {
                    return handler(question);
                });
        } else {
            shared = std::make_shared<typename Responder::Handler>(std::move(handler));
        }
        std::array<Responder*, priorityCount> made{};
        for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
            auto responder = std::make_shared<Responder>(bus_, linkOf(priority), counters_,
                                                         options_, route, priority, shared);
            made[static_cast<std::size_t>(priority)] = responder.get();
            responders_.push_back(responder.get());
            importers_.push_back(std::move(responder));
        }
        handlers_.push_back(bus_.template subscribe<Question>(
            [made](const Question& question, const Header& header) {
                for (Responder* const each : made) {
                    each->handle(question, header);
                }
            }));
        if (!handlers_.back()) {
            throw std::runtime_error("nats: the bus has no room for the handler that serves " +
                                     route.subject);
        }
        for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
            linkOf(priority).subscribe(detail::subjectOf(route, {}, priority),
                                       *made[static_cast<std::size_t>(priority)],
                                       options_.importBacklog, "sluice");
        }
        awaitServer();
    }

    /// Stops exporting, importing and serving, and ends open requests. Returns false if messages
    /// were not sent or handled in time, or if the outbox was not empty in time. The outbox, each
    /// durable import and each link may take up to `timeout`. close() may be called repeatedly, but
    /// not by a handler of the bus.
    bool close(std::chrono::milliseconds timeout) noexcept {
        handlers_.clear();
        const bool isOutboxEmpty = outbox_ == nullptr || outbox_->close(timeout);
        isClosing_.store(true);
        if (outbox_ != nullptr) {
            highPull_->stop(timeout);
            restPull_->stop(timeout);
        }
        for (detail::ArrivalReceiver* const responder : responders_) {
            responder->stop();  // clients receive `refused` through the open links
        }
        noters_.clear();  // not before stop(), which still acknowledges handled messages
        const bool isHighComplete = high_.close(timeout);
        const bool isRestComplete = rest_.close(timeout);
        if (detail::Requests* const requests = requests_.load(); requests != nullptr) {
            requests->stop();
        }
        return isRestComplete && isHighComplete && isOutboxEmpty;
    }

    /// Waits until the server has received all messages sent before on core routes, and stored all
    /// messages sent before on durable routes. The outbox and each link may take up to `timeout`.
    /// Returns false after that time, or if a link has lost its connection. Only the owner may call
    /// flush(), before close().
    [[nodiscard]] bool flush(std::chrono::milliseconds timeout) noexcept {
        const bool isStored = outbox_ == nullptr || outbox_->flush(timeout);
        const bool isRestSent = rest_.flush(timeout);
        return high_.flush(timeout) && isRestSent && isStored;
    }

    [[nodiscard]] std::uint64_t origin() const noexcept { return options_.origin; }
    [[nodiscard]] LinkState state(Priority priority) const noexcept {
        return priority == Priority::high ? high_.state() : rest_.state();
    }

    [[nodiscard]] NatsStatistics statistics() const noexcept {
        const detail::Counters& c = counters_;
        NatsStatistics s;
        s.sent = c.sent, s.unsent = c.unsent, s.notAgain = c.notAgain, s.congested = c.congested;
        s.notOnDisk = c.notOnDisk;
        s.delivered = c.delivered, s.refused = c.refused;
        s.looped = c.looped, s.malformed = c.malformed, s.otherSchema = c.otherSchema;
        s.late = c.late, s.duplicates = c.duplicates;
        s.received = s.delivered + s.refused + s.looped + s.malformed + s.otherSchema + s.late +
                     s.duplicates;
        s.gaps = c.gaps, s.untracked = c.untracked;
        s.overrun = rest_.dropped() + high_.dropped();
        s.answered = c.answered, s.timedOut = c.timedOut, s.noResponder = c.noResponder;
        s.failedRequests = c.failedRequests, s.lateReplies = c.lateReplies;
        const detail::Requests* const requests = requests_.load();
        s.openRequests = requests == nullptr ? 0 : requests->open();
        s.requests = s.answered + s.timedOut + s.noResponder + s.failedRequests + s.openRequests;
        s.questions = c.questions, s.answers = c.answers, s.declined = c.declined;
        s.highLink = high_.state();
        s.restLink = rest_.state();
        if (outbox_ != nullptr) {
            outbox_->fill(s);
        }
        return s;
    }

private:
    /// Throws std::runtime_error with one line if the route is invalid for this bridge.
    template <class T>
    void require(const NatsRoute& route) {
        if (route.profile == Profile::durable && outbox_ == nullptr) {
            throw std::runtime_error("nats: durable.stream is empty, but " + route.subject +
                                     " has the durable profile");
        }
        if (!detail::isSubject(route.subject)) {
            throw std::runtime_error("nats: '" + route.subject +
                                     "' is no subject: it is empty, has an empty part, or has a "
                                     "space, a control character, a sign beyond ASCII, or one of "
                                     "* > \" \\");
        }
        const std::size_t size =
            detail::subjectOf(route, options_.durable.stream, Priority::medium).size();
        if (size > detail::longestSubject) {
            throw std::runtime_error("nats: the subject " + route.subject + " has " +
                                     std::to_string(size) +
                                     " bytes with stream and priority; it must have at most " +
                                     std::to_string(detail::longestSubject));
        }
        const std::uint64_t schema = wire::Codec<T>::schemaHash();
        if (schemas_.emplace(route.subject, schema).first->second != schema) {
            throw std::runtime_error("nats: the subject " + route.subject +
                                     " has two types in this bridge");
        }
        const std::string& known =
            subjects_.emplace(detail::typeOf(route), route.subject).first->second;
        if (known != route.subject) {
            throw std::runtime_error("nats: the subjects " + known + " and " + route.subject +
                                     " have the same type number: rename one, or raise its "
                                     "schemaVersion");
        }
    }

    /// Like require(), for an import. Records the import, so that a second one is refused.
    template <class T>
    void requireImport(const NatsRoute& route) {
        require<T>(route);
        if (route.profile == Profile::durable && options_.durable.name.empty()) {
            throw std::runtime_error("nats: durable.name is empty, but " + route.subject +
                                     " has a durable import");
        }
        if (route.untilHandled && detail::isDropping<Header>) {
            throw std::runtime_error("nats: " + route.subject +
                                     ": untilHandled needs a bus that drops no message, and this "
                                     "one has Overflow::dropOldest");
        }
        if (route.untilHandled && !canNoteHandled) {
            throw std::runtime_error("nats: " + route.subject +
                                     ": untilHandled needs a bus whose traits set priorities and "
                                     "senders");
        }
        if (imports_.count({route.subject, route.profile}) != 0) {
            throw std::runtime_error("nats: the bridge imports " + route.subject + " already");
        }
        imports_.emplace(route.subject, route.profile);
    }

    template <class Question>
    void requireRequests(const NatsRoute& route) {
        require<Question>(route);
        if (route.profile != Profile::core) {
            throw std::runtime_error("nats: " + route.subject +
                                     ": requests need the core profile, and the route has durable");
        }
    }

    /// Waits until the server has all subscriptions. Throws std::runtime_error after 2 seconds.
    void awaitServer() {
        for (detail::Link* const link : {&rest_, &high_}) {
            const auto mayBeAway = [&] {
                return options_.startWithoutServer && link->state() != LinkState::connected;
            };
            if (!mayBeAway() && !link->flush(std::chrono::seconds(2)) && !mayBeAway()) {
                throw std::runtime_error("nats: the server has not answered within 2 seconds");
            }
        }
    }

    template <class T>
    detail::Exporter<T>& addExporter(const NatsRoute& route) {
        require<T>(route);
        const detail::ExportContext context{rest_,
                                            high_,
                                            outbox_.get(),
                                            counters_,
                                            options_.durable.stream,
                                            options_.origin,
                                            incarnation_,
                                            options_.maxMessageSize,
                                            options_.observer};
        auto& sequences = sequences_[{detail::typeOf(route), route.profile}];
        if (sequences == nullptr) {
            sequences = std::make_unique<detail::RouteSequences>();
        }
        auto made = std::make_shared<detail::Exporter<T>>(context, route, *sequences);
        exporters_.push_back(made);
        return *made;
    }

    /// Subscribes a handler that reports each message to its importer after all existing handlers
    /// have run.
    template <class T>
    void noteHandled(
        [[maybe_unused]] const std::array<detail::Importer<T, AnyBus>*, priorityCount>& importers) {
        if constexpr (canNoteHandled) {
            noters_.push_back(
                bus_.template subscribe<T>([importers](const T&, const Header& header) {
                    if (header.origin != 0) {
                        importers[static_cast<std::size_t>(header.priority)]->noteHandled(
                            header.sender);
                    }
                }));
            if (!noters_.back()) {
                throw std::runtime_error(
                    "nats: the bus has no room for the handler of untilHandled");
            }
        }
    }

    /// Sends a message of the bus unless it was imported. Called by the bus' consumer.
    template <class T>
    void exportOne(detail::Exporter<T>& exporter, const T& message, const Header& header) noexcept {
        if (header.origin != 0) {
            detail::add(counters_.notAgain);
            return;
        }
        Priority priority = Priority::medium;
        if constexpr (Header::hasPriority) {
            priority = header.priority;
        }
        std::uint64_t trace = 0;
        if constexpr (Header::hasTrace) {
            trace = header.trace;
        }
        const OutletResult result = exporter.send(message, priority, trace);
        // If the disk has refused the message, its sequence is already used.
        if (result != OutletResult::ok && result != OutletResult::notOnDisk) {
            exporter.skip(priority);
        }
    }

    detail::Link& linkOf(Priority priority) noexcept {
        return priority == Priority::high ? high_ : rest_;
    }

    AnyBus& bus_;
    NatsOptions options_;
    const std::uint32_t incarnation_ = static_cast<std::uint32_t>(detail::drawNumber() >> 32);
    detail::Counters counters_;
    std::atomic<bool> isClosing_{false};
    std::map<std::string, std::uint64_t> schemas_;   ///< subject -> schema of its type
    std::map<std::uint32_t, std::string> subjects_;  ///< type in the envelope -> subject
    std::set<std::pair<std::string, Profile>> imports_;
    std::set<std::string> served_;  ///< subjects of serve()
    std::map<std::pair<std::uint32_t, Profile>, std::unique_ptr<detail::RouteSequences>> sequences_;
    // The order of destruction matters: first the handlers, then the links, then the importers and
    // exporters, because threads of the links call importers and exporters.
    std::vector<std::shared_ptr<void>> exporters_;
    std::vector<std::shared_ptr<void>> importers_;
    std::vector<detail::ArrivalReceiver*> responders_;  ///< in importers_
    /// In importers_. Null until the first client is created.
    std::atomic<detail::Requests*> requests_{nullptr};
    std::unique_ptr<detail::Outbox> outbox_;
    detail::Link rest_;  ///< low and medium
    detail::Link high_;
    std::unique_ptr<detail::Pull> restPull_;
    std::unique_ptr<detail::Pull> highPull_;
    std::vector<Subscription> handlers_;  ///< of exports and of serve()
    std::vector<Subscription> noters_;    ///< for untilHandled
};

}  // namespace sluice::nats
