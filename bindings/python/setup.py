# SPDX-License-Identifier: Apache-2.0
"""Builds the C library with CMake, and the extension `interlock._core` on top of it: one file for CPython 3.11 and all that follow.

It needs what `scripts/setup build` installs: a C compiler, CMake, Ninja, pkg-config, libyaml and SQLite with their headers.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VERSION = re.search(r"project\(interlock VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def run(*command):
    try:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    except FileNotFoundError as e:
        raise SystemExit(f"{command[0]} is missing: `scripts/setup build` in {ROOT} installs what is needed") from e


class Build(build_ext):
    def build_extension(self, ext):
        self.force = True  # objects that are there may be of other headers, or of sanitizers
        built = os.environ.get("INTERLOCK_PREBUILT")  # a build folder with the library and the program in it
        folder = Path(built or ROOT / "build-python")
        sanitize = os.environ.get("INTERLOCK_SANITIZE", "OFF")
        if not built:
            run("cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", "-DIL_TESTS=OFF", f"-DIL_SANITIZE={sanitize}")
            run("cmake", "--build", str(folder), "--target", "interlock-static", "interlock")
        program = Path(self.build_lib, "interlock", "bin", "interlock")
        program.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(folder / "interlock", program)
        ext.include_dirs += [str(ROOT / "include"), str(ROOT / "src")]  # the library is linked whole, so its rooms can be asked
        ext.extra_objects.append(str(folder / "libinterlock.a"))
        ext.extra_link_args += shlex.split(run("pkg-config", "--libs", "yaml-0.1", "sqlite3"))
        if sanitize == "ON":
            ext.extra_compile_args += ["-fsanitize=address,undefined"]
            ext.extra_link_args += ["-fsanitize=address,undefined"]
        super().build_extension(ext)


setup(
    version=VERSION,
    ext_modules=[
        Extension(
            "interlock._core",
            sorted(str(p.relative_to(HERE)) for p in (HERE / "src").glob("*.c")),
            depends=[str(p) for p in (HERE / "src").glob("*.h")],
            extra_compile_args=["-std=c17", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers", "-fvisibility=hidden"],
            extra_link_args=["-Wl,--exclude-libs,ALL", "-Wl,-z,relro,-z,now"],
            py_limited_api=True,
        )
    ],
    cmdclass={"build_ext": Build},
    # of the version that builds it: the limited API is 3.11's, but what the headers of later versions make of it does not run on earlier ones
    options={"bdist_wheel": {"py_limited_api": f"cp3{sys.version_info.minor}"}},
)
