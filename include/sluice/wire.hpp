#pragma once

// All public headers of the module wire.

#include <sluice/wire/buffer.hpp>
#include <sluice/wire/codec.hpp>
#include <sluice/wire/decode_error.hpp>
#include <sluice/wire/describe.hpp>
#include <sluice/wire/envelope.hpp>
#include <sluice/wire/message_pack.hpp>
#include <sluice/wire/schema_hash.hpp>
