# The libraries that ours are compared with, for the programs that measure them.

# sluice_peer_version(<target> <definition> <peer> <folder> [<Debian package>])
# Defines the version of a library whose headers do not tell it, as a text: SLUICE_PEER_<peer>_VERSION if it is given,
# or what Debian or the repository of the folder says, or nothing.
function(sluice_peer_version target definition peer folder)
    set(SLUICE_PEER_${peer}_VERSION "" CACHE STRING "Version of the benchmark peer ${peer}")
    set(version "${SLUICE_PEER_${peer}_VERSION}")
    if(NOT version AND folder MATCHES "^/usr/include" AND ARGN)
        execute_process(COMMAND dpkg-query --show "--showformat=\${Version}" ${ARGN}
            OUTPUT_VARIABLE version ERROR_QUIET)
    elseif(NOT version AND folder)
        # A repository that only surrounds the folder has no file in it.
        execute_process(COMMAND git -C "${folder}" ls-files --error-unmatch .
            RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
        if(status EQUAL 0)
            execute_process(COMMAND git -C "${folder}" describe --tags --always --dirty
                OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        endif()
    endif()
    target_compile_definitions(${target} PRIVATE "${definition}=\"${version}\"")
endfunction()

# sluice_given_peers(<target> <peer>...)
# Peers that Debian does not package are measured where their headers are given:
# -DSLUICE_PEER_QUILL_INCLUDE=<dir> adds the folder and defines SLUICE_PEER_QUILL.
function(sluice_given_peers target)
    foreach(peer IN LISTS ARGN)
        set(SLUICE_PEER_${peer}_INCLUDE "" CACHE PATH "Headers of the benchmark peer ${peer}")
        if(SLUICE_PEER_${peer}_INCLUDE)
            if(NOT IS_DIRECTORY "${SLUICE_PEER_${peer}_INCLUDE}")
                message(FATAL_ERROR
                    "SLUICE_PEER_${peer}_INCLUDE: no folder ${SLUICE_PEER_${peer}_INCLUDE}")
            endif()
            if(NOT peer STREQUAL "SPDLOG")
                target_include_directories(${target} SYSTEM PRIVATE
                    "${SLUICE_PEER_${peer}_INCLUDE}")
            endif()
            target_compile_definitions(${target} PRIVATE SLUICE_PEER_${peer})
        endif()
        sluice_peer_version(${target} SLUICE_PEER_${peer}_VERSION ${peer} "${SLUICE_PEER_${peer}_INCLUDE}")
    endforeach()
endfunction()

function(sluice_moodycamel_headers target)
    find_path(SLUICE_CONCURRENTQUEUE_INCLUDE concurrentqueue/concurrentqueue.h REQUIRED)
    find_path(SLUICE_READERWRITERQUEUE_INCLUDE readerwriterqueue/readerwriterqueue.h REQUIRED)
    target_include_directories(${target} SYSTEM PRIVATE
        "${SLUICE_CONCURRENTQUEUE_INCLUDE}" "${SLUICE_READERWRITERQUEUE_INCLUDE}")
    foreach(peer CONCURRENTQUEUE READERWRITERQUEUE)
        string(TOLOWER lib${peer}-dev package)
        sluice_peer_version(${target} SLUICE_PEER_${peer}_VERSION ${peer} "${SLUICE_${peer}_INCLUDE}" ${package})
    endforeach()
endfunction()

# sluice_eventpp_objects(<target> <include> <namespace> <source> <definition>...)
# eventpp, its fork and our headers under its names have the same files and the same namespace: each
# is compiled into objects of its own, with its folder in front, and eventpp's namespace renamed.
function(sluice_eventpp_objects target include namespace source)
    add_library(${target} OBJECT ${source})
    target_link_libraries(${target} PRIVATE sluice::sluice)
    target_compile_definitions(${target} PRIVATE ${ARGN})
    if(NOT include STREQUAL SLUICE_INCLUDE_DIR)
        # Ours is made a system folder too, since those are searched after all others.
        target_include_directories(${target} SYSTEM BEFORE PRIVATE
            "${include}" "${SLUICE_INCLUDE_DIR}")
        target_compile_definitions(${target} PRIVATE eventpp=${namespace})
        string(REPLACE "_original" "" peer "${namespace}")
        string(TOUPPER "${peer}" peer)
        sluice_peer_version(${target} SLUICE_EVENTPP_VERSION ${peer} "${include}")
    endif()
endfunction()
