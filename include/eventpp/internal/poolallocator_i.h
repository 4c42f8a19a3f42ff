#pragma once

#include <eventpp/eventqueue.h>
