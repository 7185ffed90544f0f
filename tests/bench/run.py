#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`bench/run --quick` runs, and says what it promises. Nothing here depends on how fast anything is.

Usage: run.py BUILD/interlock. Ends with `N passed, N failed, N skipped`."""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/interlock").resolve().parent
WANTED = ["step", "decide.no_digest", "decide.instructions", "digest", "session.memory", "explore", "echo.echo.memory.instructions",
          "echo.echo.normal.instructions", "echo.everything.memory.cpu_in_turn", "echo.echo.direct", "echo.echo.memory.added", "echo.echo.memory.cpu",
          "echo.echo.memory.throughput", "echo.echo.normal.added", "echo.echo.normal.cpu", "echo.echo.full.added", "echo.everything.memory.added",
          "echo.everything.memory.cpu", "echo.everything.memory.throughput", "echo.everything.normal.added", "echo.everything.normal.cpu",
          "echo.everything.full.added", "rss", "ready.memory", "flat.memory.memory", "flat.memory.descriptors", "cel.taint.instructions", "validate.rules", "python.check", "python.guard", "python.concat", "python.splitlines", "python.check.times"]
CEL = [c["name"] for c in json.loads((ROOT / "bench/cel.json").read_text())["conditions"]]
WANTED += ["js.create", "js.decide", "js.settle"]
PEERS = ["decide.recorded", "peer.cedar", "peer.cedar.bare", "peer.sdk", "peer.sdk.audited"]
WANTED += [f"cel.{name}{figure}" for name in CEL for figure in ("", ".compile")]
results = []


def check(name, fault):
    results.append(not fault)
    print(f"{'FAILED' if fault else 'ok'}: {name}" + (f"\n    {fault}" if fault else ""))


done = subprocess.run([ROOT / "bench/run", "--quick", "--build", BUILD], capture_output=True, text=True, timeout=1200, check=False)
check("bench/run --quick ends well", "" if done.returncode == 0 else (done.stderr or done.stdout)[-1500:])
try:
    figures = json.loads((BUILD / "bench-quick.json").read_text())
except (OSError, ValueError) as error:
    figures, fault = [], str(error)
else:
    fault = ""
check("bench-quick.json is a list", fault or ("" if isinstance(figures, list) and figures else "it is none"))
check("each figure has its members", next((f"{f}" for f in figures if list(f) != ["name", "value", "unit", "limit", "against", "ratio"]), ""))
by_name = {f["name"]: f for f in figures}
check("no figure stands twice", "" if len(by_name) == len(figures) else "one does")
skipped = 0
for name in WANTED:
    if "everything" in name and "server-everything is not installed" in done.stdout:
        skipped += 1
        continue
    if name.startswith("python.") and ("no Python of 3.11" in done.stdout or (name.endswith(".times") and "the package interbolt is not to be had" in done.stdout)):
        skipped += 1
        continue
    if name.endswith("instructions") and "valgrind is not installed" in done.stdout:
        skipped += 1
        continue
    # a difference of two medians may come out below zero on a busy machine
    check(f"{name} was measured", "" if name in by_name and (by_name[name]["value"] > 0 or name.endswith(".added") or name.startswith("ready.")) else f"{by_name.get(name)}")
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "ways").write_text("parrot\tcat\n")  # says what it hears, which is no answer
    wrong = subprocess.run([BUILD / "bench/echo_client", "calls", "1", "0", f"{folder}/ways"], capture_output=True, text=True, timeout=600, check=False)
check("a way that answers wrongly gives no figure", "" if wrong.returncode == 1 and "parrot answered" in wrong.stderr and not wrong.stdout else f"{wrong}")
check("an expression's engines are compared", "" if all(by_name.get(f"cel.{name}", {}).get("ratio") for name in CEL) or "engines of npm are not installed" in done.stdout else "one is not")
with tempfile.TemporaryDirectory() as folder:
    for what, old, new, said in (("a wrong answer", '"answer": true', '"answer": false', "another answer"), ("an allocation that is not said", '"builds": true, ', "", "allocates"),
                                 ("an allocation that is not there", '"labels": 8', '"builds": true', "builds nothing")):
        pathlib.Path(folder, "cel.json").write_text((ROOT / "bench/cel.json").read_text().replace(old, new))
        wrong = subprocess.run([BUILD / "bench/bench_cel", f"{folder}/cel.json", "facts"], capture_output=True, text=True, timeout=600, check=False)
        check(f"{what} gives no figure", "" if wrong.returncode == 1 and said in wrong.stderr else f"{wrong}")
# A peer that is not there, or that this Node cannot load, is said to be so; nothing else may leave one out.
absent = {"decide.recorded": "is not installed (`scripts/setup bench`)"}
for name in PEERS:
    said = absent.get(name) or f"{name.removeprefix('peer.')} of bench/peers.mjs could not be measured: "
    if name not in by_name and (said in done.stdout and "it allows" not in done.stdout and "it denies" not in done.stdout or absent["decide.recorded"] in done.stdout):
        skipped += 1
        continue
    check(f"{name} was measured", "" if name in by_name and by_name[name]["value"] > 0 and by_name[name]["ratio"] > 0 else f"{by_name.get(name)}")
if all(name in by_name for name in PEERS):
    with tempfile.TemporaryDirectory() as folder:
        call = subprocess.run([BUILD / "bench/bench_decide", ROOT / "bench/judged.yaml", "1", "call"], capture_output=True, text=True, timeout=600, check=False).stdout
        for what, old, new, said in (("denies the call", '"server":"files"', '"server":"shell"', "failed it denies the call"),
                                     ("allows what a rule denies", '"labels":[', '"labels":[],"other":[', "failed it allows what the rule `tainted` denies")):
            pathlib.Path(folder, "call.json").write_text(call.replace(old, new))
            wrong = subprocess.run(["node", ROOT / "bench/peers.mjs", f"{folder}/call.json", "1"], input="\n", capture_output=True, text=True, timeout=600, check=False)
            check(f"a peer that {what} gives no figure", "" if wrong.stdout.splitlines() == [f"{name.removeprefix('peer.')} {said}" for name in PEERS[1:]] + ["."] else f"{wrong}")
page = (ROOT / "docs/bench.md").read_text()
check("docs/bench.md has a row for each figure that has a limit", next((f"none for {f['name']}" for f in figures if f["limit"] is not None and f"| `{f['name']}` |" not in page), ""))
print(f"{sum(results)} passed, {len(results) - sum(results)} failed, {skipped} skipped")
sys.exit(0 if all(results) else 1)
