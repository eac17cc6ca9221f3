"""A user's program, in C and C++, with what `conan create` has packaged."""
import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class MortiseTestConan(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure(variables={"MORTISE_TARGET": self._target()})
        cmake.build()

    def _target(self):
        return self.dependencies["mortise"].cpp_info.get_property("cmake_target_name")

    def test(self):
        if can_run(self):
            self.run(os.path.join(self.cpp.build.bindir, "version"), env="conanrun")
