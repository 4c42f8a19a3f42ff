#include <sluice/base/role_check.hpp>
#include <sluice/log/file_sink.hpp>
#include <sluice/log/functions.hpp>
#include <sluice/log/spdlog_async.hpp>
#include <sluice/memory/block_pool.hpp>

#include <string>

// What dll_test.cpp calls in a DLL.

/// Leaves the block in the cache that the calling thread has in the DLL.
extern "C" void cacheInDll(sluice::BlockPool& pool) {
    pool.deallocate(pool.allocate());
}

extern "C" void logInDll(const std::string& file) {
    sluice::log::file_logger_mt<sluice::log::async_factory>("dll", file, true)->info("written");
}

extern "C" bool isHandlerInDll() {
    return sluice::HandlerThread<sluice::StdPlatform>::isHere();
}
