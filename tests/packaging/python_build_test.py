#!/usr/bin/python3 -B
"""The build backend of Python's source package refuses what the package cannot work with."""
import contextlib
import pathlib
import sys
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging/python"))
import mortise_build  # noqa: E402

VERSION = "{}.{}".format(*sys.version_info)


class PythonTest(unittest.TestCase):
    def refusal(self, *changes):
        with contextlib.ExitStack() as stack:
            for change in changes:
                stack.enter_context(change)
            with self.assertRaises(SystemExit) as caught:
                mortise_build.build_wheel("/nonexistent")
        return str(caught.exception.code)

    def test_a_free_threaded_python_is_refused_with_the_name_of_another(self):
        variable = mortise_build.sysconfig.get_config_var
        text = self.refusal(mock.patch.object(
            mortise_build.sysconfig, "get_config_var",
            lambda name: 1 if name == "Py_GIL_DISABLED" else variable(name)))
        self.assertIn("not a free-threaded build", text)
        self.assertIn(f"install it with python{VERSION} instead of python{VERSION}t", text)

    def test_other_implementations_are_refused_with_the_name_of_cpython(self):
        text = self.refusal(mock.patch.object(sys.implementation, "name", "pypy"))
        self.assertIn("needs CPython, not pypy; install it with python3", text)

    def test_other_systems_and_missing_headers_are_refused(self):
        self.assertIn("on Linux, not on darwin", self.refusal(mock.patch.object(sys, "platform", "darwin")))
        self.assertIn("/nowhere/Python.h; install the headers", self.refusal(
            mock.patch.object(mortise_build.sysconfig, "get_path", lambda _: "/nowhere")))

    def test_a_compiler_must_be_there_and_know_the_standard(self):
        headers = mock.patch.object(mortise_build, "check_python", lambda: "/nowhere")
        compilers = (("no-such-compiler", "no C++ compiler no-such-compiler; install g++"),
                     ("false", "false does not support C++20; install g++ 12"))
        for name, words in compilers:
            with self.subTest(name):
                self.assertIn(words, self.refusal(
                    headers, mock.patch.dict(mortise_build.os.environ, CXX=name)))


if __name__ == "__main__":
    unittest.main()
