# A file for pkg-config for each component: `sluice-queue`, and `sluice` for all modules.

set(SLUICE_PKG_CONFIG_DIR "${CMAKE_INSTALL_DATADIR}/pkgconfig")
# The names that other packages have in CMake and in pkg-config.
set(sluice_pkg_config_names
    spdlog::spdlog spdlog
    nlohmann_json::nlohmann_json nlohmann_json)

# sluice_pkg_config(<target> <name>): the file names the components that the target links, so
# pkg-config follows them as CMake does.
function(sluice_pkg_config target name)
    get_target_property(linked ${target} INTERFACE_LINK_LIBRARIES)
    set(required "")
    set(flags "-I\${includedir}")
    set(libraries "")
    if(NOT linked)
        set(linked "")
    endif()
    foreach(item IN LISTS linked)
        list(FIND sluice_pkg_config_names "${item}" index)
        if(item MATCHES "TARGET_EXISTS")
            continue()  # a message of CMake: see sluice_needs
        elseif(item STREQUAL "Threads::Threads")
            string(APPEND flags " -pthread")
            set(libraries " -pthread")
        elseif(item MATCHES "^sluice_(.+)$")
            list(APPEND required "sluice-${CMAKE_MATCH_1}")
        elseif(index GREATER_EQUAL 0)
            math(EXPR index "${index} + 1")
            list(GET sluice_pkg_config_names ${index} other)
            list(APPEND required "${other}")
        else()
            message(FATAL_ERROR "sluice_pkg_config_names lacks the name of ${item}, which ${target} links")
        endif()
    endforeach()
    list(JOIN required ", " required)

    # The prefix follows the file, so that an install tree can be moved. Absolute folders cannot move.
    if(IS_ABSOLUTE "${SLUICE_PKG_CONFIG_DIR}")
        set(prefix "${CMAKE_INSTALL_PREFIX}")
    else()
        file(RELATIVE_PATH up "/prefix/${SLUICE_PKG_CONFIG_DIR}" "/prefix")
        string(REGEX REPLACE "/$" "" up "${up}")
        set(prefix "\${pcfiledir}/${up}")
    endif()
    if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
        set(include "${CMAKE_INSTALL_INCLUDEDIR}")
    else()
        set(include "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
    endif()
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc" @ONLY CONTENT
"prefix=@prefix@
includedir=@include@

Name: @name@
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Requires: @required@
Cflags: @flags@
Libs:@libraries@
")
    install(FILES "${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc"
        DESTINATION "${SLUICE_PKG_CONFIG_DIR}"
        COMPONENT sluice_headers)
endfunction()

sluice_pkg_config(sluice sluice)
foreach(component IN LISTS SLUICE_MODULES SLUICE_SEPARATE_TARGETS)
    sluice_pkg_config(sluice_${component} sluice-${component})
endforeach()
