# Writes OUTPUT, a source file that says how the program's sources under FOLDER were compiled and
# from which commit: `cmake -DCOMMANDS=compile_commands.json -DFOLDER=... -DOUTPUT=... -P ...`.
# Refuses sources that were compiled with different flags: their figures could not be compared.

# Flags that do not change the speed of the code are left out: names of files and folders, warnings,
# and definitions other than those that turn checks on and off.
function(flags_of command result)
    separate_arguments(words UNIX_COMMAND "${command}")
    set(kept "")
    foreach(word IN LISTS words)
        if(word MATCHES "^-(O|f|m|std=|g|pthread|DNDEBUG|D_GLIBCXX_|D_FORTIFY)")
            list(APPEND kept "${word}")
        endif()
    endforeach()
    list(JOIN kept " " kept)
    set(${result} "${kept}" PARENT_SCOPE)
endfunction()

set(sets "")
set(units 0)
if(EXISTS "${COMMANDS}")
    file(READ "${COMMANDS}" json)
    string(JSON count LENGTH "${json}")
    math(EXPR last "${count} - 1")
    foreach(index RANGE ${last})
        string(JSON file GET "${json}" ${index} file)
        cmake_path(IS_PREFIX FOLDER "${file}" is_ours)
        # A library that is loaded elsewhere is no part of the program.
        if(is_ours AND NOT file MATCHES "/counting_malloc/")
            string(JSON command GET "${json}" ${index} command)
            flags_of("${command}" flags)
            list(APPEND sets "${flags}")
            math(EXPR units "${units} + 1")
        endif()
    endforeach()
    list(REMOVE_DUPLICATES sets)
    list(LENGTH sets different)
    if(different GREATER 1)
        list(JOIN sets "\n  " sets)
        message(FATAL_ERROR "the benchmark's sources are compiled with different flags:\n  ${sets}")
    endif()
endif()

set(commit "")
set(dirty false)
execute_process(COMMAND git rev-parse HEAD
    WORKING_DIRECTORY "${FOLDER}" OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(commit)
    execute_process(COMMAND git status --porcelain
        WORKING_DIRECTORY "${FOLDER}" OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
        set(dirty true)
    endif()
endif()

configure_file("${CMAKE_CURRENT_LIST_DIR}/build_record.cpp.in" "${OUTPUT}" @ONLY)
