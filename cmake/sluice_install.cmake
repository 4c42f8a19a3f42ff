# Install rules: the headers, and a package for find_package(sluice CONFIG).

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(SLUICE_PACKAGE_DIR "${CMAKE_INSTALL_DATADIR}/cmake/sluice")
set(sluice_targets ${SLUICE_MODULES} ${SLUICE_SEPARATE_TARGETS})
list(TRANSFORM sluice_targets PREPEND sluice_)

if(SLUICE_COMPILED_LOG)
    list(APPEND sluice_targets sluice_log_compiled)
    set(sluice_architecture "")
else()
    set(sluice_architecture ARCH_INDEPENDENT)
endif()

install(TARGETS sluice ${sluice_targets}
    EXPORT sluice_targets
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT sluice_headers
    FILE_SET details DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT sluice_headers)
install(EXPORT sluice_targets
    FILE sluice-targets.cmake
    NAMESPACE sluice::
    DESTINATION "${SLUICE_PACKAGE_DIR}"
    COMPONENT sluice_headers)

# The names that COMPONENTS takes, for the message about one that does not exist.
set(sluice_components "")
foreach(target IN LISTS sluice_targets)
    get_target_property(component ${target} EXPORT_NAME)
    list(APPEND sluice_components ${component})
endforeach()
list(SORT sluice_components)
list(JOIN sluice_components " " sluice_components)
configure_package_config_file(
    "${CMAKE_CURRENT_LIST_DIR}/sluice-config.cmake.in"
    "${PROJECT_BINARY_DIR}/sluice-config.cmake"
    INSTALL_DESTINATION "${SLUICE_PACKAGE_DIR}"
    NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change an interface.
write_basic_package_version_file(
    "${PROJECT_BINARY_DIR}/sluice-config-version.cmake"
    COMPATIBILITY SameMinorVersion
    ${sluice_architecture})
install(FILES
    "${PROJECT_BINARY_DIR}/sluice-config.cmake"
    "${PROJECT_BINARY_DIR}/sluice-config-version.cmake"
    DESTINATION "${SLUICE_PACKAGE_DIR}"
    COMPONENT sluice_headers)
# For gdb, for VS Code, and for compilers with C++20 modules.
install(FILES
    "${PROJECT_SOURCE_DIR}/tools/gdb_printers.py"
    "${PROJECT_SOURCE_DIR}/tools/sluice.natvis"
    "${PROJECT_SOURCE_DIR}/src/module/sluice.cppm"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/sluice"
    COMPONENT sluice_headers)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/sluice"
    COMPONENT sluice_license)

include(sluice_pkg_config)
if(PROJECT_IS_TOP_LEVEL)
    include(sluice_debian)
endif()
