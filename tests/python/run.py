#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package: the wheel is built, installed into a fresh virtual environment of each Python at hand (3.11 and later) and tested there; its types pass mypy.

Usage: run.py BUILD/interlock, or run.py --wheel, which only builds it. Ends with `N passed, N failed, N skipped`."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from rows import PYRIGHT, cases, end, pyright, row

ROOT = pathlib.Path(__file__).resolve().parents[2]
INTERLOCK = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] not in ([], ["--wheel"]) else ROOT / os.environ.get("BUILD", "build") / "interlock"
PACKAGE = ROOT / "bindings/python"
WORK = ROOT / os.environ.get("BUILD", "build") / "python"
def run(*command, **more):
    return subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900, check=False, **more)


def pythons():
    """Each version of CPython at hand once, from 3.11 on."""
    found = {}
    names = [shutil.which(f"python3.{minor}") for minor in range(11, 16)] + [shutil.which("python3")]
    names += sorted(pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")).glob("versions/3.*/bin/python3"))
    for name in filter(None, names):
        probe = run(name, "-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2], sys.implementation.name)")
        version = re.fullmatch(r"3\.(\d+) cpython\n", probe.stdout)
        if probe.returncode == 0 and version and int(version[1]) >= 11:
            found.setdefault(int(version[1]), pathlib.Path(name))
    return sorted(found.items())


def fresh(python, name):
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    made = run(python, "-m", "venv", folder)
    return (folder / "bin/python", made.stdout) if made.returncode == 0 else (None, made.stdout)


def wheel(python):
    dist = WORK / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    venv, why = fresh(python, "builder")
    if venv is None:
        return None, why
    ready = {"INTERLOCK_PREBUILT": str(INTERLOCK.parent)} if (INTERLOCK.parent / "libinterlock.a").is_file() else {}
    built = run(venv, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", dist, PACKAGE, env={**os.environ, **ready})
    wheels = list(dist.glob("*.whl"))
    return (wheels[0], "") if built.returncode == 0 and len(wheels) == 1 else (None, built.stdout[-4000:])


def suite(python, minor, file):
    venv, why = fresh(python, f"venv-3.{minor}")
    if venv is None:
        return row("failed", f"Python 3.{minor}: a virtual environment", why)
    installed = run(venv, "-m", "pip", "install", "--quiet", "--no-index", file)
    if not row("passed" if installed.returncode == 0 else "failed", f"Python 3.{minor}: the wheel installs, needing nothing else", installed.stdout[-2000:]):
        return False
    told = run(venv, "-X", "dev", "-W", "error::ResourceWarning", "-m", "unittest", "discover", "-v", "-s", PACKAGE / "tests", "-t", PACKAGE / "tests",
               env={**os.environ, "INTERLOCK": str(INTERLOCK), "PYTHONPATH": ""}, cwd=WORK)
    cases(told.stdout, f"Python 3.{minor}")
    return row("passed" if told.returncode == 0 and "Ran 0 tests" not in told.stdout else "failed", f"Python 3.{minor}: the tests of the package", told.stdout[-6000:] if told.returncode else "")


def sanitized(python, minor):
    """The extension under AddressSanitizer and UndefinedBehaviorSanitizer; the library below it has such tests of its own."""
    prebuilt = INTERLOCK.parent
    venv, why = fresh(python, "venv-asan")
    runtimes = [run("gcc", f"-print-file-name={name}").stdout.strip() for name in ("libasan.so", "libubsan.so")] if shutil.which("gcc") else []
    if venv is None or not runtimes or not (prebuilt / "libinterlock.a").is_file() or not all(pathlib.Path(r).is_file() for r in runtimes):
        return row("skipped", "the extension under sanitizers: no gcc with their runtimes, or no built library", why)
    made = run(venv, "-m", "pip", "install", "--quiet", "--no-deps", PACKAGE, env={**os.environ, "INTERLOCK_PREBUILT": str(prebuilt), "INTERLOCK_SANITIZE": "ON", "CC": "gcc"})
    env = {**os.environ, "LD_PRELOAD": ":".join(runtimes), "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc", "PYTHONPATH": "", "INTERLOCK": str(INTERLOCK)}
    control = run(venv, "-c", "import ctypes; ctypes.string_at(ctypes.create_string_buffer(8), 4096)", env=env)
    row("passed" if "AddressSanitizer" in control.stdout else "failed", "control: a read beyond a buffer is found", control.stdout[-500:])
    cases = ["test_carriers", *(f"test_interbolt.{name}" for name in ("Decisions", "Values", "BadInput", "Approvals"))]
    told = run(venv, "-X", "dev", "-m", "unittest", *cases, env=env, cwd=PACKAGE / "tests")
    bad = made.returncode != 0 or told.returncode != 0 or "runtime error" in told.stdout
    return row("failed" if bad else "passed", f"Python 3.{minor}: the extension under sanitizers", (made.stdout + told.stdout)[-4000:] if bad else "")


def page(python):
    """The programs of README.md print what the page says that they print."""
    text = (PACKAGE / "README.md").read_text()
    programs = re.findall(r"```python\n(.*?)```\n\nIt prints (.*?)\.\n", text, re.S)
    row("passed" if len(programs) == len(re.findall("```python", text)) else "failed", "each program of README.md says what it prints")
    for i, (program, said) in enumerate(programs):
        told = subprocess.run([python, "-c", program], capture_output=True, text=True, timeout=60, check=False)
        row("passed" if told.stdout == "".join(f"{line}\n" for line in re.findall("`(.*?)`", said)) else "failed", f"program {i + 1} of README.md", told.stdout + told.stderr)


ORACLE = "interbolt==0.4.0"  # the one that the deviations of docs/from-interbolt.md were written for


def differences(mine, theirs):
    """Programs that said something else in one of the two."""
    return {name for name in mine["said"] if mine["said"][name] != theirs["said"][name]}


def programs(minor, python):
    """The programs of programs.py do the same with the published package, but for what docs/from-interbolt.md says. Both with one Python, of 3.12 or later, which the package needs."""
    theirs, why = fresh(python, "oracle")
    got = run(theirs, "-m", "pip", "install", "--quiet", ORACLE) if theirs else None
    if got is None or got.returncode != 0:
        return row("skipped", f"{ORACLE} is not to be had", (got.stdout if got else why)[-300:])
    told = [run(p, ROOT / "tests/python/programs.py", module, cwd=WORK) for p, module in ((WORK / f"venv-3.{minor}/bin/python", "interlock.interbolt"), (theirs, "interbolt"))]
    try:
        mine, other = (json.loads(t.stdout.splitlines()[-1]) for t in told)
    except (ValueError, IndexError):
        return row("failed", "the programs run", "".join(t.stdout[-1500:] for t in told))
    different = differences(mine, other)
    for name in mine["alike"]:
        pairs = [f"ours   {x}\ntheirs {y}" for x, y in zip(mine["said"][name], other["said"][name]) if x != y]
        row("failed" if name in different else "passed", f"program {name}: as with the package", "\n".join(pairs))
    page = (ROOT / "docs/from-interbolt.md").read_text()
    for name in mine["differ"]:
        fault = "it does not" if name not in different else "" if f"| `{name.replace('_', '-')}` |" in page else "docs/from-interbolt.md has no row for it"
        row("failed" if fault else "passed", f"program {name}: differs, as the page says", fault)
    changed = {**mine, "said": {**mine["said"], mine["alike"][0]: ["something else"]}}
    row("passed" if mine["alike"][0] in differences(changed, other) else "failed", "control: a program that says something else is found")
    return True


def types(python):
    """mypy --strict and pyright, from PyPI; without them the rows are skipped. With OpenTelemetry, whose reporter is tried as well."""
    got = run(python, "-m", "pip", "install", "--quiet", "mypy==1.18.2", PYRIGHT, "opentelemetry-sdk>=1.20,<2")
    if got.returncode != 0:
        return row("skipped", "mypy, pyright and opentelemetry-sdk are not to be had", got.stdout[-300:])
    told = run(python, "-m", "mypy", "--strict", "--config-file", PACKAGE / "pyproject.toml", "-p", "interlock", "--cache-dir", WORK / "mypy", cwd=WORK)
    row("passed" if told.returncode == 0 else "failed", "mypy --strict", told.stdout)
    package = next((python.parents[1] / "lib").glob("python3.*/site-packages/interlock"))
    own = [p for p in sorted(package.rglob("*.py")) if "adapters" not in p.parts and p.name != "pytest_plugin.py"]  # tests/adapters has the frameworks
    pyright(run, python, python, "pyright", own, WORK)
    told = run(python, "-m", "unittest", "-v", "test_interbolt.Reporters.test_opentelemetry", cwd=PACKAGE / "tests")
    return row("passed" if told.returncode == 0 and "... ok" in told.stdout else "failed", "the reporter for OpenTelemetry", told.stdout)


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    at_hand = pythons()
    if not at_hand:
        row("skipped", "no CPython of 3.11 or later with venv")
        return
    built, why = wheel(at_hand[0][1])
    if not row("passed" if built else "failed", "the wheel builds", why):
        return
    row("passed" if f"-cp3{at_hand[0][0]}-abi3-" in built.name else "failed", "one wheel for the version that built it and all that follow", built.name)
    for minor, python in at_hand:
        suite(python, minor, built)
    venv = WORK / f"venv-3.{at_hand[0][0]}/bin/python"
    told = run(venv, "-m", "interlock", "--version")
    row("passed" if told.returncode == 0 and "interlock" in told.stdout else "failed", "python -m interlock is the program", told.stdout)
    page(venv)
    types(venv)
    sanitized(at_hand[0][1], at_hand[0][0])
    later = [(minor, python) for minor, python in at_hand if minor >= 12]
    programs(*later[0]) if later else row("skipped", "no Python 3.12 or later, which the package interbolt needs")


if __name__ == "__main__":
    if sys.argv[1:] == ["--wheel"]:
        WORK.mkdir(parents=True, exist_ok=True)
        file, said = wheel(pythons()[0][1])
        print(file if file else said)
        sys.exit(0 if file else 1)
    main()
    end()
