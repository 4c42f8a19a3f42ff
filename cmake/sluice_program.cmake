# sluice_parts(<name> DIRECTORIES <dir>... SOURCES <file>... [LINK <target>...])
# What a program is made of apart from its main function, as a target of its own, so that tests can
# link it. Headers alone are fine. Its files include each other relative to DIRECTORIES.
function(sluice_parts name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DIRECTORIES;SOURCES;LINK")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_DIRECTORIES)
        message(FATAL_ERROR
            "sluice_parts(${name}): unknown or missing argument: ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(arg_SOURCES)
        add_library(${name} STATIC ${arg_SOURCES})
        set(scope PUBLIC)
    else()
        add_library(${name} INTERFACE)
        set(scope INTERFACE)
    endif()
    target_include_directories(${name} ${scope} ${arg_DIRECTORIES})
    target_link_libraries(${name} ${scope} sluice::sluice ${arg_LINK})
endfunction()
