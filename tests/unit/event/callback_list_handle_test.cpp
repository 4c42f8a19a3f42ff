#include "event_suites.hpp"

#include <sluice/event/callback_list.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {
namespace {

template <class Policies>
class CallbackListHandleTest : public testing::Test {
protected:
    using List = CallbackList<void(), Policies>;
    using Handle = typename List::Handle;

    static std::size_t sizeOf(const List& list) {
        std::size_t size = 0;
        list.forEach([&size](typename List::Callback&) { ++size; });
        return size;
    }
};
TYPED_TEST_SUITE(CallbackListHandleTest, test::CommonPolicies, test::PolicyNames);

TYPED_TEST(CallbackListHandleTest, IsTrueWhileTheCallbackIsInTheList) {
    typename TestFixture::List list;
    const auto handle = list.append([] {});
    EXPECT_TRUE(handle);
    EXPECT_FALSE(handle.expired());
    EXPECT_TRUE(handle.lock());
    EXPECT_TRUE(list.remove(handle));
    EXPECT_FALSE(handle);
    EXPECT_TRUE(handle.expired());
    EXPECT_FALSE(handle.lock());
}

TYPED_TEST(CallbackListHandleTest, RemovingWhatIsGoneChangesNothing) {
    typename TestFixture::List list;
    list.append([] {});
    const auto handle = list.append([] {});
    list.append([] {});
    EXPECT_TRUE(list.remove(handle));
    EXPECT_FALSE(list.remove(handle));
    EXPECT_FALSE(list.remove(typename TestFixture::Handle()));
    EXPECT_EQ(this->sizeOf(list), 2U);
}

TYPED_TEST(CallbackListHandleTest, SpeaksTheVocabularyOfWeakPointers) {
    typename TestFixture::List list;
    auto first = list.append([] {});
    typename TestFixture::Handle second = list.append([] {});
    typename TestFixture::Handle none;
    std::set<typename TestFixture::Handle, std::owner_less<>> handles{first, second, first};
    EXPECT_EQ(handles.size(), 2U);
    EXPECT_EQ(handles.count(none), 0U);
    EXPECT_EQ(first.use_count(), 1);
    EXPECT_TRUE(first.lock() != nullptr);
    EXPECT_TRUE(none.lock() == nullptr);
    first.swap(none);
    EXPECT_FALSE(first);
    EXPECT_TRUE(list.remove(none));
    EXPECT_EQ(none.use_count(), 0);
    EXPECT_TRUE(none.lock() == nullptr);
}

TYPED_TEST(CallbackListHandleTest, IsFalseAfterTheListHasGone) {
    std::optional<typename TestFixture::List> list(std::in_place);
    const auto handle = list->append([] {});
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): copies know it, too
    const auto copy = handle;
    list.reset();
    EXPECT_FALSE(handle);
    EXPECT_FALSE(copy.lock());
    typename TestFixture::List other;
    EXPECT_FALSE(other.remove(handle));
    EXPECT_FALSE(other.ownsHandle(handle));
}

TYPED_TEST(CallbackListHandleTest, IsFalseAfterTheListWasAssignedTo) {
    typename TestFixture::List list;
    const auto first = list.append([] {});
    list = {};
    EXPECT_FALSE(first);
    EXPECT_TRUE(list.empty());
    const auto second = list.append([] {});
    const typename TestFixture::List source(list);
    list = source;
    EXPECT_FALSE(second);
    EXPECT_FALSE(list.remove(second));
    EXPECT_EQ(this->sizeOf(list), 1U);
}

TYPED_TEST(CallbackListHandleTest, IsTrueDuringTheCallOfItsCallback) {
    typename TestFixture::List list;
    typename TestFixture::Handle handle;
    bool wasTrue = false;
    handle = list.append([&] { wasTrue = static_cast<bool>(handle); });
    list();
    EXPECT_TRUE(wasTrue);
}

TYPED_TEST(CallbackListHandleTest, ForeignHandlesAreRefusedAndCorruptNothing) {
    typename TestFixture::List mine;
    typename TestFixture::List other;
    mine.append([] {});
    const auto foreign = other.append([] {});
    other.append([] {});
    EXPECT_FALSE(mine.remove(foreign));
    EXPECT_FALSE(mine.ownsHandle(foreign));
    EXPECT_TRUE(foreign);
    EXPECT_TRUE(mine.insert([] {}, foreign));
    EXPECT_EQ(this->sizeOf(mine), 2U);
    EXPECT_EQ(this->sizeOf(other), 2U);
    EXPECT_TRUE(other.remove(foreign));
    EXPECT_EQ(this->sizeOf(other), 1U);
}

TYPED_TEST(CallbackListHandleTest, IsOwnedByItsListOnly) {
    typename TestFixture::List mine;
    typename TestFixture::List other;
    const auto handle = mine.append([] {});
    EXPECT_TRUE(mine.ownsHandle(handle));
    EXPECT_FALSE(other.ownsHandle(handle));
    EXPECT_FALSE(mine.ownsHandle(typename TestFixture::Handle()));
    mine.remove(handle);
    EXPECT_FALSE(mine.ownsHandle(handle));
}

TYPED_TEST(CallbackListHandleTest, MovesWithTheCallbackToAnotherList) {
    typename TestFixture::List source;
    const auto handle = source.append([] {});
    typename TestFixture::List target(std::move(source));
    EXPECT_TRUE(handle);
    EXPECT_FALSE(source.remove(handle));
    EXPECT_TRUE(target.ownsHandle(handle));
    EXPECT_TRUE(target.insert([] {}, handle));
    EXPECT_TRUE(target.remove(handle));
    EXPECT_EQ(this->sizeOf(target), 1U);
}

TYPED_TEST(CallbackListHandleTest, IsSwappedWithTheCallback) {
    typename TestFixture::List one;
    typename TestFixture::List two;
    const auto handle = one.append([] {});
    one.swap(two);
    EXPECT_FALSE(one.ownsHandle(handle));
    EXPECT_TRUE(two.ownsHandle(handle));
    EXPECT_FALSE(one.remove(handle));
    EXPECT_TRUE(two.remove(handle));
}

TYPED_TEST(CallbackListHandleTest, CopiesNameTheSameCallback) {
    typename TestFixture::List list;
    const auto handle = list.append([] {});
    auto copy = handle;
    typename TestFixture::Handle assigned;
    EXPECT_FALSE(assigned);
    assigned = copy;
    EXPECT_TRUE(copy == handle && assigned == handle);
    EXPECT_FALSE(copy != handle);
    const auto moved = std::move(copy);
    EXPECT_FALSE(copy);
    EXPECT_EQ(moved, handle);
    copy = moved;
    auto& self = copy;
    copy = self;
    EXPECT_TRUE(copy);
    EXPECT_TRUE(list.remove(assigned));
    EXPECT_FALSE(handle || moved || copy);
    assigned.reset();
    EXPECT_FALSE(assigned);
    EXPECT_NE(assigned, handle);
}

// The memory of a callback is not used for another one as long as a handle names it.
TYPED_TEST(CallbackListHandleTest, NeverNamesALaterCallback) {
    typename TestFixture::List list;
    std::vector<typename TestFixture::Handle> old;
    for (int i = 0; i < 200; ++i) {
        old.push_back(list.append([] {}));
        EXPECT_TRUE(list.remove(old.back()));
        const auto next = list.append([] {});
        for (const auto& handle : old) {
            EXPECT_FALSE(handle);
            EXPECT_NE(handle, next);
        }
        EXPECT_TRUE(list.remove(next));
    }
}

TYPED_TEST(CallbackListHandleTest, KeepsNoCallbackAlive) {
    typename TestFixture::List list;
    const auto captured = std::make_shared<int>(0);
    const auto handle = list.append([captured] {});
    const auto locked = handle.lock();
    list.remove(handle);
    EXPECT_EQ(captured.use_count(), 1);
}

// A callback that captures its own handle is no cycle.
TYPED_TEST(CallbackListHandleTest, MayBeCapturedByItsOwnCallback) {
    const auto captured = std::make_shared<int>(0);
    {
        typename TestFixture::List list;
        const auto holder = std::make_shared<typename TestFixture::Handle>();
        *holder = list.append([&list, holder, captured] { list.remove(*holder); });
        list();
        EXPECT_TRUE(list.empty());
        EXPECT_EQ(captured.use_count(), 1);
        *holder = list.append([holder, captured] {});
    }
    EXPECT_EQ(captured.use_count(), 1);
}

}  // namespace
}  // namespace sluice
