/// \file
/// Three kinds of messages through one queue, as alternatives of a variant in its slots and as
/// polymorphic objects whose pointers are in the slots. The messages and their
/// handling are the same.

#include "adapters/crossing.hpp"
#include "adapters/memory_subjects.hpp"
#include "harness/run/throughput.hpp"
#include "harness/run/touch.hpp"

#include <sluice/memory/pooled.hpp>
#include <sluice/wait/park.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <variant>

namespace sluice::bench {

namespace {

using Text = Message<64>;

// The messages. Each kind is handled in its own way.

struct Quote {
    explicit Quote(const Text& all) noexcept : text(all) {}
    std::uint64_t handled() const noexcept { return text.words[1] ^ text.words[2]; }
    Text text;
};

struct Trade {
    explicit Trade(const Text& all) noexcept : text(all) {}
    std::uint64_t handled() const noexcept { return text.words[3] * 3 + text.words[4]; }
    Text text;
};

// A picture of the order book: as large as the scenario says, and written and read in full.
template <std::size_t Bytes>
struct Book {
    explicit Book(const Text& all) noexcept : text(all) { rows.fill(all.first()); }
    std::uint64_t handled() const noexcept {
        std::uint64_t sum = 0;
        for (const std::uint64_t row : rows) {
            sum += row;
        }
        return sum;
    }
    Text text;
    std::array<std::uint64_t, (Bytes - sizeof(Text)) / 8> rows;
};

// Which kind is sent: two in 16 are books, and no branch predictor knows when.
enum class Which { quote, trade, book };
Which kindOf(const Text& text) noexcept {
    const std::uint64_t mixed = text.sequence() * 0x9E3779B97F4A7C15u >> 60U;
    return mixed < 2 ? Which::book : mixed % 2 == 0 ? Which::quote : Which::trade;
}

// Calls make(in_place_type<Kind>) with the kind of this message.
template <class Large, class Make>
decltype(auto) withKind(const Text& text, Make&& make) {
    switch (kindOf(text)) {
    case Which::quote:
        return make(std::in_place_type<Quote>);
    case Which::trade:
        return make(std::in_place_type<Trade>);
    default:
        return make(std::in_place_type<Large>);
    }
}

// The result of handling. The compiler must assume that other code reads it.
class Desk {
public:
    void take(std::uint64_t handled) noexcept {
        sum_ += handled;
        hide(reinterpret_cast<std::byte*>(&sum_));
    }

private:
    std::uint64_t sum_ = 0;
};

template <class Large>
class InPlace {
    using Any = std::variant<Quote, Trade, Large>;
    using Ring = SpscRing<Any, dynamicCapacity>;

public:
    InPlace(std::size_t capacity, std::size_t) : ring_(capacity) {}

    struct Producer {
        Ring& ring;
        bool tryPush(const Text& text) {
            return withKind<Large>(
                text, [&](auto kind) { return ring.tryEmplace(kind, text) == SendResult::ok; });
        }
    };

    struct Consumer {
        Ring& ring;
        Desk desk;
        template <class Handler>
        std::size_t poll(Handler&& handler) {
            const auto handleKind = [&](const auto& message) {
                desk.take(message.handled());
                handler(message.text);
            };
            return ring.consume([&](Any& message) { std::visit(handleKind, message); });
        }
    };

    Producer producer() { return {ring_}; }
    Consumer consumer() { return {ring_, {}}; }

private:
    Ring ring_;
};

// Where polymorphic objects come from: a base with a `new` of its own, or without.
struct FromHeap {};

template <class Origin>
struct Polymorphic : Origin {
    virtual ~Polymorphic() = default;
    virtual std::uint64_t handled() const noexcept = 0;
    virtual const Text& text() const noexcept = 0;
};

struct FromPool : Pooled<FromPool> {
    virtual ~FromPool() = default;
};

template <class Kind, class Origin>
struct Object final : Polymorphic<Origin> {
    explicit Object(const Text& all) noexcept : kind(all) {}
    std::uint64_t handled() const noexcept override { return kind.handled(); }
    const Text& text() const noexcept override { return kind.text; }
    Kind kind;
};

template <class Large, class Origin>
class ByPointer {
    using Pointer = std::unique_ptr<Polymorphic<Origin>>;
    using Ring = OneRing<Pointer>;

public:
    ByPointer(std::size_t capacity, std::size_t producers) : ring_(capacity, producers) {}

    struct Producer {
        typename Ring::Lane lane;
        Pointer pending;
        bool tryPush(const Text& text) {
            if (pending == nullptr) {
                pending = withKind<Large>(text, [&](auto kind) { return object(kind, text); });
            }
            return lane.tryPush(pending);
        }

        template <class Kind>
        static Pointer object(std::in_place_type_t<Kind>, const Text& text) {
            return std::make_unique<Object<Kind, Origin>>(text);
        }
    };

    struct Consumer {
        Ring& ring;
        Desk desk;
        template <class Handler>
        std::size_t poll(Handler&& handler) {
            return ring.consume([&](Pointer& message) {
                desk.take(message->handled());
                handler(message->text());
                message.reset();
            });
        }
    };

    Producer producer() { return {ring_.lane(), nullptr}; }
    Consumer consumer() { return {ring_, {}}; }

private:
    Ring ring_;
};

template <class Queue>
constexpr auto roundOf = &throughputRound<Queue, Text, BatchPacing>;

using SmallBook = Book<128>;
using LargeBook = Book<2048>;

template <class Small, class Large>
void addKinds(MemorySubjects& subjects, const std::string& id, const std::string& use, bool ours) {
    Subject info;
    info.id = id;
    info.library = ours ? "sluice" : "GNU C library";
    info.ours = ours;
    info.use = use;
    info.features.topology = "any thread";
    subjects.push_back({info, {{"kinds-128B", roundOf<Small>}, {"kinds-2KiB", roundOf<Large>}}, 1});
}

}  // namespace

void addMessageKinds(MemorySubjects& subjects) {
    addKinds<InPlace<SmallBook>, InPlace<LargeBook>>(
        subjects, "kinds/variant in place", "std::variant in SpscRing, std::visit()", true);
    addKinds<ByPointer<SmallBook, FromPool>, ByPointer<LargeBook, FromPool>>(
        subjects, "kinds/polymorphic, pooled",
        "objects of a base derived from Pooled, pointers in SpscRing, virtual call", true);
    addKinds<ByPointer<SmallBook, FromHeap>, ByPointer<LargeBook, FromHeap>>(
        subjects, "kinds/polymorphic, glibc", "the same objects from the C library's heap", false);
}

}  // namespace sluice::bench
