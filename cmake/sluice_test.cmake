# GoogleTest from Debian's sources, built with the flags of the current build, and
# sluice_add_test().

set(SLUICE_GOOGLETEST_DIR /usr/src/googletest/googletest
    CACHE PATH "GoogleTest's sources (Debian: package googletest)")
if(NOT EXISTS "${SLUICE_GOOGLETEST_DIR}/src/gtest-all.cc")
    message(FATAL_ERROR
        "GoogleTest's sources are not in ${SLUICE_GOOGLETEST_DIR}. "
        "Install Debian's googletest, or set SLUICE_GOOGLETEST_DIR or SLUICE_BUILD_TESTS=OFF.")
endif()
find_package(Threads REQUIRED)

# GoogleTest's own build files add -fexceptions; compiled here it keeps this build's flags to the
# letter.
add_library(sluice_gtest STATIC "${SLUICE_GOOGLETEST_DIR}/src/gtest-all.cc")
target_compile_features(sluice_gtest PUBLIC cxx_std_17)
target_include_directories(sluice_gtest SYSTEM PUBLIC "${SLUICE_GOOGLETEST_DIR}/include")
target_include_directories(sluice_gtest PRIVATE "${SLUICE_GOOGLETEST_DIR}")
target_compile_options(sluice_gtest PRIVATE -w)
target_link_libraries(sluice_gtest PUBLIC Threads::Threads)

# What starts a test: an emulator, if it is built for another processor. The ThreadSanitizers of
# clang 16 and g++ 12 know no address layout with more than 28 random bits; where the kernel uses
# more, the tests run with a fixed layout.
set(SLUICE_TEST_LAUNCHER ${CMAKE_CROSSCOMPILING_EMULATOR})
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread" AND EXISTS /proc/sys/vm/mmap_rnd_bits)
    file(READ /proc/sys/vm/mmap_rnd_bits sluice_random_bits)
    if(sluice_random_bits GREATER 28)
        set(SLUICE_TEST_LAUNCHER setarch -R)
    endif()
endif()

# sluice_add_test(NAME <name> SOURCES <file>... [LINK <target>...] [PROCESSORS <n>]
#     [TIMEOUT <seconds>] [STANDARD <C++ standard, if not 17>] [HEADERS <a library of sluice_parse_headers()>])
# An executable <name>_test whose every test case is a test of its own, <name>.<suite>.<case>. A
# folder may still be empty: then nothing is added. TIMEOUT ends a test that hangs; no test asserts
# how fast it is.
function(sluice_add_test)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;PROCESSORS;TIMEOUT;STANDARD;HEADERS" "SOURCES;LINK")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME)
        message(FATAL_ERROR
            "sluice_add_test: unknown or missing argument: ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT arg_SOURCES)
        message(STATUS "sluice: no sources yet for the tests '${arg_NAME}'")
        return()
    endif()
    if(NOT arg_PROCESSORS)
        set(arg_PROCESSORS 1)
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 180)
    endif()
    if(NOT arg_HEADERS)
        set(arg_HEADERS sluice_test_headers)
    endif()

    set(target ${arg_NAME}_test)
    add_executable(${target} ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE ${arg_LINK} sluice_test_support)
    if(arg_STANDARD)
        target_compile_features(${target} PRIVATE cxx_std_${arg_STANDARD})
    else()
        sluice_reuse_headers(${target} ${arg_HEADERS})
    endif()
    sluice_record_program(${target} ${arg_NAME}. ${arg_SOURCES})
    sluice_discover_tests(${target} ${arg_NAME}
        "TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_PROCESSORS} LABELS ${arg_NAME}")
endfunction()

# sluice_discover_tests(<target> <prefix> <properties>): lists the cases when the program is built.
function(sluice_discover_tests target prefix properties)
    set(tests "${CMAKE_CURRENT_BINARY_DIR}/${target}.tests.cmake")
    set(include "${CMAKE_CURRENT_BINARY_DIR}/${target}.include.cmake")
    file(WRITE "${include}"
        "if(EXISTS [==[${tests}]==])\n"
        "    include([==[${tests}]==])\n"
        "else()\n"
        "    add_test(${prefix}.NOT_BUILT ${target}_is_not_built)\n"
        "endif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include}")
    add_custom_command(TARGET ${target} POST_BUILD
        BYPRODUCTS "${tests}"
        COMMAND "${CMAKE_COMMAND}"
            "-DEXECUTABLE=$<TARGET_FILE:${target}>"
            "-DLAUNCHER=${SLUICE_TEST_LAUNCHER}"
            "-DPREFIX=${prefix}"
            "-DPROPERTIES=${properties}"
            "-DOUTPUT=${tests}"
            -P "${PROJECT_SOURCE_DIR}/cmake/discover_tests.cmake"
        VERBATIM)
endfunction()

# sluice_record_program(<target> <what its tests' names begin with> [<source>...]): so that
# tools/select_tests.py can find the programs that hold a test.
function(sluice_record_program target prefix)
    set(sources "")
    foreach(source IN LISTS ARGN)
        cmake_path(ABSOLUTE_PATH source)
        list(APPEND sources "${source}")
    endforeach()
    list(JOIN sources "|" sources)
    set_property(GLOBAL APPEND PROPERTY SLUICE_TEST_PROGRAMS "${target} ${prefix} ${sources}")
endfunction()

# sluice_write_test_programs(): one line for each program, in the build folder.
function(sluice_write_test_programs)
    get_property(programs GLOBAL PROPERTY SLUICE_TEST_PROGRAMS)
    list(JOIN programs "\n" text)
    file(WRITE "${PROJECT_BINARY_DIR}/test_programs.txt" "${text}\n")
endfunction()
