# A script: runs the overlay port without vcpkg, and builds a program with the installed files. Functions
# written after vcpkg's documentation replace the functions of vcpkg that the port calls. Takes PORT,
# CONSUMER, GENERATOR, COMPILER and OUTPUT.

cmake_policy(SET CMP0057 NEW)
file(REMOVE_RECURSE "${OUTPUT}")
set(CURRENT_PACKAGES_DIR "${OUTPUT}/installed")
set(build "${OUTPUT}/build")

# Configures SOURCE_PATH with OPTIONS, to be installed into CURRENT_PACKAGES_DIR.
function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 given "" "SOURCE_PATH" "OPTIONS")
    execute_process(
        COMMAND "${CMAKE_COMMAND}" -S "${given_SOURCE_PATH}" -B "${build}" -G "${GENERATOR}"
            "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_BUILD_TYPE=Release"
            "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" ${given_OPTIONS}
        OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_cmake_install)
    execute_process(
        COMMAND "${CMAKE_COMMAND}" --build "${build}" --target install
        OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Moves the package files from CONFIG_PATH to share/<port>. They find their prefix by their depth, which
# changes from three folders to two.
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 given "" "CONFIG_PATH" "")
    file(GLOB files "${CURRENT_PACKAGES_DIR}/${given_CONFIG_PATH}/*.cmake")
    if(NOT files)
        message(FATAL_ERROR "the port says CONFIG_PATH ${given_CONFIG_PATH}, and no package file is there")
    endif()
    foreach(file IN LISTS files)
        file(READ "${file}" text)
        string(REPLACE "/../../../\" ABSOLUTE" "/../../\" ABSOLUTE" text "${text}")
        string(REPLACE
            "get_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\nif" "if" text "${text}")
        cmake_path(GET file FILENAME name)
        file(WRITE "${CURRENT_PACKAGES_DIR}/share/sluice/${name}" "${text}")
    endforeach()
    file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/cmake")
endfunction()

function(vcpkg_fixup_pkgconfig)
    file(GLOB_RECURSE found "${CURRENT_PACKAGES_DIR}/*/pkgconfig/sluice.pc")
    if(NOT found)
        message(FATAL_ERROR "no pkg-config file was installed")
    endif()
endfunction()

function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 given "" "" "FILE_LIST")
    file(INSTALL ${given_FILE_LIST} DESTINATION "${CURRENT_PACKAGES_DIR}/share/sluice" RENAME copyright)
endfunction()

include("${PORT}/portfile.cmake")

file(READ "${PORT}/vcpkg.json" manifest)
string(JSON version GET "${manifest}" version)
file(READ "${CURRENT_PACKAGES_DIR}/share/sluice/sluice-config-version.cmake" installed)
string(FIND "${installed}" "set(PACKAGE_VERSION \"${version}\")" place)
if(place EQUAL -1)
    message(FATAL_ERROR "vcpkg.json says version ${version}, and another one was installed")
endif()
foreach(file IN ITEMS include/sluice/queue.hpp share/sluice/copyright share/sluice/sluice-config.cmake)
    if(NOT EXISTS "${CURRENT_PACKAGES_DIR}/${file}")
        message(FATAL_ERROR "the port has not installed ${file}")
    endif()
endforeach()
# vcpkg complains of empty folders.
file(GLOB_RECURSE folders LIST_DIRECTORIES true "${CURRENT_PACKAGES_DIR}/*")
foreach(folder IN LISTS folders)
    file(GLOB inside "${folder}/*")
    if(IS_DIRECTORY "${folder}" AND NOT inside)
        message(FATAL_ERROR "the port leaves an empty folder, ${folder}")
    endif()
endforeach()
execute_process(
    COMMAND "${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${OUTPUT}/consumer" -G "${GENERATOR}"
        "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_PREFIX_PATH=${CURRENT_PACKAGES_DIR}"
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(
    COMMAND "${CMAKE_COMMAND}" --build "${OUTPUT}/consumer" --target consumer
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${OUTPUT}/consumer/consumer" COMMAND_ERROR_IS_FATAL ANY)
