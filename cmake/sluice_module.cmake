# Header-only targets, one for each module, and the umbrella target sluice::sluice.

set(SLUICE_INCLUDE_DIR "${PROJECT_SOURCE_DIR}/include")
set(SLUICE_MODULES "")
set(SLUICE_SEPARATE_HEADERS "")
set(SLUICE_SEPARATE_TARGETS "")

# sluice_declare(<target> <export name> <header>...): an interface target. Each header that a user includes is compiled
# alone; one in a folder `detail` is compiled with those that include it.
function(sluice_declare target exported)
    add_library(${target} INTERFACE)
    add_library(sluice::${exported} ALIAS ${target})
    set_target_properties(${target} PROPERTIES
        EXPORT_NAME ${exported}
        VERIFY_INTERFACE_HEADER_SETS ${PROJECT_IS_TOP_LEVEL})
    target_compile_features(${target} INTERFACE cxx_std_17)
    set(headers ${ARGN})
    set(details ${ARGN})
    list(FILTER headers EXCLUDE REGEX "/detail/")
    list(FILTER details INCLUDE REGEX "/detail/")
    target_sources(${target} INTERFACE
        FILE_SET HEADERS BASE_DIRS "${SLUICE_INCLUDE_DIR}" FILES ${headers}
        FILE_SET details TYPE HEADERS BASE_DIRS "${SLUICE_INCLUDE_DIR}" FILES ${details})
    set_property(TARGET ${target} PROPERTY INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)
endfunction()

# sluice_needs(<target> <package> <package's target>): the target's headers need another package, which
# not every user has. So the target is in no umbrella. A program that links it finds the package first;
# here that is wanted only to check the headers and to test them.
macro(sluice_needs target package provider)
    # CMake prints the name of a target that it does not find: here the name says what to write.
    target_link_libraries(${target} INTERFACE
        "$<$<NOT:$<TARGET_EXISTS:${provider}>>:${provider}: write find_package(${package} CONFIG REQUIRED) in this folder or above it>"
        ${provider})
    if(PROJECT_IS_TOP_LEVEL)
        find_package(${package} CONFIG QUIET)
    endif()
    if(NOT TARGET ${provider})
        set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS OFF)
    endif()
endmacro()

# sluice_module(<name> LEVEL <n> [THREADS] [FORWARDING] [PACKAGE <package> TARGET <target>]): every
# header of the module's folder belongs to it. With FORWARDING, the headers in include/<name> belong to
# it too: they offer the module, and lower ones, under another library's header names. A module that
# needs a package of others is in no umbrella.
function(sluice_module name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "THREADS;FORWARDING" "LEVEL;PACKAGE;TARGET" "")
    if(arg_UNPARSED_ARGUMENTS OR NOT DEFINED arg_LEVEL OR
            (DEFINED arg_PACKAGE AND NOT DEFINED arg_TARGET))
        message(FATAL_ERROR "sluice_module(${name}): write LEVEL <n> and, if needed, THREADS, "
            "FORWARDING and PACKAGE <package> TARGET <target>")
    endif()

    file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${SLUICE_INCLUDE_DIR}/sluice/${name}/*.hpp")
    list(REMOVE_ITEM headers ${SLUICE_SEPARATE_HEADERS})
    if(arg_FORWARDING)
        file(GLOB_RECURSE forwarding CONFIGURE_DEPENDS "${SLUICE_INCLUDE_DIR}/${name}/*.h")
        list(APPEND headers ${forwarding})
    endif()
    sluice_declare(sluice_${name} ${name} "${SLUICE_INCLUDE_DIR}/sluice/${name}.hpp" ${headers})

    foreach(lower IN LISTS SLUICE_MODULES)
        if(SLUICE_LEVEL_${lower} LESS arg_LEVEL)
            target_link_libraries(sluice_${name} INTERFACE sluice_${lower})
        endif()
    endforeach()
    if(arg_THREADS)
        set(THREADS_PREFER_PTHREAD_FLAG ON)
        find_package(Threads REQUIRED)
        target_link_libraries(sluice_${name} INTERFACE Threads::Threads)
    endif()

    if(arg_PACKAGE)
        sluice_needs(sluice_${name} ${arg_PACKAGE} ${arg_TARGET})
        list(APPEND SLUICE_SEPARATE_TARGETS ${name})
        set(SLUICE_SEPARATE_TARGETS "${SLUICE_SEPARATE_TARGETS}" PARENT_SCOPE)
    else()
        list(APPEND SLUICE_MODULES ${name})
        set(SLUICE_MODULES "${SLUICE_MODULES}" PARENT_SCOPE)
        set(SLUICE_LEVEL_${name} ${arg_LEVEL} PARENT_SCOPE)
    endif()
endfunction()

# sluice_separate_header(<name> <module>/<header> PACKAGE <package> TARGET <target>): a header of a
# module that, unlike the rest of it, needs a package of others. It has a target of its own,
# sluice::<name>. Write it before its module.
function(sluice_separate_header name header)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "PACKAGE;TARGET" "")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_PACKAGE OR NOT arg_TARGET)
        message(FATAL_ERROR "sluice_separate_header(${name}): write PACKAGE <package> TARGET <target>")
    endif()
    cmake_path(GET header PARENT_PATH module)
    set(path "${SLUICE_INCLUDE_DIR}/sluice/${header}")
    sluice_declare(sluice_${name} ${name} "${path}")
    target_link_libraries(sluice_${name} INTERFACE sluice_${module})
    sluice_needs(sluice_${name} ${arg_PACKAGE} ${arg_TARGET})
    list(APPEND SLUICE_SEPARATE_HEADERS "${path}")
    set(SLUICE_SEPARATE_HEADERS "${SLUICE_SEPARATE_HEADERS}" PARENT_SCOPE)
    list(APPEND SLUICE_SEPARATE_TARGETS ${name})
    set(SLUICE_SEPARATE_TARGETS "${SLUICE_SEPARATE_TARGETS}" PARENT_SCOPE)
endfunction()

# sluice_umbrella(): the target `sluice` that brings all modules.
function(sluice_umbrella)
    sluice_declare(sluice sluice "${SLUICE_INCLUDE_DIR}/sluice/sluice.hpp")
    foreach(module IN LISTS SLUICE_MODULES)
        target_link_libraries(sluice INTERFACE sluice_${module})
    endforeach()
endfunction()
