#pragma once

/// \file
/// Declares the Windows functions that Sluice calls, with the types of <windows.h>. <windows.h> is
/// not included, because it defines thousands of macros.

#if defined(_WIN32)

#include <chrono>
#include <cstdint>

extern "C" {
struct HINSTANCE__;
__declspec(dllimport) unsigned long __stdcall GetCurrentThreadId();
__declspec(dllimport) HINSTANCE__* __stdcall GetModuleHandleW(const wchar_t*);
__declspec(dllimport) int __stdcall GetModuleHandleExW(unsigned long, const wchar_t*,
                                                       HINSTANCE__**);
__declspec(dllimport) std::intptr_t(__stdcall* __stdcall GetProcAddress(HINSTANCE__*,
                                                                        const char*))();
}

namespace sluice::detail::windows {

/// Finds a function of a loaded DLL, or returns null if this version of Windows lacks the function.
template <class Function>
Function* find(const wchar_t* library, const char* name) noexcept {
    return reinterpret_cast<Function*>(::GetProcAddress(::GetModuleHandleW(library), name));
}

/// Sleeps for `length`, rounded up to the timer tick of the system.
inline void nap(std::chrono::microseconds length) noexcept {
    using Call = long __stdcall(unsigned char, const std::int64_t*);
    static auto* const delay = find<Call>(L"ntdll.dll", "NtDelayExecution");
    const std::int64_t ticks = -10 * std::int64_t{length.count()};  // in 100 ns; negative: from now
    (void)delay(0, &ticks);
}

/// Keeps the calling DLL loaded until the program ends, because threads have state in the DLL.
inline bool keepLoaded() noexcept {
    static const char here = 0;
    HINSTANCE__* module = nullptr;
    constexpr unsigned long pinByAddress = 5;
    return ::GetModuleHandleExW(pinByAddress, reinterpret_cast<const wchar_t*>(&here), &module);
}

inline bool hasEndedThreads() noexcept {
    using Call = unsigned char __stdcall();
    static auto* const isEnding = find<Call>(L"ntdll.dll", "RtlDllShutdownInProgress");
    return isEnding() != 0;
}

}  // namespace sluice::detail::windows

#endif
