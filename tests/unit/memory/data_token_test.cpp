#include <sluice/memory/data_token.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

static_assert(!std::is_copy_constructible_v<DataToken> && !std::is_copy_assignable_v<DataToken>);
static_assert(std::is_nothrow_move_constructible_v<DataToken>);
static_assert(std::is_nothrow_move_assignable_v<DataToken>);
static_assert(std::is_nothrow_default_constructible_v<DataToken>);
static_assert(!std::is_convertible_v<DataToken, bool>, "only where a condition is asked for");
static_assert(sizeof(DataToken) == 5 * sizeof(void*) + sizeof(std::uint64_t) || sizeof(void*) != 8);

/// An owner of bytes that counts its holders and its releases.
struct Owner {
    std::array<std::byte, 10> bytes{};
    int holders = 1;
    int releases = 0;
    const std::byte* releasedData = nullptr;
    std::size_t releasedSize = 0;

    static void release(void* context, const std::byte* data, std::size_t size) noexcept {
        auto& self = *static_cast<Owner*>(context);
        --self.holders;
        ++self.releases;
        self.releasedData = data;
        self.releasedSize = size;
    }
    static void share(void* context, const std::byte*, std::size_t) noexcept {
        ++static_cast<Owner*>(context)->holders;
    }

    DataToken token() { return {bytes.data(), bytes.size(), &release, this}; }
    DataToken shareableToken() { return {bytes.data(), bytes.size(), &release, this, &share}; }
};

TEST(DataTokenTest, CarriesTheTimeStampOfItsMaker) {
    Owner owner;
    EXPECT_EQ(owner.token().timeStamp(), 0U) << "none was given";
    DataToken token(owner.bytes.data(), 3, &Owner::release, &owner, &Owner::share, 1234567);
    EXPECT_EQ(token.timeStamp(), 1234567U);
    const DataToken shared = token.share();
    EXPECT_EQ(shared.timeStamp(), 1234567U);
    DataToken moved = std::move(token);
    EXPECT_EQ(moved.timeStamp(), 1234567U);
    EXPECT_EQ(token.timeStamp(), 0U);  // NOLINT(bugprone-use-after-move): it is empty
    moved.reset();
    EXPECT_EQ(moved.timeStamp(), 0U);
}

TEST(DataTokenTest, EmptyTokenHasNothing) {
    DataToken token;
    EXPECT_FALSE(token);
    EXPECT_EQ(token.data(), nullptr);
    EXPECT_EQ(token.size(), 0U);
    EXPECT_EQ(token.begin(), token.end());
    EXPECT_FALSE(token.share());
    token.reset();
}

TEST(DataTokenTest, ReleasesOnceWithWhatItWasMadeOf) {
    Owner owner;
    {
        DataToken token = owner.token();
        DataToken other = std::move(token);
        EXPECT_FALSE(token);
        EXPECT_EQ(token.data(), nullptr);
        EXPECT_EQ(token.size(), 0U);
        const DataToken last = std::move(other);
        EXPECT_EQ(last.data(), owner.bytes.data());
        EXPECT_EQ(owner.releases, 0);
    }
    EXPECT_EQ(owner.releases, 1);
    EXPECT_EQ(owner.releasedData, owner.bytes.data());
    EXPECT_EQ(owner.releasedSize, 10U);
}

TEST(DataTokenTest, AssignmentReleasesWhatTheTokenHad) {
    Owner first;
    Owner second;
    DataToken token = first.token();
    token = second.token();
    EXPECT_EQ(first.releases, 1);
    EXPECT_EQ(token.data(), second.bytes.data());
    auto& same = token;
    token = std::move(same);
    EXPECT_EQ(second.releases, 0);
    token = {};
    EXPECT_EQ(second.releases, 1);
}

/// A frame on the heap that has the token on the frame behind it.
struct Frame {
    std::array<std::byte, 16> bytes{};
    DataToken next;

    static void release(void* context, const std::byte*, std::size_t) noexcept {
        delete static_cast<Frame*>(context);
    }
    DataToken token() { return {bytes.data(), bytes.size(), &release, this}; }
};

TEST(DataTokenTest, MayBeAssignedFromTheBytesThatItReleases) {
    Owner last;
    auto* const frame = new Frame;
    frame->next = last.token();
    DataToken head = frame->token();
    head = std::move(frame->next);
    EXPECT_EQ(head.data(), last.bytes.data());
    EXPECT_EQ(last.releases, 0);
    head.reset();
    EXPECT_EQ(last.releases, 1);
}

TEST(DataTokenTest, SharedTokensAreReleasedOneByOne) {
    Owner owner;
    {
        DataToken first = owner.shareableToken();
        const DataToken second = std::as_const(first).share();
        const DataToken third = second.share();
        EXPECT_EQ(owner.holders, 3);
        EXPECT_EQ(third.data(), owner.bytes.data());
        EXPECT_EQ(third.size(), 10U);
        first.reset();
        EXPECT_EQ(owner.holders, 2);
        EXPECT_FALSE(first);
        EXPECT_EQ(first.data(), nullptr);
        EXPECT_TRUE(second);
    }
    EXPECT_EQ(owner.holders, 0);
    EXPECT_EQ(owner.releases, 3);
}

TEST(DataTokenTest, ReleaserMayComeBackToItsToken) {
    struct Returning {
        DataToken token;
        int releases = 0;
    } returning;
    returning.token = DataToken(
        "x", 1,
        [](void* context, const std::byte*, std::size_t) noexcept {
            auto& self = *static_cast<Returning*>(context);
            ++self.releases;
            EXPECT_FALSE(self.token);
            self.token.reset();
        },
        &returning);
    returning.token.reset();
    EXPECT_EQ(returning.releases, 1);
}

#if defined(NDEBUG)
TEST(DataTokenTest, WithoutASharerTheSecondTokenIsEmpty) {
    Owner owner;
    const DataToken token = owner.token();
    EXPECT_FALSE(token.share());
    EXPECT_TRUE(token);
}
#else
TEST(DataTokenDeathTest, CatchesMisuse) {
    Owner owner;
    const DataToken token = owner.token();
    EXPECT_DEATH((void)token.share(), "made without a sharer");
    EXPECT_DEATH((void)DataToken("x", 1, nullptr, nullptr), "needs a releaser");
    EXPECT_DEATH((void)DataToken(nullptr, 1, &Owner::release, &owner), "must have the size 0");
}
#endif

}  // namespace
}  // namespace sluice
