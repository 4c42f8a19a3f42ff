# `cpack -G DEB` writes one Debian package, libsluice-dev, from the install rules. It carries the licence
# and the history of the package in Debian's own form, so it leaves out what installs the LICENSE file.

set(SLUICE_PACKAGE_MAINTAINER "Sluice maintainers <maintainers@example.org>"
    CACHE STRING "Name and mail address in the Debian package")

find_program(SLUICE_GZIP gzip)
if(NOT SLUICE_GZIP)
    return()
endif()

set(sluice_debian_dir "${PROJECT_BINARY_DIR}/debian")
configure_file("${CMAKE_CURRENT_LIST_DIR}/debian/changelog.in" "${sluice_debian_dir}/changelog" @ONLY)
# Without the time and the name of the file, so that two builds give the same bytes.
execute_process(
    COMMAND "${SLUICE_GZIP}" --best --no-name --stdout "${sluice_debian_dir}/changelog"
    OUTPUT_FILE "${sluice_debian_dir}/changelog.Debian.gz"
    COMMAND_ERROR_IS_FATAL ANY)
install(
    FILES "${CMAKE_CURRENT_LIST_DIR}/debian/copyright" "${sluice_debian_dir}/changelog.Debian.gz"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/libsluice-dev"
    COMPONENT sluice_debian EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGE_NAME sluice)
set(CPACK_PACKAGE_CONTACT "${SLUICE_PACKAGE_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL sluice_headers sluice_debian)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_NAME libsluice-dev)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libspdlog-dev, nlohmann-json3-dev")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "The library consists of C++17 headers: queues, a
callback list, an event queue, a typed bus with priorities, active objects and
an asynchronous log for spdlog.")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
include(CPack)
