# A script: writes the Debian package and unpacks it. Takes BUILD, OUTPUT, CPACK, DPKG_DEB, and
# LINTIAN if the package is to be checked as well.

function(run result)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${ARGN}\nended with ${status}:\n${output}${errors}")
    endif()
    set(${result} "${output}${errors}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${OUTPUT}")
run(output "${CPACK}" -G DEB --config "${BUILD}/CPackConfig.cmake" -B "${OUTPUT}")
file(GLOB packages "${OUTPUT}/libsluice-dev_*_all.deb")
list(LENGTH packages count)
if(NOT count EQUAL 1)
    message(FATAL_ERROR "cpack wrote ${count} packages named libsluice-dev:\n${output}")
endif()

if(LINTIAN)
    # The suppressed tag asks for the number of a bug in Debian's own tracker. Only an upload to
    # Debian's archive has one.
    run(output "${LINTIAN}" --allow-root --display-info --fail-on error,warning,info
        --suppress-tags initial-upload-closes-no-bugs "${packages}")
    if(NOT output STREQUAL "")
        message(FATAL_ERROR "lintian:\n${output}")
    endif()
endif()

run(output "${DPKG_DEB}" -x "${packages}" "${OUTPUT}/unpacked")
if(EXISTS "${OUTPUT}/unpacked/usr/share/doc/sluice" OR
        NOT EXISTS "${OUTPUT}/unpacked/usr/share/doc/libsluice-dev/copyright")
    message(FATAL_ERROR "The package has other documents than its copyright and its changelog")
endif()
