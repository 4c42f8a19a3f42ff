# A script: the C++20 module is compiled, and a program that imports it. CMake 3.25 has no rule for
# modules, so the compiler is called as docs/how-to/cpp20-module.md does. Takes COMPILER, MODULE,
# SOURCE, INCLUDE and OUTPUT.

set(flags -std=c++20 -pthread -Wall -Wextra -Werror)
file(MAKE_DIRECTORY "${OUTPUT}")
execute_process(
    COMMAND "${COMPILER}" ${flags} "-I${INCLUDE}" --precompile "${MODULE}" -o "${OUTPUT}/sluice.pcm"
    COMMAND_ERROR_IS_FATAL ANY)
execute_process(
    COMMAND "${COMPILER}" ${flags} "-fmodule-file=sluice=${OUTPUT}/sluice.pcm"
        "${SOURCE}" "${OUTPUT}/sluice.pcm" -o "${OUTPUT}/consumer"
    COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${OUTPUT}/consumer" COMMAND_ERROR_IS_FATAL ANY)
