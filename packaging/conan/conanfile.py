"""Mortise for Conan 2, of the tree that this lies in. `./dev test --packages` runs it, as archive and shared:

    conan create packaging/conan [-o "mortise/*:shared=True"]
"""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir


class MortiseConan(ConanFile):
    name = "mortise"
    description = "Distributed locks on Redis and Valkey"
    license = "Apache-2.0"
    url = "https://github.com/mortise/mortise"
    homepage = "https://github.com/mortise/mortise"
    topics = ("lock", "mutex", "redis", "valkey")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    implements = ["auto_shared_fpic"]

    @property
    def _sources(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._sources, "capi/include/mortise/mortise.h"))
        self.version = re.search(r'MORTISE_VERSION_TEXT "(.*)"', header).group(1)

    def export_sources(self):
        for name in ("src", "capi", "cli", "bindings", "docs", "pkgconfig", "CMakeLists.txt", "*.md", "LICENSE"):
            for pattern in (name, f"{name}/*"):
                copy(self, pattern, self._sources, self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Mortise runs on Linux only")

    def validate_build(self):
        # The library is C++20, whatever the profile says; its headers are C++17.
        if self.settings.compiler.get_safe("cppstd"):
            check_min_cppstd(self, 17)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.blocks.remove("cppstd")
        for part in ("TESTS", "JAVA", "LUA", "COMMAND"):
            toolchain.variables[f"MORTISE_{part}"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        # Conan writes these itself; what is for Go is no part of this.
        for folder in ("lib/cmake", "lib/pkgconfig", "share"):
            rmdir(self, os.path.join(self.package_folder, folder))
        self._keep_one_kind()

    def _keep_one_kind(self):
        folder = os.path.join(self.package_folder, "lib")
        for name in os.listdir(folder):
            if name.endswith(".a") == bool(self.options.shared):
                os.unlink(os.path.join(folder, name))

    def package_info(self):
        static = "" if self.options.shared else "_static"
        self.cpp_info.set_property("cmake_file_name", "Mortise")
        self.cpp_info.set_property("cmake_target_name", f"Mortise::mortise{static}")
        self.cpp_info.set_property("pkg_config_name", "mortise")
        self.cpp_info.libs = ["mortise"]
        if not self.options.shared:
            self.cpp_info.system_libs = ["dl", "m", "pthread", "stdc++"]
            self.cpp_info.sharedlinkflags = ["-Wl,--exclude-libs,libmortise.a"]
            self.cpp_info.exelinkflags = ["-Wl,--exclude-libs,libmortise.a"]
