#pragma once

/// \file
/// The headers of this folder have those functions of the log that are not templates. A program
/// that links `sluice::log_compiled` finds them in the library. In any other program, each unit
/// compiles the functions that it uses.

#if defined(SLUICE_LOG_COMPILED_LIB)
#define SLUICE_LOG_INLINE
#else
#define SLUICE_LOG_INLINE inline
#endif
