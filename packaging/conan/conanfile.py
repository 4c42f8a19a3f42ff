"""Sluice as a Conan 2 package: headers, and the CMake targets of the install tree."""

import re
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import copy, load


class Sluice(ConanFile):
    name = "sluice"
    license = "Apache-2.0"
    description = "Carries messages between the parts of a running C++17 program"
    topics = ("queue", "message-bus", "event-queue", "active-object", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    @property
    def tree(self):
        return Path(self.recipe_folder).parent.parent

    def set_version(self):
        cmake = load(self, self.tree / "CMakeLists.txt")
        self.version = re.search(r"VERSION (\d+\.\d+\.\d+)", cmake)[1]

    def export_sources(self):
        parts = ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/module/*")
        for part in (*parts, "tools/gdb_printers.py", "tools/sluice.natvis"):
            copy(self, part, self.tree, self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 17)

    def package_id(self):
        self.info.clear()

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "EXAMPLES"):
            toolchain.cache_variables[f"SLUICE_BUILD_{part}"] = False
        toolchain.generate()

    def build(self):
        CMake(self).configure()

    def package(self):
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder) / "licenses")
        CMake(self).install()

    def package_info(self):
        # The package's own CMake files name the targets, so Conan writes none.
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["share/cmake/sluice"]
