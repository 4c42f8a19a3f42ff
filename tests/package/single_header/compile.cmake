# A script: writes the single-header editions and links two files that hold several; the edition of the log is compiled
# alone. Takes COMPILER, PYTHON, TOOL, SOURCE_DIR, OUTPUT, and SPDLOG where spdlog is installed.

function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${ARGN}\nended with ${status}:\n${output}")
    endif()
endfunction()

file(REMOVE_RECURSE "${OUTPUT}")
run("${PYTHON}" -B "${TOOL}" "${OUTPUT}")
file(GLOB editions "${OUTPUT}/*.hpp")
list(LENGTH editions count)
if(count LESS 11)
    message(FATAL_ERROR "Too few editions to believe: ${editions}")
endif()

set(compile "${COMPILER}" -std=c++17 -Wall -Wextra -Werror "-I${OUTPUT}")
foreach(edition IN LISTS editions)
    cmake_path(GET edition FILENAME name)
    file(STRINGS "${edition}" licences REGEX "SPDX-License-Identifier")
    file(STRINGS "${edition}" own REGEX "^ *# *include *[<\"]sluice")
    list(LENGTH licences count)
    if(NOT count EQUAL 1 OR own)
        message(FATAL_ERROR "${name} has ${count} licence headers, and includes '${own}'")
    endif()
endforeach()

if(SPDLOG)
    file(WRITE "${OUTPUT}/log.cpp" "#include \"sluice_log.hpp\"\n")
    run(${compile} -fsyntax-only "${OUTPUT}/log.cpp")
endif()

run(${compile} -pthread "${SOURCE_DIR}/bus_and_queue.cpp" "${SOURCE_DIR}/everything.cpp"
    -o "${OUTPUT}/consumer")
run("${OUTPUT}/consumer")
