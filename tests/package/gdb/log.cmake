# A script: a program that logs stops in gdb, where sluice-log prints the unwritten lines, of the program
# and of its core file. Takes COMPILER, GDB, PRINTERS, PKG_CONFIG, SOURCE, INCLUDE and OUTPUT.

set(time "\\[[0-9]+-[0-9]+-[0-9]+ [0-9]+:[0-9]+:[0-9]+\\.[0-9]+\\]")
string(CONCAT expected
    "second: 3 queued records\n"
    "${time} \\[copied\\] \\[info\\] in the lane\n"
    "${time} \\[copied\\] \\[info\\] a copy\n"
    "${time} \\[copied\\] \\[info\\] behind the copy\n"
    "first: not written to ${OUTPUT}\\.txt:\n"
    "${time} \\[direct\\] \\[warning\\] kept by the sink\n"
    "first: 7 queued records\n"
    "${time} \\[core\\] \\[warning\\] 7 of 8\n"
    "${time} \\[core\\] \\[error\\] order {} \\(not formatted\\)\n"
    "${time} \\[core\\] \\[critical\\] with a place\n"
    "${time} \\[core\\] \\[info\\] fields request=9\n"
    "${time} \\[core\\] \\[info\\] own {} \\(not formatted\\) request=9 user=ann ms=1\\.5\n"
    "${time} \\[core\\] \\[info\\] x+ end\n"
    "${time} \\[ended\\] \\[info\\] of an ended logger\n")

execute_process(
    COMMAND "${PKG_CONFIG}" --cflags --libs spdlog
    OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
execute_process(
    COMMAND "${COMPILER}" -std=c++17 -g -O0 -pthread "-I${INCLUDE}" "${SOURCE}" ${flags} -o "${OUTPUT}"
    COMMAND_ERROR_IS_FATAL ANY)

function(expect_lines way)
    execute_process(COMMAND "${GDB}" --batch -nx ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE errors)
    if(NOT output MATCHES "${expected}")
        message(FATAL_ERROR "${way}: gdb printed:\n${output}\n${errors}")
    endif()
endfunction()
expect_lines("a stopped program" -ex "break stopHere" -ex "run ${OUTPUT}.txt" -ex "source ${PRINTERS}"
    -ex sluice-log -ex "generate-core-file ${OUTPUT}.core" "${OUTPUT}")
expect_lines("a core file" -ex "source ${PRINTERS}" -ex sluice-log "${OUTPUT}" "${OUTPUT}.core")
file(REMOVE "${OUTPUT}.core")
