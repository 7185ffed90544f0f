#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The language against data: conformance tests, pitfalls, what must be refused when it loads, cel-go's own cases; natively and as WebAssembly.

Usage: tests/cel/run.py [INTERLOCK]   with BUILD naming the build folder. A test that is not passed stands with its reason in exceptions.json; an
entry there whose test passes, or that names no test, is a failure. The data is found by IL_SHARED or beside the source folder."""
import collections
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
SHARED = pathlib.Path(os.environ.get("IL_SHARED", ROOT / "../shared"))
GATE = ("core", "ext_strings", "ext_bindings", "ext_comprehensions2", "ext_optionals", "ext_network", "ext_math", "ext_encoders")
COUNTS = {"passed": 0, "failed": 0, "skipped": 0}
USED = set()
SAID = []


def put(line):
    SAID.append(line)
    print(line, flush=True)


def say(kind, text):
    COUNTS["passed" if kind == "ok" else "failed" if kind == "FAILED" else "skipped"] += 1
    put(f"{kind}: {text}")


def build():
    for folder, target, arguments in ((ROOT / BUILD, "cel-vectors", ["-DIL_TESTS=ON"]), (ROOT / BUILD, "cel-questions", ["-DIL_TESTS=ON"]),
                                      (ROOT / "build-wasm", "cel-vectors", ["--toolchain", "cmake/wasm32.cmake"])):
        if not (folder / "build.ninja").is_file():
            subprocess.run(["cmake", "-S", ".", "-B", folder, "-G", "Ninja", *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", folder, "--target", target], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def answers(command, tests):
    text = "".join(json.dumps(t) + "\n" for t in tests)
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT, timeout=600, check=False)
    lines = done.stdout.removesuffix("\n").split("\n")  # U+0085 in an answer ends no line
    if done.returncode or len(lines) != len(tests):
        raise RuntimeError(f"{command[-1]}: exit {done.returncode}, {len(lines)} answers to {len(tests)} tests: {done.stderr[-400:]}")
    return lines


def native(tests):
    return [json.loads(line) for line in answers([str(ROOT / BUILD / "cel/cel-vectors")], tests)]


def same(want, got):
    """A value of the data against one of ours."""
    kind, v = want["t"], want.get("v")
    if kind == "type":
        return got["t"] == "type" and got["v"] == v
    if got["t"] != {"timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration"}.get(kind, kind):
        return False
    if kind == "double":
        bits = struct.unpack(">Q", bytes.fromhex(got["v"]))[0]
        d = struct.unpack(">d", bytes.fromhex(got["v"]))[0]
        if v == "nan":
            return d != d
        return bits == struct.unpack(">Q", struct.pack(">d", float.fromhex(v)))[0]
    if kind == "list":
        return len(v) == len(got["v"]) and all(same(a, b) for a, b in zip(v, got["v"]))
    if kind == "map":
        left = list(got["v"])
        for key, value in v:
            found = next((e for e in left if same(key, e[0]) and same(value, e[1])), None)
            if found is None:
                return False
            left.remove(found)
        return not left
    return kind == "null" or got["v"] == v


def judge(test, got):
    """None when the answer is right, else what is wrong."""
    want = test["expected"]
    if "failed" in got:
        return f"not run: {got['failed']}"
    if got.get("refused") in ("IL_E_INTERNAL", "IL_E_MEMORY", "IL_E_ARGUMENT"):
        return f"{got['refused']} {got['message']}"
    error = "refused" in got or "fault" in got
    if "error" in want:
        if error or ("also_accept" in test and "value" in test["also_accept"] and same(test["also_accept"]["value"], got["value"])):
            return None
        return f"a value, {json.dumps(got.get('value'))}, instead of an error"
    if error:
        return f"{got.get('refused', got.get('fault'))} at {got['line']}:{got['col']}: {got['message']}"
    if "deduced_type" in want and got["type"] != want["deduced_type"]:
        return f"type {got['type']} instead of {want['deduced_type']}"
    if "value" in want and not test.get("check_only") and not same(want["value"], got["value"]):
        return f"{json.dumps(got['value'])} instead of {json.dumps(want['value'])}"
    return None


def exceptions():
    return {(e["file"], e["section"], e["name"]): e["reason"] for e in json.loads((HERE / "exceptions.json").read_text())}


def sections(name, tests, allowed):
    """One line a section; the tests of exceptions.json must fail."""
    got = native(tests)
    groups = collections.OrderedDict()
    for test, answer in zip(tests, got):
        wrong = judge(test, answer)
        key = (test["file"], test["section"], test["name"])
        if key in allowed:
            USED.add(key)
            wrong = None if wrong else "passes, but stands in exceptions.json"
        groups.setdefault((test["file"], test["section"]), []).append((test, wrong))
    for (file, section), rows in groups.items():
        bad = [(t, w) for t, w in rows if w]
        say("FAILED" if bad else "ok", f"{name}: {file}/{section} ({len(rows) - len(bad)} of {len(rows)})")
        for test, wrong in bad:
            print(f"    {test['name']}: {test['expr'][:160]!r}\n      {wrong}")
    put(f"{name}: {sum(not w for r in groups.values() for _, w in r)} of {len(tests)} as expected")
    return got


def printed(tests, got):
    """What is printed means the same, and is printed as it is."""
    again = [(t, a, {**t, "expr": a["printed"]}) for t, a in zip(tests, got) if "printed" in a]
    bad = []
    for (test, first, _), second in zip(again, native([t for _, _, t in again])):
        differs = [k for k in ("value", "fault", "type", "printed") if first.get(k) != second.get(k)]
        if differs:
            bad.append(f"{test['expr'][:120]!r} printed {first['printed'][:120]!r}: {', '.join(differs)} differ: {json.dumps(second)[:200]}")
    say("FAILED" if bad else "ok", f"printed and read again, {len(again)} expressions mean the same")
    for line in bad[:20]:
        print(f"    {line}")


def wasm(tests):
    here = answers([str(ROOT / BUILD / "cel/cel-vectors")], tests)
    there = answers(["node", str(HERE / "wasm.mjs"), str(ROOT / "build-wasm/cel-vectors.wasm")], tests)
    bad = [(t, a, b) for t, a, b in zip(tests, here, there) if a != b]
    say("FAILED" if bad else "ok", f"WebAssembly: {len(tests) - len(bad)} of {len(tests)} answers are the same bytes")
    for test, a, b in bad[:10]:
        print(f"    {test['expr'][:120]!r}\n      native {a[:200]}\n      wasm   {b[:200]}")


def deep():
    """The deepest that WebAssembly may be asked for, of every form that nests: no trap, and one level more is refused."""
    most, macros = 128, 31
    forms = {
        "()": lambda n: "(" * (n - 1) + "1" + ")" * (n - 1), "[]": lambda n: "[" * (n - 1) + "1" + "]" * (n - 1),
        "{}": lambda n: "{1:" * (n - 1) + "1" + "}" * (n - 1), "!": lambda n: "!(" * (n // 2 - 1) + "true" + ")" * (n // 2 - 1),
        ".a": lambda n: "dyn({})" + ".a" * (n - 2), ".?a": lambda n: "dyn({})" + ".?a" * (n - 2), "[0]": lambda n: "dyn([])" + "[0]" * (n - 2),
        "+": lambda n: "1" + "+1" * (n - 1), "?:": lambda n: "true?true:" * (n - 1) + "true", "&&": lambda n: "true&&(" * (n // 2 - 1) + "true" + ")" * (n // 2 - 1),
        "dyn()": lambda n: "dyn(" * (n - 1) + "1" + ")" * (n - 1), "trim": lambda n: "''" + ".trim()" * (n - 1),
        "greatest": lambda n: "math.greatest(1," * (n - 1) + "1" + ")" * (n - 1), "optMap": lambda n: "optional.of(1)" + ".optMap(x,x)" * (n - 2),
        "map": lambda n: "[1].map(x," * macros + "1" + ")" * macros, "map.map": lambda n: "[1]" + ".map(x,x)" * (n - 2),
        "bind": lambda n: "cel.bind(x," * (n - 2) + "1" + ",[x])" * (n - 2), "==": lambda n: "==".join(["[" * (n - 2) + "1" + "]" * (n - 2)] * 2),
        "format": lambda n: "'%s'.format([" + "[" * (n - 4) + "1" + "]" * (n - 4) + "])",
        "matches": lambda n: "(" * (n - 3) + "'aaaa'.matches('((a+)+){1,30}$')" + ")" * (n - 3),
    }
    tests = [{"expr": form(most), "depth": most, "disable_check": free} for form in forms.values() for free in (False, True)]
    here, there = (answers(command, tests) for command in ([str(ROOT / BUILD / "cel/cel-vectors")],
                                                           ["node", str(HERE / "wasm.mjs"), str(ROOT / "build-wasm/cel-vectors.wasm")]))
    bad = [(t["expr"][:40], b[:120]) for t, a, b in zip(tests, here, there) if a != b or "refused" in json.loads(b)]
    say("FAILED" if bad or len(there) != len(tests) else "ok", f"WebAssembly: {most} levels of each of {len(forms)} forms, {len(there)} of {len(tests)} answers")
    for expr, got in bad[:10]:
        print(f"    {expr!r}: {got}")
    more = [json.loads(a) for a in answers(["node", str(HERE / "wasm.mjs"), str(ROOT / "build-wasm/cel-vectors.wasm")], [{"expr": "1", "depth": most + 1}])]
    say("ok" if [m.get("refused") for m in more] == ["IL_E_ARGUMENT"] else "FAILED", f"WebAssembly: a depth of {most + 1} is refused before anything is read")


def load_errors(rows):
    """Refused, where it should be, with the suggestion. Where our rule for positions differs from the data's reading, columns.json says how."""
    ours = {e["expr"]: e for e in json.loads((HERE / "columns.json").read_text())}
    tests = [{"expr": r["expr"], "env": "interbolt", "want_bool": True} for r in rows]
    used = set()
    for row, got in zip(rows, native(tests)):
        wrong, col = [], row["col"]
        if row["expr"] in ours:
            used.add(row["expr"])
            if ours[row["expr"]]["col"] == col:
                wrong.append("columns.json says what the data says")
            col = ours[row["expr"]]["col"]
        if "refused" not in got:
            wrong.append(f"not refused: {json.dumps(got)[:120]}")
        else:
            if (got["line"], got["col"]) != (row["line"], col):
                wrong.append(f"at {got['line']}:{got['col']} instead of {row['line']}:{col}")
            for word in row.get("suggestion", "").removeprefix("fields of agent: ").replace(",", "").split():
                if word not in got["message"]:
                    wrong.append(f"`{word}` is not in the message")
        say("FAILED" if wrong else "ok", f"refused when it loads: {row['expr'][:60]}")
        if wrong:
            print(f"    {'; '.join(wrong)}\n    {got.get('message')}")
    for stale in set(ours) - used:
        say("FAILED", f"columns.json names no test: {stale}")


def celgo(rows):
    """What cel-go's parser refuses we refuse, what it reads we read, and the types that it finds for expressions without variables are ours."""
    known = {(e["suite"], e["expr"]): e["reason"] for e in json.loads((HERE / "celgo.json").read_text())}
    used, counts = set(), collections.Counter()
    unchecked = native([{"expr": r["expr"], "disable_check": True, "check_only": True} for r in rows])
    checked = native([{"expr": r["expr"], "check_only": True} for r in rows])
    for row, parsed, got in zip(rows, unchecked, checked):
        key, error = (row["suite"], row["expr"]), row.get("error", "")
        wrong = None
        if error.startswith("ERROR: :"):
            wrong = None if "refused" in parsed else "read, which cel-go's parser refuses"
        elif "refused" in parsed:
            wrong = f"refused, which cel-go reads: {parsed['message']}"
        elif row.get("type") and "type" in got:
            want = {"null": "null_type"}.get(row["type"], row["type"])
            wrong = None if got["type"] == want else f"type {got['type']}, cel-go {want}"
            counts[row["suite"], "typed"] += 1
        counts[row["suite"]] += 1
        if key in known:
            used.add(key)
            counts[row["suite"], "explained"] += 1
            if not wrong:
                say("FAILED", f"celgo.json: no difference any more: {row['expr'][:80]}")
        elif wrong:
            say("FAILED", f"cel-go {row['suite']}: {row['expr'][:100]!r}: {wrong}")
    for suite in ("parsing", "checking", "comprehension"):
        say("ok", f"cel-go {suite}: {counts[suite]} cases, {counts[suite, 'typed']} types compared, {counts[suite, 'explained']} differences explained")
    for stale in set(known) - used:
        say("FAILED", f"celgo.json names no case: {stale}")


def quoted():
    """docs/cel.md quotes what is printed here."""
    lines = re.search(r"^```text\n(.*?)^```$", (ROOT / "docs/cel.md").read_text(), re.S | re.M).group(1).splitlines()
    stale = [line for line in lines if line not in SAID]
    say("FAILED" if stale or len(lines) < 8 else "ok", f"docs/cel.md quotes {len(lines)} of these lines")
    for line in stale:
        print(f"    not printed: {line}")


def questions():
    """What is answered about conditions without evaluating them, asked of Z3 too; and a Z3 that is told something false must not agree."""
    if shutil.which("z3") is None:
        say("skipped", "no z3 (scripts/setup test installs it): the static questions are not asked of it")
        return
    for arguments, name in (([], "static questions and z3"), (["--broken", "--pairs", "60"], "z3 with a broken encoding disagrees")):
        command = [sys.executable, str(HERE / "z3.py"), str(ROOT / BUILD / "cel/cel-questions"), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1300, check=False)
        say("FAILED" if done.returncode else "ok", f"{name}: {(done.stdout + done.stderr).strip()[-1000:]}")


def main():
    build()
    questions()
    deep()
    data = SHARED / "data"
    if not (data / "cel-conformance.json").is_file():
        say("skipped", f"no {data}/cel-conformance.json (set IL_SHARED): the conformance tests are not here")
    else:
        allowed = exceptions()
        everything = json.loads((data / "cel-conformance.json").read_text())
        gate = [t for t in everything if t["tier"] in GATE]
        # an optimizer's device, which no policy writes
        put(f"not asked: {len(everything) - len(gate)} tests of cel.block")
        pitfalls = json.loads((data / "cel-pitfalls.json").read_text())
        for test in pitfalls:
            test["dynamic_regex"] = True
        got = sections("conformance", gate, allowed)
        printed(gate, got)
        sections("pitfalls", pitfalls, allowed)
        for stale in set(allowed) - USED:
            say("FAILED", f"exceptions.json names no test: {'/'.join(stale)}")
        load_errors(json.loads((data / "cel-load-errors.json").read_text()))
        celgo(json.loads((data / "cel-celgo-suites.json").read_text()))
        wasm(gate + pitfalls)
        quoted()
    print(f"{COUNTS['passed']} passed, {COUNTS['failed']} failed, {COUNTS['skipped']} skipped")
    return 1 if COUNTS["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
