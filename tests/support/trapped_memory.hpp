#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory_resource>
#include <sys/mman.h>
#include <utility>

namespace sluice::test {

/// A memory resource that counts how often a call goes from one block to another one. So a test
/// measures steps instead of time.
///
/// Each block begins with a page of its own. During stepsOf(), only the two pages that were used
/// last are accessible. An access to another page traps, is counted, and opens that page. Freed
/// memory is not used again. One object and one thread at a time.
class TrappedMemory : public std::pmr::memory_resource {
public:
    TrappedMemory() {
        void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            std::abort();
        }
        begin_ = static_cast<std::byte*>(memory);
    }
    TrappedMemory(const TrappedMemory&) = delete;
    TrappedMemory& operator=(const TrappedMemory&) = delete;
    ~TrappedMemory() override { ::munmap(begin_, bytes); }

    template <class Call>
    std::size_t stepsOf(Call call) {
        struct sigaction handling = {};
        struct sigaction before = {};
        handling.sa_sigaction = [](int, siginfo_t* info, void*) { current->open(info->si_addr); };
        handling.sa_flags = SA_SIGINFO;
        current = this;
        steps_ = 0;
        ::sigaction(SIGSEGV, &handling, &before);
        protect(begin_, bytes, PROT_NONE);
        call();
        protect(begin_, bytes, PROT_READ | PROT_WRITE);
        ::sigaction(SIGSEGV, &before, nullptr);
        open_ = {};
        return steps_;
    }

private:
    static constexpr std::size_t page = 4096;
    static constexpr std::size_t bytes = std::size_t{1} << 26U;

    static void protect(std::byte* where, std::size_t size, int access) {
        if (::mprotect(where, size, access) != 0) {
            std::abort();
        }
    }

    /// A signal handler calls it.
    void open(void* address) {
        const auto offset =
            reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(begin_);
        if (offset >= bytes) {
            std::abort();  // an ordinary crash
        }
        std::byte* const closing =
            std::exchange(open_[steps_ % open_.size()], begin_ + offset / page * page);
        if (closing != nullptr) {
            protect(closing, page, PROT_NONE);
        }
        protect(open_[steps_ % open_.size()], page, PROT_READ | PROT_WRITE);
        ++steps_;
    }

    void* do_allocate(std::size_t size, std::size_t alignment) override {
        const std::size_t pages = (size + page - 1) / page;
        if (alignment > page || used_ + pages * page > bytes) {
            std::abort();
        }
        return begin_ + std::exchange(used_, used_ + pages * page);
    }
    void do_deallocate(void*, std::size_t, std::size_t) override {}
    [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }

    inline static TrappedMemory* current = nullptr;

    std::byte* begin_ = nullptr;
    std::size_t used_ = 0;
    std::size_t steps_ = 0;
    std::array<std::byte*, 2> open_{};  // an instruction may use two pages at once
};

}  // namespace sluice::test
