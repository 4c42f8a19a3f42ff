#pragma once

// The functions of <dlfcn.h> that the tests of plugins call, for Windows.

#include <windows.h>

#include <string>

inline constexpr int RTLD_NOW = 0;
inline constexpr int RTLD_LOCAL = 0;

inline void* dlopen(const char* name, int) {
    return LoadLibraryA(name);
}
inline void* dlsym(void* library, const char* name) {
    return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}
inline int dlclose(void* library) {
    return FreeLibrary(static_cast<HMODULE>(library)) != 0 ? 0 : -1;
}
inline const char* dlerror() {
    static const std::string text = "error " + std::to_string(GetLastError());
    return text.c_str();
}
