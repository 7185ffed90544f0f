# SPDX-License-Identifier: Apache-2.0
"""What tests/python and tests/adapters have in common: rows, and what unittest and pyright say as rows."""
import re
import sys

COUNT = {"passed": 0, "failed": 0, "skipped": 0}
PYRIGHT = "pyright==1.1.407"


def row(how, name, why=""):
    COUNT[how] += 1
    print(f"{ {'passed': 'ok', 'failed': 'FAILED', 'skipped': 'skipped'}[how] }: {name}" + "".join(f"\n    {line}" for line in why.splitlines()), flush=True)
    return how == "passed"


def cases(said, label):
    """A row for each test that `unittest -v` has named; how many."""
    seen = 0
    for name, how in re.findall(r"^(test_\w+) \([\w.]+\)(?:\n.*)?? \.\.\. (?:.*\n)*?(?:.*)?\b(ok|FAIL|ERROR|skipped)", said, re.M):
        seen += 1
        row({"ok": "passed", "skipped": "skipped"}.get(how, "failed"), f"{label}: {name}")
    return seen


def pyright(run, tool, python, name, files, folder):
    """Of `files`, by the pyright that `tool`, a Python, has, with the packages that `python` has; it needs Node, or fetches one."""
    told = run(tool, "-m", "pyright", "--pythonpath", python, *files, cwd=folder)
    if not re.search(r"^\d+ errors?, ", told.stdout, re.M):
        return row("skipped", f"{name}: pyright does not run", told.stdout[-300:])
    return row("passed" if told.returncode == 0 else "failed", name, "" if told.returncode == 0 else told.stdout[-3000:])


def end():
    print(f"{COUNT['passed']} passed, {COUNT['failed']} failed, {COUNT['skipped']} skipped")
    sys.exit(1 if COUNT["failed"] else 0)
