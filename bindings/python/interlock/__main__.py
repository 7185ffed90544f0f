# SPDX-License-Identifier: Apache-2.0
"""`python -m interlock …` is the program `interlock`: the one that came with this package, else that on the PATH."""

import os
import sys

from .program import program


def main() -> None:
    found = program()
    if found is None:
        sys.exit("interlock: the program is neither in this package nor on the PATH; `make install` puts it there")
    os.execv(found, ["interlock", *sys.argv[1:]])


if __name__ == "__main__":
    main()
