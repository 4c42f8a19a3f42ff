#include "support/dice.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>

// Promises of the bus: the order of messages, and one end for each message. Constructors publish,
// consume and throw in the middle of a publication, as other threads would while this publisher is
// stopped.

namespace sluice {
namespace {

using namespace test;

/// A message that was published and has come to no end. Times count the steps of the test.
struct Waiting {
    Priority priority = Priority::low;
    int began = 0;
    int returned = 0;  ///< 0 while it is being published
    int overtakenByLow = 0;
};
using Book = std::map<int, Waiting>;

/// Strikes itself out of the book.
struct Noted {
    template <class MakeNumber>
    explicit Noted(Book& b, MakeNumber makeNumber) : book(b), number(makeNumber()) {}
    Noted(Noted&& other) noexcept
        : book(other.book), number(std::exchange(other.number, movedAway)) {}
    Noted& operator=(const Noted&) = delete;
    ~Noted() {
        if (number != movedAway) {
            EXPECT_EQ(book.erase(number), 1U) << "destroyed twice";
        }
    }

    static constexpr int movedAway = std::numeric_limits<int>::min();

    Book& book;
    int number;
};

template <class Traits>
class Play {
public:
    explicit Play(std::uint32_t seed) : dice_(seed) {}

    void run() {
        for (left_ = 1500; left_ > 0;) {
            step(0);
        }
        if (dice_() % 2 == 0) {
            for (int i = 0; i < 1000 && bus_->sizeApprox() != 0; ++i) {
                consume();
            }
            EXPECT_TRUE(areBalanced(*bus_, attempted_));
            EXPECT_EQ(bus_->statistics().total().delivered, delivered_);
        }
        bus_.reset();
        EXPECT_TRUE(book_.empty()) << "left undestroyed";
    }

private:
    using TheBus = Bus<Messages<Noted>, Traits>;

    void step(int depth) {
        --left_;
        if (isConsuming_ || dice_() % 10 < 6) {
            publish(depth);
        } else {
            consume();
        }
    }

    void publish(int depth) {
        const auto priority = static_cast<Priority>(dice_() % priorityCount);
        const bool hasRoom = bus_->sizeApprox() < TheBus::roomOf(priority);
        const int number = ++clock_;
        bool isBuilt = false;
        const auto make = [&] {
            ++stopped_[index(priority)];
            for (std::size_t i = depth < 6 && dice_() % 3 == 0 ? dice_() % 25 : 0;
                 i != 0 && left_ > 0; --i) {
                step(depth + 1);
            }
            --stopped_[index(priority)];
#if defined(__cpp_exceptions)
            if (dice_() % 12 == 0) {
                throw 1;
            }
#endif
            isBuilt = true;
            book_[number] = {priority, number, 0, 0};
            return number;
        };
        ++attempted_;
        const auto attempt = [&] {
            const bool isAccepted =
                bus_->template emplaceWith<Noted>({priority}, book_, make) == SendResult::ok;
            EXPECT_EQ(isAccepted, isBuilt);
            EXPECT_TRUE(isAccepted || !hasRoom) << "refused without reason";
            if (isAccepted && book_.count(number) != 0) {
                book_[number].returned = ++clock_;
            }
        };
#if defined(__cpp_exceptions)
        try {
            attempt();
        } catch (int) {
            --attempted_;
        }
#else
        attempt();
#endif
    }

    void consume() {
        const bool mustFind = isAnyReady();
        isConsuming_ = true;
        const std::size_t count =
            bus_->processWith([this](Noted& message) { handle(message.number); },
                              dice_() % 3 == 0 ? unlimited : 1 + dice_() % 4);
        isConsuming_ = false;
        EXPECT_TRUE(count != 0 || !mustFind) << "there is one";
    }

    static std::size_t index(Priority priority) { return static_cast<std::size_t>(priority); }

    [[nodiscard]] bool isAnyReady() const {
        for (const auto& [number, each] : book_) {
            if (each.returned != 0 && stopped_[index(each.priority)] == 0) {
                return true;
            }
        }
        return false;
    }

    void handle(int number) {
        ++delivered_;
        ASSERT_EQ(book_.count(number), 1U);
        const Waiting mine = book_[number];
        for (auto& [other, each] : book_) {
            if (other == number || each.returned == 0) {
                continue;
            }
            EXPECT_TRUE(each.priority != mine.priority || each.returned > mine.began)
                << "overtaken by a later one";
            // A publisher that is stopped delays its own priority alone.
            if (Traits::service == PriorityOrder::strict && mine.priority < each.priority &&
                stopped_[index(each.priority)] == 0) {
                EXPECT_NE(each.priority, Priority::high);
                EXPECT_LE(++each.overtakenByLow, 16);
            }
        }
        for (std::size_t i = dice_() % 6 == 0 ? dice_() % 6 : 0; i != 0 && left_ > 0; --i) {
            step(5);
        }
    }

    Dice dice_;
    Book book_;  // outlives the bus
    std::unique_ptr<TheBus> bus_ = std::make_unique<TheBus>();
    int left_ = 0;
    int clock_ = 0;
    std::array<int, priorityCount> stopped_{};  ///< publishers in the middle
    bool isConsuming_ = false;
    std::uint64_t attempted_ = 0;
    std::uint64_t delivered_ = 0;
};

template <std::size_t Depth, class IndexType, PriorityOrder Served, Overflow... Policies>
struct Shape : DeepTraits<Depth> {
    using Index = IndexType;
    /// The index soon wraps around.
    static constexpr std::uint64_t firstPosition = static_cast<IndexType>(-10);
    static constexpr PriorityOrder service = Served;
    static constexpr std::array<Overflow, priorityCount> overflow{Policies...};
};

template <class Traits>
class BusOrderTest : public testing::Test {};
constexpr auto reject = Overflow::reject;
constexpr auto drop = Overflow::dropOldest;
constexpr auto strict = PriorityOrder::strict;
constexpr auto weighted = PriorityOrder::weighted;
using Shapes = testing::Types<Shape<2, std::uint8_t, strict, reject, reject, reject>,
                              Shape<3, std::uint8_t, strict, reject, reject, reject>,
                              Shape<13, std::uint8_t, strict, reject, reject, reject>,
                              Shape<16, std::uint8_t, strict, reject, reject, reject>,
                              Shape<3, std::uint8_t, strict, drop, reject, drop>,
                              Shape<16, std::uint8_t, strict, drop, drop, drop>,
                              Shape<11, std::uint8_t, weighted, reject, reject, reject>,
                              Shape<100, std::uint16_t, strict, reject, reject, reject>,
                              Shape<70, std::uint32_t, weighted, drop, reject, reject>>;
TYPED_TEST_SUITE(BusOrderTest, Shapes);

TYPED_TEST(BusOrderTest, IsKeptWhateverHappensInTheMiddleOfAPublication) {
    for (std::uint32_t seed = 1; seed <= 10; ++seed) {
        Play<TypeParam>(seed * 2654435761U).run();
        ASSERT_FALSE(this->HasFailure()) << "seed " << seed;
    }
}

}  // namespace
}  // namespace sluice
