# A script: programs that know Sluice from pkg-config alone. Takes COMPILER, PREFIX, COMPONENTS,
# BINARY_DIR and SOURCE_DIR.

# Only the install tree, and the folders with the packages of others.
set(ENV{PKG_CONFIG_PATH} "${PREFIX}/share/pkgconfig")

function(run result)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${ARGN}\nended with ${status}:\n${output}${errors}")
    endif()
    set(${result} "${output}" PARENT_SCOPE)
endfunction()

# build(<program> <source> <package>...)
function(build program source)
    run(output pkg-config --cflags --libs ${ARGN})
    separate_arguments(flags UNIX_COMMAND "${output}")
    run(output "${COMPILER}" -std=c++17 "${source}" ${flags} -o "${program}")
endfunction()

file(MAKE_DIRECTORY "${BINARY_DIR}")
build("${BINARY_DIR}/consumer" "${SOURCE_DIR}/../common/main.cpp" sluice sluice-eventpp)
run(output "${BINARY_DIR}/consumer")
if(NOT output STREQUAL "carried\n")
    message(FATAL_ERROR "The consumer printed '${output}'")
endif()

# One module brings the modules below it, and threads.
run(output pkg-config --cflags sluice-queue)
if(NOT output MATCHES "-pthread")
    message(FATAL_ERROR "sluice-queue lacks -pthread: ${output}")
endif()
run(output pkg-config --print-requires sluice-queue)
if(NOT output MATCHES "sluice-wait" OR output MATCHES "sluice-bus")
    message(FATAL_ERROR "sluice-queue requires the wrong components:\n${output}")
endif()

list(LENGTH COMPONENTS count)
if(count LESS 9)
    message(FATAL_ERROR "Too few components to believe: ${COMPONENTS}")
endif()
foreach(component IN LISTS COMPONENTS)
    run(output pkg-config --validate "sluice-${component}")
endforeach()
execute_process(COMMAND pkg-config --exists sluice-no_such_module RESULT_VARIABLE status)
if(status EQUAL 0)
    message(FATAL_ERROR "pkg-config found a component that does not exist")
endif()
