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

/// The last sequence of each priority. All exporters of a route share it, because importers and the
/// server distinguish messages of one origin and type by the sequence alone.
using RouteSequences = std::array<std::atomic<std::uint64_t>, priorityCount>;

/// Sends the messages of one type on one route.
///
/// Threads: in the core profile one thread at a time sends on a route. In the durable profile any
/// number of threads send.
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

    /// Sends a message and counts the result. In the durable profile it waits for room until the
    /// deadline; without a deadline it does not wait.
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

    /// Sends a message whose caller waits for the answer of the server.
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
        // Relaxed: in this profile one thread at a time sends.
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
    /// Sends a message. The local bus does not see it.
    ///
    /// Threads: in the durable profile any thread may call it. In the core profile one thread at a
    /// time sends on a route. That includes all outlets of the route, and the bus' consumer if the
    /// route is exported.
    OutletResult send(const T& message, Priority priority = Priority::medium,
                      std::uint64_t trace = 0) noexcept {
        return exporter_.send(message, priority, trace);
    }

    /// The same, but it waits for room in the outbox, for at most `timeout` or until close(). The
    /// core profile has no outbox, so there it is the same as send().
    ///
    ///     outlet.sendFor(5s, Alarm{7}, Priority::high);
    template <class Rep, class Period>
    OutletResult sendFor(std::chrono::duration<Rep, Period> timeout, const T& message,
                         Priority priority = Priority::medium, std::uint64_t trace = 0) noexcept {
        return exporter_.send(message, priority, trace, deadlineAfter<Park::Clock>(timeout));
    }

    /// The same as send(), on a durable route. The future is ready when the server has stored the
    /// message and all earlier ones of its priority. If the message is refused, it is ready
    /// immediately. It is also ready when the bridge is closed. Throws std::bad_alloc, and
    /// std::runtime_error with one line if the route has the core profile.
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
/// - core: at most once (core NATS). An importer counts missing messages as gaps, but not those
///   before its first message, after its last one, or of another run of the sender.
/// - durable: at least once (JetStream). The outbox keeps an accepted message until the server has
///   stored it, and the server keeps it until the bus of each importer has accepted it. Importers
///   drop duplicates. Without a folder, messages in the outbox are lost if the process ends without
///   close(). The server drops messages of a route that has no importer yet; exportType() and
///   outlet() ask the server once, and report this to the observer.
///
/// Threads: the owner, one thread at a time, calls all functions but statistics() and state(),
/// which any thread may call. No call by the bus' consumer waits for the server. Each of the two
/// links has a thread that sends core messages, and one that publishes the messages of all durable
/// imports. Each core import has a thread for each priority; with Overflow::block it waits for room
/// in the bus, and close() waits for it, so another thread must consume the bus.
///
/// Loops: an imported message has an origin, and no bridge exports it again. A bridge drops
/// messages of its own origin. Two bridges of one bus need the same `origin` in their options.
///
/// Priority: high messages have a link of their own, and a stream of their own. The subject names
/// the priority: fleet.order.high, or `<stream>.high.fleet.order`.
///
/// Performance: the side of the bus allocates nothing for a message. An importer allocates once for
/// each run of a sender, up to maxOrigins.
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
    /// if the server refuses, or if a setting is out of range. With startWithoutServer, only a
    /// server that has accepted the connection can refuse, and a missing one is no error.
    NatsBridge(AnyBus& bus, const NatsOptions& given)
        : bus_(bus), options_(detail::checked(given)), rest_(given, "rest"), high_(given, "high") {
        if (!options_.durable.stream.empty()) {
            outbox_ = std::make_unique<detail::Outbox>(rest_, high_, options_);
            restPull_ = std::make_unique<detail::Pull>(rest_, options_.durable);
            highPull_ = std::make_unique<detail::Pull>(high_, options_.durable);
        }
        // The outbox has locked its folder.
        if (options_.origin == 0) {
            options_.origin = detail::originOf(options_.durable.outboxFolder);
        }
    }
    NatsBridge(const NatsBridge&) = delete;
    NatsBridge& operator=(const NatsBridge&) = delete;
    ~NatsBridge() { (void)close(std::chrono::milliseconds(0)); }

    /// Sends each message of type T that the bus handles from now on. A message that cannot be sent
    /// is counted, and is a gap for the importers. Throws std::runtime_error with one line if the
    /// route is wrong, or if the bus has no room for another handler.
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

    /// Returns an outlet, which sends messages of type T to other processes without the bus. A
    /// message that the outlet refuses is no gap for the importers, except if the disk refused it.
    /// Throws std::runtime_error with one line if the route is wrong.
    template <class T>
    [[nodiscard]] Outlet<T> outlet(const NatsRoute& route) {
        return Outlet<T>(addExporter<T>(route));
    }

    /// Publishes into the bus each message of type T that arrives from now on. A durable import
    /// continues where the importer of this name stopped. A bridge imports a subject once in each
    /// profile. Throws std::runtime_error with one line if the route is wrong or the server
    /// refuses. If the server was the reason, destroy the bridge and make another one.
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

    /// Returns a client, which asks the programs that serve the route. Throws std::runtime_error
    /// with one line if the route is wrong.
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
    /// The question is a message of the bus, with the client's priority and the limits of the bus.
    /// The bus' consumer calls `handler(question)` or `handler(question, header)`, like other
    /// handlers of the type, but not after the question's time, which begins when the question
    /// arrives. If the handler throws, the client receives `refused`. If several programs serve a
    /// subject, one of them receives each question.
    ///
    /// Throws std::runtime_error with one line if the route is wrong, if the bus has no room for
    /// another handler, or if the server refuses.
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

    /// Stops exporting, importing and serving, and ends open requests. Returns false if a link was
    /// cut before all messages were sent and handled, or if the outbox did not become empty in
    /// time. The outbox, each durable import and each link may take up to `timeout`. It may be
    /// called repeatedly, but not by a handler of the bus.
    bool close(std::chrono::milliseconds timeout) noexcept {
        handlers_.clear();
        const bool isOutboxEmpty = outbox_ == nullptr || outbox_->close(timeout);
        isClosing_.store(true);
        if (outbox_ != nullptr) {
            highPull_->stop(timeout);
            restPull_->stop(timeout);
        }
        for (detail::ArrivalReceiver* const responder : responders_) {
            responder->stop();  // before the links are closed, so that clients receive `refused`
        }
        noters_.clear();  // until now, so that the server learns which messages were handled
        const bool isHighComplete = high_.close(timeout);
        const bool isRestComplete = rest_.close(timeout);
        if (detail::Requests* const requests = requests_.load(); requests != nullptr) {
            requests->stop();
        }
        return isRestComplete && isHighComplete && isOutboxEmpty;
    }

    /// Waits until the server has all messages that were sent before on core routes, and has stored
    /// those of durable routes. It does not wait for later messages of other threads. The outbox
    /// and each link may take up to `timeout`. False if the time passed first, or if a link has
    /// lost its connection. The owner calls it, before close().
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
    /// Checks a route. Throws std::runtime_error with one line if the bridge cannot have this
    /// route.
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

    /// The same for an import. Also notes the import, so that a second one is refused.
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

    /// Waits until the server has all subscriptions. Throws std::runtime_error if it is slow.
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

    /// Subscribes a handler that runs after all present handlers of the bus, and counts the handled
    /// messages.
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

    /// Sends a message of the bus, except if it was imported. Called by the bus' consumer.
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
        // If the disk has refused the message, its sequence is used already.
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
    /// In importers_. Null until the first client is made.
    std::atomic<detail::Requests*> requests_{nullptr};
    std::unique_ptr<detail::Outbox> outbox_;
    detail::Link rest_;  ///< low and medium
    detail::Link high_;
    std::unique_ptr<detail::Pull> restPull_;
    std::unique_ptr<detail::Pull> highPull_;
    std::vector<Subscription> handlers_;  ///< those of exports
    std::vector<Subscription> noters_;    ///< those that note handled messages, for untilHandled
};

}  // namespace sluice::nats
