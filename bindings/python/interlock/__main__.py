# SPDX-License-Identifier: Apache-2.0
"""`python -m interlock …` is the program `interlock`: the one that came with this package, else that on the PATH."""

import os
import pathlib
import shutil
import sys


def main() -> None:
    own = pathlib.Path(__file__).parent / "bin" / "interlock"
    program = str(own) if own.is_file() else shutil.which("interlock")
    if program is None:
        sys.exit("interlock: the program is neither in this package nor on the PATH; `make install` puts it there")
    os.execv(program, ["interlock", *sys.argv[1:]])


if __name__ == "__main__":
    main()
