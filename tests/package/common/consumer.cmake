# The program of every consumer, and the promise that Sluice adds nothing to it but headers, C++17
# and threads.

function(add_consumer_program)
    add_executable(consumer "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/main.cpp")
    target_link_libraries(consumer PRIVATE sluice::sluice sluice::eventpp)

    foreach(target IN ITEMS sluice::base sluice::fixed sluice::wait sluice::queue sluice::event
            sluice::eventpp sluice::sluice)
        foreach(kind IN ITEMS COMPILE_OPTIONS COMPILE_DEFINITIONS LINK_OPTIONS)
            get_target_property(value ${target} INTERFACE_${kind})
            if(value)
                message(FATAL_ERROR "${target} forces ${kind} on its users: ${value}")
            endif()
        endforeach()
    endforeach()
    foreach(target IN ITEMS sluice_gtest sluice_test_support hostwatch sluice_bench_harness)
        if(TARGET ${target})
            message(FATAL_ERROR "Sluice builds '${target}' inside a project that only uses it")
        endif()
    endforeach()
endfunction()
