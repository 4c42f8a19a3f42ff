#include "support/dice.hpp"

#include <sluice/fixed/fixed_function.hpp>
#include <sluice/fixed/fixed_string.hpp>
#include <sluice/fixed/fixed_vector.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

/// Long random sequences of operations, each compared with a simple model after every step. The
/// seeds are fixed, so a failure repeats; the trace names the seed and the step.
class Dice : test::Dice {
public:
    using test::Dice::Dice;
    /// 0 ... limit - 1
    std::size_t below(std::size_t limit) { return (*this)() % limit; }
};

constexpr unsigned seeds = 40;
constexpr int steps = 400;

// ---- FixedString against std::string ----

/// Bytes with a bias to whole and broken UTF-8, and to lengths around the capacity.
std::string randomText(Dice& dice, std::size_t capacity) {
    static const std::vector<std::string> pieces{
        "a",    "b",    "z",   "\u00e9", "\u20ac", "\U0001F600", std::string(1, '\0'),
        "\x80", "\xff", "\xE2"};
    std::string text;
    const std::size_t length = dice.below(capacity + 4);
    while (text.size() < length) {
        text += pieces[dice.below(pieces.size())];
    }
    return text;
}

/// The number of bytes a UTF-8 character that starts with this byte announces.
std::size_t announcedBytes(char first) {
    const auto byte = static_cast<unsigned char>(first);
    return byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
}

/// The cut written the other way round: from each start of a character that crosses the limit, is
/// everything between it and the limit a continuation?
std::string cutTo(const std::string& text, std::size_t limit) {
    if (text.size() <= limit) {
        return text;
    }
    for (std::size_t start = limit < 3 ? 0 : limit - 3; start < limit; ++start) {
        const bool crosses = start + announcedBytes(text[start]) > limit;
        const bool whole =
            std::all_of(text.begin() + static_cast<std::ptrdiff_t>(start) + 1,
                        text.begin() + static_cast<std::ptrdiff_t>(limit) + 1,
                        [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; });
        if (crosses && whole) {
            return text.substr(0, start);
        }
    }
    return text.substr(0, limit);
}

template <std::size_t N>
void compareStringWithModel(unsigned seed) {
    Dice dice(seed);
    FixedString<N> text;
    std::string model;
    bool truncated = false;
    for (int step = 0; step < steps; ++step) {
        SCOPED_TRACE("N " + std::to_string(N) + " seed " + std::to_string(seed) + " step " +
                     std::to_string(step));
        const std::string input = randomText(dice, N);
        switch (dice.below(6)) {
        case 0:
            ASSERT_EQ(text.assign(input), input.size() <= N);
            model = cutTo(input, N);
            truncated = input.size() > N;
            break;
        case 1:
        case 2: {
            const std::size_t room = N - model.size();
            ASSERT_EQ(text.append(input), input.size() <= room);
            model = cutTo(model + input, N);
            truncated = truncated || input.size() > room;
            break;
        }
        case 3: {
            const std::size_t from = dice.below(model.size() + 1);
            const std::size_t count = dice.below(N + 1);
            ASSERT_TRUE(text.assign(text.view().substr(from, count)));
            model = model.substr(from, count);
            truncated = false;
            break;
        }
        case 4: {
            const std::string own = model.substr(dice.below(model.size() + 1));
            const std::size_t room = N - model.size();
            ASSERT_EQ(text.append(text.view().substr(model.size() - own.size())),
                      own.size() <= room);
            model = cutTo(model + own, N);
            truncated = truncated || own.size() > room;
            break;
        }
        default: {
            const FixedString<N> copy = text;
            text.clear();
            ASSERT_TRUE(text.empty() && !text.truncated());
            text = copy;
        }
        }
        ASSERT_EQ(text.view(), model);
        ASSERT_EQ(text.c_str()[text.size()], '\0');
        ASSERT_EQ(text.truncated(), truncated);
        ASSERT_EQ(text < std::string_view(input), model < input);
        ASSERT_EQ(text == std::string_view(input), model == input);
    }
}

TEST(FixedStringModelTest, AgreesWithStdString) {
    for (unsigned seed = 1; seed <= seeds && !HasFatalFailure(); ++seed) {
        compareStringWithModel<1>(seed);
        compareStringWithModel<2>(seed);
        compareStringWithModel<5>(seed);
        compareStringWithModel<16>(seed);
    }
    for (unsigned seed = 1; seed <= 4 && !HasFatalFailure(); ++seed) {
        compareStringWithModel<300>(seed);
    }
}

// ---- FixedVector against std::vector ----

/// The element types the vector treats differently, each made from a number and read back.
struct Trivial {
    int number;
    static Trivial make(int number) { return {number}; }
    int read() const { return number; }
};
struct Text {
    std::string digits;
    static Text make(int number) { return {std::string(20, '0') + std::to_string(number)}; }
    int read() const { return std::stoi(digits); }
};
struct Owner {
    std::unique_ptr<int> number;
    static Owner make(int number) { return {std::make_unique<int>(number)}; }
    int read() const { return *number; }
};
struct alignas(64) Wide {
    std::string digits;
    static Wide make(int number) { return {std::to_string(number)}; }
    int read() const { return std::stoi(digits); }
};

template <class T>
class VectorModel {
public:
    static constexpr std::size_t capacity = 7;

    explicit VectorModel(unsigned seed) : dice_(seed) {}

    void step() {
        switch (dice_.below(12)) {
        case 0:
        case 1:
        case 2:
        case 3:
            push();
            break;
        case 4:
            pop();
            break;
        case 5:
            eraseOne();
            break;
        case 6:
            eraseRange();
            break;
        case 7:
            eraseUnordered();
            break;
        case 8:
            moveAround();
            break;
        case 9:
            copyAround();
            break;
        case 10:
            shrink();
            break;
        default:
            if (dice_.below(8) == 0) {
                items_.clear();
                model_.clear();
            }
        }
        compare();
    }

private:
    void push() {
        T item = T::make(++last_);
        const bool room = model_.size() < capacity;
        ASSERT_EQ(dice_.below(2) == 0 ? items_.pushBack(std::move(item))
                                      : items_.emplaceBack(std::move(item)),
                  room);
        if (room) {
            model_.push_back(last_);
        } else {
            ASSERT_EQ(item.read(), last_) << "a refused push took its argument";
        }
    }
    void pop() {
        if (!model_.empty()) {
            items_.popBack();
            model_.pop_back();
        }
    }
    void eraseOne() {
        if (!model_.empty()) {
            const std::size_t index = dice_.below(model_.size());
            const auto next = items_.eraseOrdered(index);
            model_.erase(model_.begin() + static_cast<std::ptrdiff_t>(index));
            ASSERT_EQ(static_cast<std::size_t>(next - items_.begin()), index);
        }
    }
    void eraseRange() {
        const std::size_t first = dice_.below(model_.size() + 1);
        const std::size_t last = first + dice_.below(model_.size() - first + 1);
        items_.eraseOrdered(items_.begin() + first, items_.begin() + last);
        model_.erase(model_.begin() + static_cast<std::ptrdiff_t>(first),
                     model_.begin() + static_cast<std::ptrdiff_t>(last));
    }
    void eraseUnordered() {
        if (!model_.empty()) {
            const std::size_t index = dice_.below(model_.size());
            items_.eraseUnordered(index);
            model_[index] = model_.back();
            model_.pop_back();
        }
    }
    void moveAround() {
        FixedVector<T, capacity> other = std::move(items_);
        items_.clear();
        if (dice_.below(2) == 0) {
            ASSERT_TRUE(items_.pushBack(T::make(-1)));
        }
        items_ = std::move(other);
    }
    void copyAround() {
        if constexpr (std::is_copy_constructible_v<T>) {
            FixedVector<T, capacity> other{T::make(-1), T::make(-2)};
            other = items_;
            items_.clear();
            const FixedVector<T, capacity> copy = other;
            other.clear();
            items_ = copy;
            if (!model_.empty() && model_.size() < capacity) {
                const std::size_t index = dice_.below(model_.size());
                ASSERT_TRUE(items_.pushBack(items_[index]));
                model_.push_back(model_[index]);
            }
        }
    }
    void shrink() {
        const std::size_t size = dice_.below(model_.size() + 1);
        ASSERT_TRUE(items_.resize(size));
        model_.resize(size);
    }
    void compare() {
        ASSERT_EQ(items_.size(), model_.size());
        ASSERT_EQ(items_.empty(), model_.empty());
        ASSERT_EQ(items_.full(), model_.size() == capacity);
        ASSERT_TRUE(std::equal(items_.begin(), items_.end(), model_.begin(), model_.end(),
                               [](const T& item, int number) { return item.read() == number; }));
    }

    Dice dice_;
    FixedVector<T, capacity> items_;
    std::vector<int> model_;
    int last_ = 0;
};

template <class T>
class FixedVectorModelTest : public testing::Test {};
using Elements = testing::Types<Trivial, Text, Owner, Wide>;
TYPED_TEST_SUITE(FixedVectorModelTest, Elements, );

TYPED_TEST(FixedVectorModelTest, AgreesWithStdVector) {
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        VectorModel<TypeParam> model(seed);
        for (int step = 0; step < steps; ++step) {
            SCOPED_TRACE("seed " + std::to_string(seed) + " step " + std::to_string(step));
            model.step();
            if (this->HasFatalFailure()) {
                return;
            }
        }
    }
}

// ---- FixedFunction against the number of objects that should live ----

struct Living {
    static inline int count = 0;
    explicit Living(int number) : number_(number) { ++count; }
    Living(Living&& other) noexcept : number_(other.number_) { ++count; }
    Living& operator=(Living&&) = delete;
    ~Living() { --count; }
    int number_;
};

TEST(FixedFunctionModelTest, HoldsWhatWasPutIn) {
    using Function = FixedFunction<int()>;
    constexpr int empty = -1;
    constexpr std::size_t places = 4;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        Dice dice(seed);
        {
            Function functions[places];
            int numbers[places] = {empty, empty, empty, empty};
            bool tracked[places] = {};
            for (int step = 0; step < steps; ++step) {
                SCOPED_TRACE("seed " + std::to_string(seed) + " step " + std::to_string(step));
                const std::size_t one = dice.below(places);
                const std::size_t two = dice.below(places);
                switch (dice.below(5)) {
                case 0:
                    functions[one] = [step] { return step; };
                    numbers[one] = step;
                    tracked[one] = false;
                    break;
                case 1:
                    functions[one] = [living = Living(step)] { return living.number_; };
                    numbers[one] = step;
                    tracked[one] = true;
                    break;
                case 2:
                    functions[one].reset();
                    numbers[one] = empty;
                    break;
                case 3:
                    if (one != two) {
                        functions[one] = std::move(functions[two]);
                        numbers[one] = std::exchange(numbers[two], empty);
                        tracked[one] = tracked[two];
                    }
                    break;
                default:
                    functions[one].swap(functions[two]);
                    std::swap(numbers[one], numbers[two]);
                    std::swap(tracked[one], tracked[two]);
                }
                int living = 0;
                for (std::size_t i = 0; i < places; ++i) {
                    ASSERT_EQ(static_cast<bool>(functions[i]), numbers[i] != empty);
                    if (functions[i]) {
                        ASSERT_EQ(functions[i](), numbers[i]);
                        living += tracked[i] ? 1 : 0;
                    }
                }
                ASSERT_EQ(Living::count, living);
            }
        }
        ASSERT_EQ(Living::count, 0);
    }
}

}  // namespace
}  // namespace sluice
