#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <new>
#include <string>

namespace sluice::bench {

/// The file name of the shared library that a function of this process comes from; empty when it is
/// the program itself or unknown.
template <class Function>
std::string libraryOf(Function* function) {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(function), &info) == 0 || info.dli_fname == nullptr) {
        return {};
    }
    return info.dli_fname;
}

/// Why figures of a peer that brings a malloc() of its own would say nothing: empty when the
/// program and the C++ library still use the C library's. The peers are linked behind both of
/// these, so their malloc() is there and no call reaches it by that name.
inline std::string whyNotIsolated() {
    void* (*const newOperator)(std::size_t) = &::operator new;
    if (libraryOf(&std::malloc).find("libc.so") == std::string::npos) {
        return "it has replaced malloc(): that comes from " + libraryOf(&std::malloc);
    }
    if (libraryOf(newOperator).find("libstdc++.so") == std::string::npos) {
        return "it has replaced operator new: that comes from " + libraryOf(newOperator);
    }
    return {};
}

}  // namespace sluice::bench
