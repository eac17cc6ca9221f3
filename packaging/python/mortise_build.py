"""The build backend of Mortise's source package, by PEP 517. It needs a C++ compiler and the headers of
Python, and no other package. `packaging/wheels` writes the published wheels with `write_wheel`.

The environment variables CXX, CXXFLAGS, CFLAGS and LDFLAGS have their usual meaning.
"""

import base64
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
# The oldest version whose stable ABI the module uses.
STABLE_ABI = "cp39-abi3"
STANDARD = """\
#include <span>
static_assert(__cplusplus > 201703L);
"""


class UnsupportedOperation(Exception):
    """A hook of PEP 517 that has no use here."""


def fail(message):
    sys.exit(f"mortise: {message}")


# ---- wheels -------------------------------------------------------------------------------------
def dist_info(folder, tag):
    """The files that describe a wheel with this tag, and the name of their folder."""
    metadata = (folder / "PKG-INFO").read_bytes()
    version = re.search(rb"^Version: (\S+)$", metadata, re.M)[1].decode()
    wheel = f"Wheel-Version: 1.0\nGenerator: mortise_build\nRoot-Is-Purelib: false\nTag: {tag}\n"
    return f"mortise-{version}.dist-info", {
        "METADATA": metadata,
        "WHEEL": wheel.encode(),
        "licenses/LICENSE": (folder / "LICENSE").read_bytes(),
    }


def record_line(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def write_wheel(folder, to, tag, module):
    """Writes a wheel of the package in `folder` with this compiled module into the folder `to`, and
    returns its name. The same input makes the same file."""
    info, description = dist_info(folder, tag)
    files = {f"mortise/{path.name}": path.read_bytes()
             for path in sorted((folder / "mortise").iterdir()) if path.is_file()}
    files["mortise/_core.abi3.so"] = module
    files.update({f"{info}/{name}": content for name, content in description.items()})
    record = "".join(record_line(*file) for file in files.items()) + f"{info}/RECORD,,\n"
    files[f"{info}/RECORD"] = record.encode()
    name = f"{info[:-len('.dist-info')]}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(to) / name, "w") as wheel:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if path.endswith(".so") else 0o644) << 16
            wheel.writestr(entry, content, compresslevel=9)
    return name


# ---- the compiler -------------------------------------------------------------------------------
def check_python():
    if sys.platform != "linux":
        fail(f"the library runs on Linux, not on {sys.platform}")
    if sys.implementation.name != "cpython":
        fail(f"the package needs CPython, not {sys.implementation.name}; install it with python3")
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        version = "%d.%d" % sys.version_info[:2]
        fail("the package needs a CPython with the GIL, not a free-threaded build; install it with "
             f"python{version} instead of python{version}t")
    headers = sysconfig.get_path("include")
    if not (pathlib.Path(headers) / "Python.h").is_file():
        fail(f"no {headers}/Python.h; install the headers of Python, for example python3-dev")
    return headers


def check_compiler(work):
    compiler = shlex.split(os.environ.get("CXX", "")) or ["c++"]
    if shutil.which(compiler[0]) is None:
        fail(f"no C++ compiler {compiler[0]}; install g++, or name a compiler with CXX=")
    source = work / "standard.cc"
    source.write_text(STANDARD)
    done = subprocess.run([*compiler, "-std=c++20", "-fsyntax-only", source],
                          stderr=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        fail(f"{compiler[0]} does not support C++20; install g++ 12 or clang++ 14 or later, or name "
             "one with CXX=")
    return compiler


def run(*command):
    print(*command, flush=True)
    if subprocess.run(command, check=False).returncode != 0:
        fail(f"{command[0]} failed; its messages are above")


def compile_module(work):
    """The bytes of the compiled module, with the library inside."""
    headers = check_python()
    compiler = check_compiler(work)
    flags = {name: shlex.split(os.environ.get(name, ""))
             for name in ("CXXFLAGS", "CFLAGS", "LDFLAGS")}
    common = ["-O2", "-fPIC", "-fvisibility=hidden"]
    library, wrapper, module = work / "mortise.o", work / "wrapper.o", work / "_core.abi3.so"
    print("mortise: compiling the library, for half a minute", flush=True)
    run(*compiler, "-std=c++20", *common, *flags["CXXFLAGS"], "-DMORTISE_BUILDS_ARCHIVE",
        "-c", HERE / "mortise.cc", "-o", library)
    run(*compiler, "-x", "c", *common, *flags["CFLAGS"], "-fno-strict-aliasing", "-I", HERE,
        "-isystem", headers, "-c", HERE / "mortise_wrap.c", "-o", wrapper)
    # nodelete: an interpreter that ends would unmap the code of the client's thread.
    run(*compiler, "-shared", wrapper, library, *flags["LDFLAGS"],
        f"-Wl,--version-script={HERE / 'exports.map'}", "-Wl,-z,nodelete", "-Wl,-z,now",
        "-lpthread", "-ldl", "-o", module)
    return module.read_bytes()


# ---- hooks of PEP 517 ---------------------------------------------------------------------------
def local_tag():
    return f"{STABLE_ABI}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    info, description = dist_info(HERE, local_tag())
    for name, content in description.items():
        path = pathlib.Path(metadata_directory) / info / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return info


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as work:
        module = compile_module(pathlib.Path(work))
    return write_wheel(HERE, wheel_directory, local_tag(), module)


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation("this folder is the source package; packaging/wheels of the "
                               "repository makes it")
