#pragma once

// The fork's allocator: see eventpp/eventqueue.h.

#include <eventpp/eventqueue.h>
