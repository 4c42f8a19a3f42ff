#include "support/rendezvous.hpp"

#include <sluice/base/platform.hpp>

#include "support/testing.hpp"
#include <cerrno>
#include <thread>

namespace sluice {
namespace {

// Runs before main, in an order against other static objects that nothing fixes.
struct EarlyUser {
    EarlyUser() {
        AsymmetricFence::light();
        AsymmetricFence::heavy();
        isAsymmetric = AsymmetricFence::isAsymmetric();
    }
    bool isAsymmetric;
};
const EarlyUser earlyUser;

TEST(AsymmetricFenceTest, ChoiceOfStaticInitialisationStays) {
    EXPECT_EQ(AsymmetricFence::isAsymmetric(), earlyUser.isAsymmetric);
    EXPECT_FALSE(PortableFence::isAsymmetric());
}

// ---- store-load litmus: at least one of two threads sees the other's store

struct alignas(128) Flag {
    std::atomic<int> value{0};
};

// Each round tries a row of independent pairs of variables. A heavy() that takes microseconds
// overlaps with the start of a round only, so then one pair is all; two quick fences meet somewhere
// within the row.
template <class Fence>
int countPairsWhereNobodySaw(int rounds) {
    constexpr std::size_t maxPairs = 64;
    const std::size_t pairs = Fence::isAsymmetric() ? 1 : maxPairs;
    std::vector<Flag> x(maxPairs);
    std::vector<Flag> y(maxPairs);
    std::array<int, maxPairs> seenByLight{};
    std::array<int, maxPairs> seenByHeavy{};
    test::Rendezvous rendezvous;

    std::thread lightSide([&] {
        for (int round = 1; round <= rounds; ++round) {
            rendezvous.arrive();
            for (std::size_t i = 0; i < pairs; ++i) {
                for (int skew = round % 8; skew > 0; --skew) {
                    cpuPause();
                }
                x[i].value.store(round, std::memory_order_relaxed);
                Fence::light();
                seenByLight[i] = y[i].value.load(std::memory_order_relaxed);
            }
            rendezvous.arrive();
        }
    });
    int bothBlind = 0;
    for (int round = 1; round <= rounds; ++round) {
        rendezvous.arrive();
        for (std::size_t i = 0; i < pairs; ++i) {
            y[i].value.store(round, std::memory_order_relaxed);
            Fence::heavy();
            seenByHeavy[i] = x[i].value.load(std::memory_order_relaxed);
        }
        rendezvous.arrive();
        for (std::size_t i = 0; i < pairs; ++i) {
            bothBlind += seenByHeavy[i] != round && seenByLight[i] != round ? 1 : 0;
        }
    }
    lightSide.join();
    return bothBlind;
}

TEST(FenceLitmusTest, OneOfTwoSeesTheOther) {
    EXPECT_EQ(countPairsWhereNobodySaw<PortableFence>(20000), 0);
    EXPECT_EQ(countPairsWhereNobodySaw<BasicAsymmetricFence<>>(20000), 0);
}

// ---- scripted kernels

// Each test has a kernel type of its own, since the choice of a BasicAsymmetricFence is made once
// per type.
template <class Script>
struct ScriptedKernel : detail::MembarrierKernel {
    static bool call(int command) {
        calls.push_back(command);
        return Script::answer(command);
    }
    inline static std::vector<int> calls;
};

constexpr int registration = detail::MembarrierKernel::commandRegisterPrivateExpedited;
constexpr int barrier = detail::MembarrierKernel::commandPrivateExpedited;

TEST(ScriptedKernelTest, WithoutMembarrierBothSidesAreFullFences) {
    struct Old {
        static bool answer(int) { return false; }
    };
    using Kernel = ScriptedKernel<Old>;
    using Fence = BasicAsymmetricFence<Kernel>;
    EXPECT_FALSE(Fence::tryLight()) << "undecided";
    Fence::light();
    EXPECT_EQ(Kernel::calls, std::vector<int>{registration});
    Fence::heavy();
    Fence::light();
    EXPECT_FALSE(Fence::tryLight());
    EXPECT_FALSE(Fence::isAsymmetric());
    EXPECT_EQ(Kernel::calls.size(), 1u) << "the kernel is asked once";
}

TEST(ScriptedKernelTest, WithMembarrierOnlyHeavyCallsTheKernel) {
    struct Modern {
        static bool answer(int) { return true; }
    };
    using Kernel = ScriptedKernel<Modern>;
    using Fence = BasicAsymmetricFence<Kernel>;
    EXPECT_FALSE(Fence::tryLight()) << "undecided";
    EXPECT_TRUE(Fence::isAsymmetric());
    EXPECT_TRUE(Fence::tryLight());
    EXPECT_EQ(Kernel::calls, (std::vector<int>{registration, barrier}));
    Kernel::calls.clear();
    Fence::light();
    EXPECT_TRUE(Kernel::calls.empty());
    Fence::heavy();
    EXPECT_EQ(Kernel::calls, std::vector<int>{barrier});
}

TEST(ScriptedKernelTest, RegistrationWithoutABarrierIsNotTrusted) {
    struct HalfSandboxed {
        static bool answer(int command) { return command == registration; }
    };
    using Fence = BasicAsymmetricFence<ScriptedKernel<HalfSandboxed>>;
    EXPECT_FALSE(Fence::isAsymmetric());
}

TEST(ScriptedKernelTest, LostRegistrationIsRenewed) {
    static bool isRegistered;
    struct Forgetful {
        static bool answer(int command) {
            isRegistered = isRegistered || command == registration;
            return isRegistered;
        }
    };
    using Kernel = ScriptedKernel<Forgetful>;
    using Fence = BasicAsymmetricFence<Kernel>;
    Fence::heavy();
    isRegistered = false;
    Kernel::calls.clear();
    Fence::heavy();
    EXPECT_EQ(Kernel::calls, (std::vector<int>{barrier, registration, barrier}));
}

TEST(ScriptedKernelDeathTest, RefusalAfterTheChoiceEndsTheProgram) {
    static bool isSandboxed;
    struct Sandboxed {
        static bool answer(int) { return !isSandboxed; }
    };
    using Fence = BasicAsymmetricFence<ScriptedKernel<Sandboxed>>;
    Fence::heavy();
    isSandboxed = true;
    EXPECT_DEATH(Fence::heavy(), "the kernel refuses membarrier");
}

// Another thread asks, is refused and decides while the first caller is still asking.
struct OvertakenKernel : detail::MembarrierKernel {
    static bool call(int command) {
        if (command != registration) {
            return true;
        }
        if (wasAsked) {
            return false;
        }
        wasAsked = true;
        std::thread([] { BasicAsymmetricFence<OvertakenKernel>::light(); }).join();
        return true;
    }
    inline static bool wasAsked = false;
};

TEST(ScriptedKernelTest, ThreadThatLosesTheRaceForTheChoiceAdoptsIt) {
    EXPECT_FALSE(BasicAsymmetricFence<OvertakenKernel>::isAsymmetric());
    EXPECT_FALSE(BasicAsymmetricFence<OvertakenKernel>::isAsymmetric());
}

// ---- the real kernel

TEST(MembarrierTest, RefusedCommandLeavesErrnoAlone) {
    constexpr int noSuchCommand = 1 << 30;
    errno = 7;
    EXPECT_FALSE(detail::MembarrierKernel::call(noSuchCommand));
    EXPECT_EQ(errno, 7);
}

}  // namespace
}  // namespace sluice
