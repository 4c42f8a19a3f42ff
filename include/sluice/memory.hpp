#pragma once

// All public headers of the module memory.

#include <sluice/memory/block_pool.hpp>
#include <sluice/memory/block_pool_options.hpp>
#include <sluice/memory/buffer_pool.hpp>
#include <sluice/memory/data_token.hpp>
#include <sluice/memory/fixed_block_pool.hpp>
#include <sluice/memory/object_pool.hpp>
#include <sluice/memory/pool_allocator.hpp>
#include <sluice/memory/pool_resource.hpp>
#include <sluice/memory/pooled.hpp>
#include <sluice/memory/static_arena.hpp>
