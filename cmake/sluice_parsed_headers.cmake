# sluice_parse_headers(<name> [WITH_CODE] [OPTIONS <compiler's option>...] [LINK <target>...] HEADERS <header>...):
# headers that the sources of several programs need not parse again. WITH_CODE: clang compiles the functions of these
# headers once, too, with these options. It pays if many of them are no templates.
#
# A source includes what it uses all the same: `./dev check` compiles it without precompiled headers. The builds without
# tests have none. CMake would make all these headers system headers, which have no warnings.
#
# The file that the compiler makes of the headers holds the folder of the clone. So the compiler cache does not look into
# that file: it compares the headers, which the compiler lists for each object. For the same reason clang gets no absolute
# path beside that file.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)
    set(CMAKE_PCH_PROLOGUE "")
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Winvalid-pch -fpch-deps -include <PCH_HEADER>)
endif()

set(SLUICE_STANDARD_HEADERS <algorithm> <array> <atomic> <chrono> <condition_variable> <cstddef> <cstdint> <deque>
    <fstream> <functional> <future> <map> <memory> <mutex> <optional> <set> <sstream> <string> <string_view> <thread>
    <tuple> <type_traits> <utility> <variant> <vector>)

function(sluice_parse_headers name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "WITH_CODE" "" "OPTIONS;LINK;HEADERS")
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "")
    add_library(${name} STATIC "${source}")
    target_link_libraries(${name} PUBLIC ${arg_LINK})
    target_compile_features(${name} PUBLIC cxx_std_17)
    target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
    set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "")
    set(parsed "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx")
    foreach(ending IN ITEMS pch gch)
        file(CONFIGURE OUTPUT "${parsed}.${ending}.sum" CONTENT "")
    endforeach()
    if(arg_WITH_CODE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_GENERATOR STREQUAL "Ninja"
            AND NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
        target_compile_options(${name} PRIVATE -fpch-codegen)
        string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
        separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
        set(object "${CMAKE_CURRENT_BINARY_DIR}/${name}.o")
        add_custom_command(OUTPUT "${object}" DEPENDS "${parsed}.pch"
            COMMAND "${CMAKE_CXX_COMPILER}" ${flags} ${arg_OPTIONS} -c "${parsed}.pch" -o "${object}"
            COMMAND_EXPAND_LISTS VERBATIM)
        add_library(${name}_code STATIC "${object}")
        set_target_properties(${name}_code PROPERTIES LINKER_LANGUAGE CXX)
        target_link_libraries(${name}_code INTERFACE ${name})
    endif()
endfunction()

function(sluice_reuse_headers target headers)
    target_precompile_headers(${target} REUSE_FROM ${headers})
    target_link_libraries(${target} PRIVATE $<TARGET_NAME_IF_EXISTS:${headers}_code> ${headers})
endfunction()

# For programs that are not tests.
if(SLUICE_BUILD_TESTS)
    sluice_parse_headers(sluice_standard_headers LINK sluice::sluice HEADERS ${SLUICE_STANDARD_HEADERS})
    if(TARGET spdlog::spdlog)
        sluice_parse_headers(sluice_log_headers WITH_CODE LINK sluice::log HEADERS ${SLUICE_STANDARD_HEADERS}
            <spdlog/spdlog.h> <spdlog/sinks/basic_file_sink.h> <sluice/log.hpp>)
    endif()
endif()
