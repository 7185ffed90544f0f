#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Machines and their verdicts.

cases/*.yaml: a small machine each; beside it NAME.expect, every line that `harden` (and `diagnose`, where the machine has such a section) must say, with
its witness. random: documents by generate.py, judged by `harden` and by brute.py, which shares no code with it; a sample of them by SPIN too.
`run.py --write [NAME…]` writes the .expect files: read the difference before you commit it."""
import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import brute
import generate

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BIN = next((a for a in sys.argv[1:] if a.endswith("/interlock")), str(ROOT / os.environ.get("BUILD", "build") / "interlock"))
RANDOM = 1000  # machines that compile, over all feature sets
SPIN = 100
FEATURES = [(), ("flags",), ("invariants",), ("naps",), ("flags", "invariants", "naps"), ("families",), ("flags", "recovery")]
passed = failed = skipped = 0


def report(name, problem=None):
    global passed, failed
    if problem:
        failed += 1
        print(f"FAILED: {name}: {problem}")
    else:
        passed += 1


def run(*args, timeout=600):
    return subprocess.run([BIN, *args], capture_output=True, text=True, timeout=timeout)


# --- cases ---------------------------------------------------------------------------------------------------------------------------------
def trace(steps):
    """one word a step: action{field=value,…}, var:=value for an adversary's write"""
    out = []
    for s in steps or []:
        if "write" in s:
            out.append(f"{s['write']}:={s['value']}")
        elif "action" in s:
            payload = ",".join(f"{k}={v}" for k, v in s.get("payload", {}).items() if v not in ("false", "none"))
            out.append(s["action"] + (f"{{{payload}}}" if payload else ""))
        else:
            out.append(json.dumps(s, sort_keys=True))
    return " ".join(out)


def verdict_lines(command, path):
    p = run(command, "--json", str(path))
    lines = [f"{command} exit {p.returncode}"]
    if p.returncode in (3, 5):
        return lines + [p.stderr.strip().replace(str(path), path.name)]
    report = json.loads(p.stdout)
    for c in report["checks"]:
        detail = "" if c["id"] == "mutation" else c["detail"]  # its counts move with every check
        words = [c["id"], c["region"] or "-", c["verdict"]] + [w for w in (c["finding"], detail) if w]
        if command == "harden" and c["id"] == "recovery" and report["recovery"]:
            words.append(report["recovery"]["strength"])
        lines.append(" ".join(words) + (f" | {trace(c['witness'])}" if c["witness"] else ""))
    return lines


def expected(path):
    lines = verdict_lines("harden", path)
    if "\ndiagnosis:" in path.read_text():
        lines += verdict_lines("diagnose", path)
    return "\n".join(lines) + "\n"


def cases(write):
    names = [a for a in sys.argv[1:] if not a.startswith("-") and a != BIN]
    words = collections.Counter()
    for path in sorted((HERE / "cases").glob("*.yaml")):
        if names and path.stem not in names:
            continue
        got = expected(path)
        expect = path.with_suffix(".expect")
        if write:
            expect.write_text(got)
        want = expect.read_text() if expect.exists() else ""
        difference = [f"{w!r} and not {g!r}" for w, g in zip(want.splitlines() + [""] * 99, got.splitlines()) if w != g]
        report(f"case {path.stem}", None if want == got else "expected " + "; ".join(difference[:3]) if want else "has no .expect")
        for line in want.splitlines():
            words.update({w for w in line.split(" | ")[0].split() if w.isupper() and len(w) > 3})
    if not names:
        wordless = [w for w in documented() if words[w] < 2]
        report("each verdict word of docs/harden.md is in at least two cases", ", ".join(wordless) or None)


def documented():
    """the finding words of the page's tables: first cell, in capitals"""
    page = (ROOT / "docs/harden.md").read_text()
    out = []
    for line in page.splitlines():
        cells = line.split("|")
        word = cells[1].strip().strip("`") if len(cells) > 2 and cells[1].strip().startswith("`") else ""
        if word.isupper() and word not in UNREACHABLE:
            out.append(word)
    return out


UNREACHABLE = {"ERROR", "TABLE_DIFFERS",  # only a fault of Interlock itself makes these
               "NO_MUTANT"}  # an accepted symbol can be dropped, any other let through: a machine has mutants unless none is drawn


# --- random machines -----------------------------------------------------------------------------------------------------------------------
def compare(seed):
    """(what is wrong or None, whether the machine compiles, the words met)"""
    doc = generate.Generator(seed).document(FEATURES[seed % len(FEATURES)])
    met = collections.Counter()
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(doc, f)
        f.flush()
        p = run("harden", "--json", f.name)
    try:
        m = brute.Machine(doc)
        want = {**brute.lines(m), **brute.observers(m), **brute.recovery(m)}
    except brute.Refused as e:
        want = str(e)
    if p.returncode == 3 or isinstance(want, str):
        same = p.returncode == 3 and want == "fault"
        return None if same else f"ours exit {p.returncode} {p.stderr.strip()!r}, brute force {want if isinstance(want, str) else 'judges it'}", False, met
    if p.returncode == 4:
        return "an instrument failed", True, met
    got = {(c["id"], c["region"]): c for c in json.loads(p.stdout)["checks"]}
    for key, w in want.items():
        g = got.get(key)
        if g is None:
            return f"{key}: no such line", True, met
        met[key[0], w["verdict"]] += 1
        for field, value in w.items():
            have = g.get(field)
            if field == "length":
                have = len(g["witness"]) if g["witness"] is not None else None
                if w["verdict"] == "PASS" and key[0] != "gates":
                    continue
            if field == "finding" and value is None:
                continue
            if have != value:
                return f"{key} {field}: ours {have!r}, brute force {value!r}", True, met
    return None, True, met


def randoms():
    start = int(os.environ.get("SEED", "0"))
    most = int(os.environ.get("RANDOM_MACHINES", str(RANDOM)))
    compiled, met, seed, wrong = 0, collections.Counter(), start, 0
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        while compiled < most and seed < start + 4 * most and wrong < 10:
            for k, (problem, ok, words) in enumerate(pool.map(compare, range(seed, seed + 200), chunksize=20)):
                compiled += ok
                met.update(words)
                if problem:
                    wrong += 1
                    print(f"FAILED: random machine, seed {seed + k}, features {FEATURES[(seed + k) % len(FEATURES)]}: {problem}")
            seed += 200
    report(f"random: {compiled} machines, seeds {start} to {seed - 1}", f"{wrong} differ from brute force" if wrong else None if compiled >= most else "too few compile")
    missing = [f"{c} {v}" for c in ("from-init", "havoc", "gates", "mediation") for v in ("PASS", "FAIL") if not met[c, v]]
    report("random: every one of these checks passes and fails somewhere", ", ".join(missing) or None)
    print("random:", ", ".join(f"{c} {v} {n}" for (c, v), n in sorted(met.items())))


def control():
    """Brute force and a machine that was changed behind its back must differ, else the comparison sees nothing."""
    doc = generate.Generator(1).document()
    m = brute.Machine(doc)
    m.actions[0] = m.actions[0]._replace(clauses=[("", lambda env: True)])
    try:
        same = brute.lines(m) == brute.lines(brute.Machine(doc))
    except brute.Refused:
        same = False
    report("random: a changed machine differs", "it does not" if same else None)


def spin():
    global skipped
    if not shutil.which("spin") or not shutil.which("gcc"):
        skipped += 1
        print("skipped: SPIN on random machines (no spin)")
        return
    done, wrong, seed = 0, 0, 0
    while done < SPIN and seed < 10 * SPIN:
        doc = generate.Generator(seed).document(FEATURES[seed % len(FEATURES)])
        seed += 1
        with tempfile.TemporaryDirectory() as d:
            path = pathlib.Path(d, "machine.json")
            path.write_text(json.dumps(doc))
            if run("harden", "--json", str(path)).returncode == 3:
                continue
            p = subprocess.run([str(ROOT / "proofs/spin/compare"), str(path)], capture_output=True, text=True, timeout=600, env={**os.environ, "BUILD": os.environ.get("BUILD", "build")})
            done += 1
            if p.returncode:
                wrong += 1
                print(f"FAILED: SPIN and seed {seed - 1}: {(p.stdout + p.stderr).strip()[-300:]}")
    report(f"SPIN agrees on {done} random machines", f"{wrong} differ" if wrong else None if done == SPIN else "too few compile")


if __name__ == "__main__":
    cases("--write" in sys.argv)
    if not [a for a in sys.argv[1:] if a != BIN]:
        control()
        randoms()
        spin()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0)
