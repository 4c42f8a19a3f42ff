#pragma once

#include "../sanitizers.hpp"
#include "strands.hpp"

#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstring>
#include <cxxabi.h>
#include <functional>
#include <memory>
#include <ucontext.h>
#include <utility>

#if SLUICE_TEST_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#if SLUICE_TEST_TSAN
#include <sanitizer/tsan_interface.h>
#endif

// swapcontext() makes a system call for the signal mask, which no strand changes. _longjmp() makes
// no system call, but sanitizers and glibc's hardening refuse it between two stacks.
#if !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN && !defined(_FORTIFY_SOURCE)
#define SLUICE_MODEL_JUMPS 1
#endif

namespace sluice::model {

/// Strands as fibers of the explorer's thread: a switch costs far less than a microsecond, but all
/// strands share their thread-local objects. Sanitizers are told about each switch.
class FiberStrands final : public Strands {
public:
    FiberStrands() {
#if SLUICE_TEST_TSAN
        fibers_[explorer].tsanFiber = __tsan_get_current_fiber();
#endif
    }

    ~FiberStrands() override {
#if SLUICE_TEST_TSAN
        for (std::size_t i = 0; i < maxThreads; ++i) {
            if (fibers_[i].tsanFiber != nullptr) {
                __tsan_destroy_fiber(fibers_[i].tsanFiber);
            }
        }
#endif
    }

    void start(std::size_t strand, std::function<void()> body,
               std::function<void()> ended) override {
        Fiber& fiber = fibers_[strand];
        fiber.body = std::move(body);
        fiber.ended = std::move(ended);
        if (fiber.stack != nullptr) {
            return;  // the fiber waits in loop() for its next body
        }
        fiber.stack.reset(new char[stackSize]);
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.get();
        fiber.context.uc_stack.ss_size = stackSize;
        fiber.context.uc_link = nullptr;
        makecontext(&fiber.context, &FiberStrands::enter, 0);
#if SLUICE_TEST_TSAN
        fiber.tsanFiber = __tsan_create_fiber(0);
#endif
    }

    void transfer(std::size_t from, std::size_t to) override {
        Fiber& source = fibers_[from];
        Fiber& target = fibers_[to];
        source.exceptions = ownExceptions();
        entered_ = {this, from, to};
#if SLUICE_TEST_ASAN
        __sanitizer_start_switch_fiber(&source.asanStack, target.bottom(), target.size());
#endif
#if SLUICE_TEST_TSAN
        __tsan_switch_to_fiber(target.tsanFiber, 0);
#endif
        switchStacks(source, target);
        arrived(source);
    }

    void leave(std::size_t from, std::size_t to) override { transfer(from, to); }

    void collect() override {}
    void abandon() override {}

private:
    static constexpr std::size_t stackSize = std::size_t{256} * 1024;

    /// The C++ runtime's record of a thread's exceptions in flight. A destructor that runs because
    /// of an exception may switch strands.
    using Exceptions = std::array<unsigned char, 2 * sizeof(void*)>;

    struct Fiber {
        ucontext_t context{};
#if defined(SLUICE_MODEL_JUMPS)
        std::jmp_buf jump{};
        bool hasJump = false;  // false until the fiber has been left for the first time
#endif
        std::unique_ptr<char[]> stack;
        std::function<void()> body;
        std::function<void()> ended;
        Exceptions exceptions{};
        void* asanStack = nullptr;
        void* tsanFiber = nullptr;
        // The first fiber that the explorer switches to writes the explorer's stack here.
        const void* explorerBottom = nullptr;
        std::size_t explorerSize = 0;

        const void* bottom() const { return stack ? stack.get() : explorerBottom; }
        std::size_t size() const { return stack ? stackSize : explorerSize; }
    };

    struct Entered {
        FiberStrands* strands;
        std::size_t from;
        std::size_t to;
    };

    /// Returns when something switches back to `source`.
    static void switchStacks(Fiber& source, Fiber& target) {
#if defined(SLUICE_MODEL_JUMPS)
        source.hasJump = true;
        if (_setjmp(source.jump) == 0) {
            if (target.hasJump) {
                _longjmp(target.jump, 1);
            }
            setcontext(&target.context);
        }
#else
        swapcontext(&source.context, &target.context);
#endif
    }

    static Exceptions ownExceptions() {
        Exceptions exceptions;
        std::memcpy(exceptions.data(), abi::__cxa_get_globals(), exceptions.size());
        return exceptions;
    }

    static void enter() {
        FiberStrands& strands = *entered_.strands;
        const std::size_t strand = entered_.to;
        Fiber& fiber = strands.fibers_[strand];
        strands.arrived(fiber);
        for (;;) {
            fiber.body();
            fiber.ended();
        }
    }

    void arrived([[maybe_unused]] Fiber& fiber) {
#if SLUICE_TEST_ASAN
        const void* bottom = nullptr;
        std::size_t size = 0;
        __sanitizer_finish_switch_fiber(fiber.asanStack, &bottom, &size);
        if (entered_.from == explorer) {
            fibers_[explorer].explorerBottom = bottom;
            fibers_[explorer].explorerSize = size;
        }
#endif
        std::memcpy(abi::__cxa_get_globals(), fiber.exceptions.data(), fiber.exceptions.size());
    }

    std::array<Fiber, maxThreads + 1> fibers_;
    inline static Entered entered_{};
};

}  // namespace sluice::model

#undef SLUICE_MODEL_JUMPS
