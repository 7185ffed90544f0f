#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The adapters of the Python package against the real frameworks, with scripted models: no network, no key.

`scripts/setup test` installs the frameworks (requirements.txt) into .venv beside this file; without it every row is skipped, and counted.
conformance.py has the rows that each adapter must pass, test_*.py what is peculiar to one, bindings/python/examples the programs that print what their
heads say that they print. `run.py --types` asks mypy as well. Ends with `N passed, N failed, N skipped`."""
import ast
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from rows import PYRIGHT, cases, end, pyright, row  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / os.environ.get("BUILD", "build")
SITE = BUILD / "adapters/site"
PACKAGE = ROOT / "bindings/python"
PYTHON = HERE / ".venv/bin/python"


def run(*command, **more):
    clean = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY") and not k.startswith("LANGSMITH")}
    env = {**clean, "PYTHONPATH": f"{SITE}:{HERE}", "OPENAI_AGENTS_DISABLE_TRACING": "1", "LANGSMITH_TRACING": "false", "PYTHONDONTWRITEBYTECODE": ""}
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "timeout": 600, "check": False, "env": env}
    return subprocess.run([str(c) for c in command], **{**how, **more})


def tests():
    """(module, names of its rows) without importing anything: what would be skipped must be counted, too."""
    shared = _rows(HERE / "conformance.py")
    return {file.stem: sorted({*_rows(file), *(shared if re.search(r"^class \w+\(Conformance", file.read_text(), re.M) else [])}) for file in sorted(HERE.glob("test_*.py"))}


def _rows(file):
    return [n.name for n in ast.walk(ast.parse(file.read_text())) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n.name.startswith("test_")]


def examples():
    return sorted((PACKAGE / "examples").glob("*.py"))


def installed():
    """The package as its wheel has it, beside the frameworks."""
    made = run(sys.executable, ROOT / "tests/python/run.py", "--wheel")
    file = pathlib.Path(made.stdout.strip().splitlines()[-1])
    if made.returncode != 0 or file.suffix != ".whl":
        return row("failed", "the wheel builds", made.stdout[-3000:])
    shutil.rmtree(SITE, ignore_errors=True)
    zipfile.ZipFile(file).extractall(SITE)
    return row("passed" if (SITE / "interlock/adapters/seam.py").is_file() else "failed", "the wheel has the adapters")


def suite(module, expected, told):
    seen = cases(told.stdout, module[5:])
    whole = told.returncode == 0 and seen == len(expected)
    row("passed" if whole else "failed", f"{module[5:]}: all {len(expected)} rows ran", "" if whole else f"{seen} of {len(expected)}\n{told.stdout[-6000:]}")


def example(file, told):
    """What a program prints stands indented in its head, under `It prints:`."""
    says = re.search(r"It prints:\n\n((?:    .*\n|\n)+)", ast.get_docstring(ast.parse(file.read_text()), clean=True) + "\n")
    expected = re.sub(r"^    ", "", says[1], flags=re.M).strip() if says else None
    same = told.returncode == 0 and told.stdout.strip() == expected
    row("passed" if same else "failed", f"example {file.name}", "" if same else f"expected:\n{expected}\ngot:\n{told.stdout}{told.stderr[-2000:]}")


def page():
    """The programs of docs/adapters.md are pieces; each is Python, and what it imports is there."""
    blocks = re.findall(r"```python\n(.*?)```", (PACKAGE / "docs/adapters.md").read_text(), re.S)
    imports = [ast.unparse(node) for block in blocks for node in ast.walk(ast.parse(block)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    told = run(PYTHON, "-W", "ignore", "-c", "\n".join(imports))
    fine = told.returncode == 0 and len(blocks) == 7
    row("passed" if fine else "failed", "the pieces of docs/adapters.md", "" if fine else f"{len(blocks)} of 7\n{told.stdout}")


def rows_named():
    """Each row of the page names tests that are there."""
    said = (PACKAGE / "docs/adapters.md").read_text().partition("# What each adapter must pass\n")[2].partition("\n# ")[0]
    there = {name for names in tests().values() for name in names} | set(_rows(PACKAGE / "tests/test_seam.py"))
    rows = [line for line in said.splitlines() if line.startswith("| ")][1:]
    faults = unnamed(rows, there)
    row("failed" if faults or len(rows) < 20 else "passed", "each row of what an adapter must pass names its tests", "\n".join(faults))
    row("passed" if unnamed(["| x | `test_that_is_not_there` |", "| y | |"], there) == ["| x | `test_that_is_not_there` |", "| y | |"] else "failed", "control: a row without a test is found")


def unnamed(rows, there):
    named = {line: re.findall(r"`(test_\w+)`", line.split(" | ")[-1]) for line in rows}
    return [line for line, names in named.items() if not names or not set(names) <= there]


def checked():
    """pyright, with the types of the frameworks, which tests/python does not have. It is in an environment of its own."""
    tool = BUILD / "adapters/types"
    made = run(sys.executable, "-m", "venv", tool) if not (tool / "bin/python").is_file() else None
    got = run(tool / "bin/python", "-m", "pip", "install", "--quiet", PYRIGHT) if made is None or made.returncode == 0 else made
    if got.returncode != 0:
        return row("skipped", "pyright on the adapters: it is not to be had", got.stdout[-300:])
    fine = pyright(run, tool / "bin/python", PYTHON, "pyright on the adapters, with the types of the frameworks", ["interlock/adapters", "interlock/pytest_plugin.py"], SITE)
    if fine:
        (BUILD / "adapters/wrong.py").write_text("from interlock.adapters.seam import Seam\n\nSeam(5)\n")
        told = run(tool / "bin/python", "-m", "pyright", "--pythonpath", PYTHON, BUILD / "adapters/wrong.py", cwd=SITE)
        row("passed" if re.search(r"^1 error, ", told.stdout, re.M) else "failed", "control: a wrong type is found", told.stdout[-500:])
    return fine


def types():
    """mypy --strict with the types of the frameworks: a minute and a gigabyte, so only for who asks. Without those types tests/python has it."""
    told = run(PYTHON, "-m", "mypy", "--config-file", PACKAGE / "pyproject.toml", "-p", "interlock", "--cache-dir", HERE / ".venv/mypy", cwd=SITE)
    row("passed" if told.returncode == 0 else "failed", "mypy --strict, with the types of the frameworks", "" if told.returncode == 0 else told.stdout[-3000:])


def main():
    rows_named()
    lock = HERE / ".venv/.setup-lock"
    if not lock.is_file() or lock.read_bytes() != (HERE / "requirements.txt").read_bytes():
        for module, names in tests().items():
            for name in names:
                row("skipped", f"{module[5:]}: {name}")
        for file in examples():
            row("skipped", f"example {file.name}")
        print("the frameworks are not installed: `scripts/setup test`, with PyPI in reach")
        return
    if not installed():
        return
    with concurrent.futures.ThreadPoolExecutor(2) as both:  # importing a framework takes longer than its rows
        fixture = both.submit(run, PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", HERE / "pytest_fixture.py", cwd=BUILD)
        played = [(module, names, both.submit(run, PYTHON, "-W", "ignore", "-m", "unittest", "-v", module, cwd=HERE)) for module, names in tests().items()]
        shown = [(file, both.submit(run, PYTHON, "-W", "ignore", file, cwd=BUILD, stderr=subprocess.PIPE)) for file in examples()]
        for module, names, told in played:
            suite(module, names, told.result())
        for file, told in shown:
            example(file, told.result())
        page()
        told = fixture.result()
        whole = told.returncode == 1 and "1 failed, 2 passed" in told.stdout.splitlines()[-1]
        checked()
        if "--types" in sys.argv:
            types()
        row("passed" if whole else "failed", "the fixture of pytest: two tests pass, and one that must not does not", "" if whole else told.stdout[-3000:])


if __name__ == "__main__":
    main()
    end()
