#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutation adequacy: every cell of the shipped machine's table changed in turn, and what the checks make of it. docs/harden.md prints the figures;
this compares them, and `run.py --tables` prints the two tables anew. BUILD names the build folder."""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INTERLOCK = ROOT / os.environ.get("BUILD", "build") / "interlock"
TRIFECTA = (ROOT / "machines/trifecta.yaml").read_text()
passed = failed = 0


def check(name, truth, detail=""):
    global passed, failed
    passed, failed = passed + bool(truth), failed + (not truth)
    print(f"{'ok' if truth else 'FAILED'}: {name}" + ("" if truth else f"\n    {detail}"), flush=True)


def harden(*arguments):
    run = subprocess.run([INTERLOCK, "harden", *arguments, "--json"], capture_output=True, text=True, timeout=600, check=False)
    return run.returncode, (json.loads(run.stdout) if run.stdout else None), run


def mutants(text, number):
    """Hardens a document; its mutation section."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        return harden(file.name, "--mutants", str(number))[1]["mutation"]


def edited(old, new):
    if TRIFECTA.count(old) != 1:
        sys.exit(f"machines/trifecta.yaml has `{old}` {TRIFECTA.count(old)} times; adapt this test")
    return TRIFECTA.replace(old, new)


def kills(section, name):
    return sum(row["first"] for row in section["checks"] if row["check"] == name)


MEANS = {
    "drop": "cell: accepted becomes rejected",
    "accept": "cell: rejected becomes accepted, with the updates that the action makes",
    "retarget": "cell: one variable of the state that it leads to has another value (each variable, each value)",
    "widen": "cell: rejected becomes accepted, leading where the symbol leads from another state",
    "silence": "cell: rejected becomes accepted, and nothing changes",
    "reason-swap": "cell: rejected by another rule",
    "drop-action": "an action is never accepted",
    "drop-clause": "a clause is left out",
    "freeze": "an action no longer writes one of its variables",
    "schema-weaken": "a payload that is never accepted is taken for one that is",
    "effect-drop": "one word of a payload is not heard (what a wrong label does)",
    "effect-order-swap": "an action is judged before its effects are added",
    "approval-not-consumed": "an approved call does not use up its approval",
    "stale-approval-kept": "approvals outlive the gain of an effect",
    "settle-below-worst": "a settle clears the taint that it should confirm",
    "commit-at-return": "taints are charged at the settle and not at the admission",
    "saturate-wrap": "a count that would leave its range comes in at the other end",
}


def tables():
    section = harden("trifecta", "--mutants", "all")[1]["mutation"]
    print("| operator | one mistake | judged | distinct | killed | survived |\n|---|---|---|---|---|---|")
    for row in section["operators"]:
        print(f"| `{row['operator']}` | {MEANS[row['operator']]} | {row['judged']:,} | {row['distinct']:,} | {row['killed']:,} | {row['survived']:,} |")
    print("\n| survivors | | why no check minds |\n|---|---|---|")
    for row in section["survivors"]:
        print(f"| {row['class']} | {row['survived']:,} | {row['why']} |")
    print("\n| check | region | kills | alone |\n|---|---|---|---|")
    for row in section["checks"]:
        print(f"| `{row['check']}` | {row['region'] or ''} | {row['kills']:,} | {row['alone']:,} |")


def whole():
    code, report, _ = harden("trifecta", "--mutants", "all")
    section = report["mutation"]
    operators = {row["operator"]: row for row in section["operators"]}
    table = report["table"]
    check("every mutant was judged", code == 0 and section["score"] == "all" and section["dropped"] == 0, section["score"])
    flips = operators["drop"]["judged"] + operators["accept"]["judged"]
    check("each cell was flipped", flips == table["states"] * table["symbols"], f"{flips} of {table['states']} x {table['symbols']}")
    check("each accepted step was led elsewhere", operators["retarget"]["judged"] == table["edges"] * 13, operators["retarget"]["judged"])
    for name, row in operators.items():
        sums = (row["equivalent"] + row["duplicate"] + row["harness_killed"] + row["distinct"] == row["judged"]
                and row["killed"] + row["survived"] + row["unsettled"] == row["distinct"]
                and sum(by["first"] for by in row["killed_by"]) == row["killed"])
        check(f"{name}: the counts add up", sums, row)
    explained = sum(row["survived"] for row in section["survivors"])
    check("each survivor is explained", explained == section["survived"] and all(row["why"] and row["examples"] for row in section["survivors"]), explained)
    differ = [e for row in section["survivors"] for e in row["examples"] if e["machine_says"] == e["mutant_says"]]
    check("each example names a step that differs", not differ, differ)
    killed = {row["check"]: row for row in section["checks"]}
    check("recovery kills what nobody else does", killed["recovery"]["alone"] > 0, killed["recovery"])
    check("recovery is asked of no cell", killed["recovery"]["kills"] < 100, killed["recovery"])
    # the page
    page = (ROOT / "docs/harden.md").read_text()
    rows = re.finditer(r"^\| `([a-z-]+)` \| [^|]* \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", page, re.M)
    told = {row[1]: [int(row[i].replace(",", "")) for i in range(2, 6)] for row in rows}
    for name, row in operators.items():
        want = [row["judged"], row["distinct"], row["killed"], row["survived"]]
        check(f"docs/harden.md: {name}", told.get(name) == want, f"page {told.get(name)}, run {want}")
    classes = {m[1]: int(m[2].replace(",", "")) for m in re.finditer(r"^\| ([a-z ]+) \| ([\d,]+) \| [^|]* \|$", page, re.M)}
    for row in section["survivors"]:
        check(f"docs/harden.md: survivors, {row['class']}", classes.get(row["class"]) == row["survived"], f"{classes.get(row['class'])} and {row['survived']}")


def samples():
    code, report, run = harden("trifecta", "--mutants", "400")
    again = harden("trifecta", "--mutants", "400")[2]
    section = report["mutation"]
    line = next(c for c in report["checks"] if c["id"] == "mutation")
    check("a sample is called one", (line["verdict"], line["finding"], section["score"]) == ("PASS", "SAMPLED", "sampled") and code == 0, line)
    check("a sample says what it leaves out", section["dropped"] == section["population"] - section["judged"] > 0 and section["judged"] <= 400, section["judged"])
    check("a sample is always the same", run.stdout == again.stdout)
    code, report, _ = harden("trifecta", "--max-states", "10")
    line = next(c for c in report["checks"] if c["id"] == "mutation")
    check("a bound leaves it open", (code, line["verdict"], line["bound_hit"]) == (2, "INCONCLUSIVE", True), line)
    for word in ("0", "many", "-1"):
        check(f"--mutants {word} is refused", harden("trifecta", "--mutants", word)[0] == 3)
    code, report, _ = harden("trifecta", "--mutants", "1")
    line = next(c for c in report["checks"] if c["id"] == "mutation")
    check("where no mutant is killed nothing is claimed", (code, line["verdict"], line["finding"]) == (2, "INCONCLUSIVE", "NOTHING_KILLED"), line)


def controls():
    """The score must fall when a check loses what it looks at, and rise when a region is added."""
    plain = mutants(TRIFECTA, 3000)
    blind = mutants(TRIFECTA.replace(", taint: source", ""), 3000)
    custody = (ROOT / "machines/secret-custody.yaml").read_text()
    check("sticky kills", kills(mutants(custody, "all"), "sticky") > 0)
    check("where nothing is sticky it kills nothing", kills(mutants(custody.replace(", sticky: true", ""), "all"), "sticky") == 0)
    check("without corrective actions recovery kills nothing", kills(plain, "recovery") > 0 and
          kills(mutants(TRIFECTA.replace("    corrective: true\n", ""), 3000), "recovery") == 0)
    check("without taints laundering kills nothing", kills(plain, "laundering") + kills(plain, "havoc-laundered") > 0 and kills(blind, "laundering") == 0
          and blind["killed"] < plain["killed"], f"{blind['killed']} and {plain['killed']}")
    swaps = lambda s: next(r["killed"] for r in s["operators"] if r["operator"] == "reason-swap")
    told = mutants(edited("\nregions:\n", "\nregions:\n  honest: {rejection: \"reason != 'busy' || pre.flight || pre.crossing\", edge: [end]}\n"
                          "  known: {rejection: \"reason != 'label-breach' || call.untrusted || call.sensitive\", edge: [settle]}\n"), 3000)
    check("a rejection region kills a reason that is wrong", swaps(plain) == 0 and swaps(told) > 0, f"{swaps(plain)} and {swaps(told)}")


if sys.argv[1:] == ["--tables"]:
    tables()
    sys.exit()
whole()
samples()
controls()
print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed != 0)
