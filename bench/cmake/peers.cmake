# The libraries that ours are compared with, for the programs that measure them.

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
    endforeach()
endfunction()

function(sluice_moodycamel_headers target)
    find_path(SLUICE_CONCURRENTQUEUE_INCLUDE concurrentqueue/concurrentqueue.h REQUIRED)
    find_path(SLUICE_READERWRITERQUEUE_INCLUDE readerwriterqueue/readerwriterqueue.h REQUIRED)
    target_include_directories(${target} SYSTEM PRIVATE
        "${SLUICE_CONCURRENTQUEUE_INCLUDE}" "${SLUICE_READERWRITERQUEUE_INCLUDE}")
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
    endif()
endfunction()
