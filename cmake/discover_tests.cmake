# A script: lists the test cases of a GoogleTest program and writes the commands that make each a
# test of ctest. CMake's own discovery puts the full types of typed suites into the names.
#
# With SLUICE_TEST_SUITES in ctest's environment each suite is one test instead: under a sanitizer a
# program takes longer to start than most cases take to run.
#
# Takes EXECUTABLE, LAUNCHER, PREFIX, PROPERTIES and OUTPUT.

execute_process(
    COMMAND ${LAUNCHER} "${EXECUTABLE}" --gtest_list_tests
    OUTPUT_VARIABLE listing
    RESULT_VARIABLE result
    TIMEOUT 120)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "${EXECUTABLE} does not list its tests (${result}):\n${listing}")
endif()

# A test that was skipped exits with 77: see tests/support/test_main.cpp.
macro(add_command list name filter)
    string(APPEND ${list}
        "add_test([==[${name}]==] ${LAUNCHER} [==[${EXECUTABLE}]==]"
        " [==[--gtest_filter=${filter}]==])\n"
        "set_tests_properties([==[${name}]==] PROPERTIES ${PROPERTIES} SKIP_RETURN_CODE 77)\n")
endmacro()

# `Suite.` and, indented, `case`; behind either may follow `# TypeParam = ...` or `# GetParam() = ...`.
string(REPLACE ";" "," listing "${listing}")
string(REPLACE "[" "(" listing "${listing}")
string(REPLACE "]" ")" listing "${listing}")
string(REPLACE "\n" ";" lines "${listing}")
set(cases "")
set(suites "")
set(count 0)
foreach(line IN LISTS lines)
    string(REGEX REPLACE " +#.*" "" line "${line}")
    if(line STREQUAL "")
        continue()
    elseif(line MATCHES "^([A-Za-z0-9_/]+)\\.$")
        set(suite "${CMAKE_MATCH_1}")
        add_command(suites "${PREFIX}.${suite}" "${suite}.*")
    elseif(line MATCHES "^  ([A-Za-z0-9_/]+)$")
        set(case "${suite}.${CMAKE_MATCH_1}")
        set(name "${PREFIX}.${case}")
        if(name MATCHES "DISABLED_")
            message(FATAL_ERROR "${name} would never run: mend it or remove it")
        endif()
        if(DEFINED "seen ${name}")
            message(FATAL_ERROR "${EXECUTABLE} lists ${name} twice: its types need names")
        endif()
        set("seen ${name}" TRUE)
        add_command(cases "${name}" "${case}")
        math(EXPR count "${count} + 1")
    else()
        message(FATAL_ERROR "${EXECUTABLE} lists a test that is not understood: ${line}")
    endif()
endforeach()
if(count EQUAL 0)
    message(FATAL_ERROR "${EXECUTABLE} lists no test")
endif()
file(WRITE "${OUTPUT}" "if(NOT DEFINED ENV{SLUICE_TEST_SUITES})\n${cases}else()\n${suites}endif()\n")
