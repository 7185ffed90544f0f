#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `interlock diagnose` says of small machines, and the story of the sandbox.

cases/*.yaml: a machine each. In its first lines, `# TRY OPTIONS: exit N, WORD REGION key=value…, WORD …`: with these options the run ends so, and its
report has such lines (W1 to W6: how many mutants of that kind, and how many diagnosed); `k`, `events` and `advice` (sorted; of two that must go together, a+b) are compared where they are named.
sandbox: examples/machines/sandbox.yaml, its harden story and its diagnose story, told by what the program prints."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BIN = next((a for a in sys.argv[1:] if a.endswith("/interlock")), str(ROOT / os.environ.get("BUILD", "build") / "interlock"))
SANDBOX = ROOT / "examples/machines/sandbox.yaml"
WORDS = ["DIAGNOSABLE", "BLIND", "TOO_LATE", "NEVER_CERTAIN", "NOT_ENTERED", "BOUNDED", "FALSE_SENSOR", "SAMPLED", "GRADED", "NO_WORMHOLES"]
passed = failed = 0


def report(name, problem=None):
    global passed, failed
    if problem:
        failed += 1
        print(f"FAILED: {name}: {problem}")
    else:
        passed += 1


def run(*args):
    return subprocess.run([BIN, *map(str, args)], capture_output=True, text=True, timeout=600)


def facts(o):
    """what the report says, in the words of the cases"""
    out = {}
    for c in o["checks"]:
        if c["id"] == "diagnosis":
            advice = sorted("+".join(sorted(a["see"])) for a in c["advice"])
            twin = c["twin"]
            out[(c["finding"], c["region"])] = {"k": str(twin["k"]), "events": str(twin["k_events"]), "advice": ",".join(advice)}
        elif c["id"] == "sensor" and c["finding"]:
            out[(c["finding"], c["detail"])] = {}
        elif c["id"] == "wormholes":
            out[(c["finding"], None)] = {}
            for kind in ("W1", "W2", "W3", "W4", "W5", "W6"):
                of_kind = [m for m in c["mutants"] if m["id"].startswith(kind)]
                good = sum(m["result"] == "diagnosed" for m in of_kind)
                out[(kind, None)] = {"n": str(len(of_kind)), "diagnosed": str(good)}
    return out


def witness_problem(c):
    """two columns that look the same, the region entered once, a loop at the end"""
    steps = c["witness"] or []
    if c["finding"] == "BLIND" and not any(s["ambiguous"] for s in steps):
        return "the witness of BLIND is never ambiguous"
    was = False
    loops = False
    for s in steps:
        if was and not s["ambiguous"]:
            return "ambiguity ends before the witness does"
        if loops and not s["loop"]:
            return "the loop is not at the end"
        was, loops = s["ambiguous"], s["loop"]
        if s["seen"] is None and s["with"] is not None and s["without"] is not None:
            return "both runs move and nothing is seen"
    return None


def cases():
    seen = collections.Counter()
    for path in sorted((HERE / "cases").glob("*.yaml")):
        tries = re.findall(r"^# TRY (.*?): exit (\d)(?:, (.*))?$", path.read_text(), re.M)
        if not tries:
            report(path.stem, "has no TRY line")
        for options, code, wants in tries:
            name = f"{path.stem} {options}".strip()
            p = run("diagnose", "--json", *options.split(), path)
            if p.returncode != int(code):
                report(name, f"exit {p.returncode} and not {code} {p.stderr.strip()}")
                continue
            o = json.loads(p.stdout)
            have = facts(o)
            problem = None
            for want in filter(None, (wants or "").split(", ")):
                word, *rest = want.split()
                about = rest[0] if rest and "=" not in rest[0] else None
                values = dict(r.split("=") for r in rest if "=" in r)
                if "advice" in values:
                    values["advice"] = ",".join(sorted("+".join(sorted(a.split("+"))) for a in values["advice"].split(",")))
                seen[word] += 1
                got = have.get((word, about))
                if got is None:
                    problem = f"no {word} {about or ''} in {sorted(map(str, have))}"
                    break
                wrong = {k: got[k] for k in values if got[k] != values[k]}
                if wrong:
                    problem = f"{word}: {wrong} and not {values}"
                    break
            for c in o["checks"]:
                problem = problem or (witness_problem(c) if c["id"] == "diagnosis" else None)
                bad = [k for k, v in c.get("controls", {}).items() if v == "BROKEN"]
                problem = problem or (f"controls {bad}" if bad else None)
            again = run("diagnose", "--json", *options.split(), path).stdout
            problem = problem or (None if again == p.stdout else "two runs differ")
            text = run("diagnose", *options.split(), path)
            problem = problem or (None if text.returncode == int(code) else "text and JSON end otherwise")
            for want in filter(None, (wants or "").split(", ")):
                word = want.split()[0]
                if word not in ("GRADED", "NO_WORMHOLES", "BOUNDED") and word[0] != "W":
                    problem = problem or (None if word in text.stdout else f"the text lacks {word}")
            report(name, problem)
    few = [w for w in WORDS if seen[w] < 2]
    report("each word is in at least two cases", ", ".join(few) or None)


def bounds_of_bytes():
    """Wherever memory ends: a verdict or BOUNDED, and no PASS that the whole run does not say. The sandbox's catalogue begins at some 60 KB."""
    whole = {(c["id"], c["region"]): c["verdict"] for c in json.loads(run("diagnose", "--json", SANDBOX).stdout)["checks"]}
    problem = None
    cut = 0
    for k in range(2, 200, 6):
        p = run("diagnose", "--json", "--max-bytes", f"{k}k", SANDBOX)
        if p.returncode not in (1, 2):
            problem = problem or f"{k}k: exit {p.returncode} {p.stderr.strip()}"
            continue
        cut += p.returncode == 2
        other = [c["verdict"] for c in json.loads(p.stdout)["checks"] if c["verdict"] not in ("INCONCLUSIVE", whole[c["id"], c["region"]])]
        problem = problem or (f"{k}k: {other}" if other else None)
    report("a bound on bytes, at every size", problem or (None if cut else "none of them is reached"))


def harden(text, edits=()):
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write(text)
        f.flush()
        p = run("harden", "--json", f.name)
    o = json.loads(p.stdout)
    return p.returncode, {(c["id"]): (c["verdict"], c["finding"], c["detail"]) for c in o["checks"]}, o


INSTALL = """  install:
    principal: agent
    {gate}live: true
    {call}next: {next}
    reject:
      - {{as: lethal-trifecta, if: "trifecta"}}

  revoke:
"""


def sandbox():
    text = SANDBOX.read_text()
    code, checks, _ = harden(text)
    report("sandbox: as it is, fully mediated", None if code == 0 else f"exit {code}: {checks}")

    # An installer that may open the way out by itself: clean from the beginning, and the variable that nobody mediates is named.
    install = INSTALL.format(gate="", call="", next='{egress: "true"}')
    code, checks, _ = harden(text, [("  revoke:\n", install)])
    report("sandbox: with an installer, clean from init", None if checks["from-init"][0] == "PASS" else checks["from-init"])
    report("sandbox: the adversary gets through", None if checks["havoc"][:2] == ("FAIL", "HAVOC_CEX") else checks["havoc"])
    report("sandbox: by `egress`", None if "egress by install" in checks["mediation"][2] and code == 1 else checks["mediation"])

    # Routed through the gate.
    install = INSTALL.format(gate="gate: true\n    ", call="", next='{egress: "true", allowed: "true"}')
    code, checks, _ = harden(text, [("  revoke:\n", install)])
    report("sandbox: the installer as a gate, fully mediated", None if code == 0 else f"exit {code}: {checks}")

    # A second path around all gates.
    way = ("{untrusted: \"call.unpack ? 'held' : pre.untrusted\", sensitive: \"call.unpack ? 'held' : pre.sensitive\", "
           'egress: "call.unpack ? pre.egress : true"}')
    install = INSTALL.format(gate="", call="call: {unpack: bool}\n    ", next=way)
    code, checks, _ = harden(text, [("  revoke:\n", install)])
    report("sandbox: a second path is a bypass", None if checks["gates"][:2] == ("FAIL", "BYPASS") else checks["gates"])
    report("sandbox: and still clean from init", None if checks["from-init"][0] == "PASS" else checks["from-init"])

    for name, options in (("blind", []), ("seen", ["--see", "fetched"])):
        p = run("diagnose", *options, "examples/machines/sandbox.yaml")
        want = HERE / f"sandbox-{name}.txt"
        if "--write" in sys.argv:
            want.write_text(p.stdout)
        problem = None if p.returncode == (1 if name == "blind" else 0) else f"exit {p.returncode}"
        report(f"sandbox: {name}", problem or (None if want.read_text() == p.stdout else f"the text is not that of {want.name}"))


GHOSTS = """machine: ghosts
version: 1
vars:
  a: bool
  b: bool
  was: {type: bool, ghost: true}
actions:
  set: {principal: agent, next: {a: "true", was: "true"}, reject: [{as: both, if: "next.a && next.b"}]}
  rest: {principal: agent}
regions:
  both: {never: "pre.a && pre.b"}
  back: {transition: "!pre.a || next.a"}
contract: {rules: [both]}
"""


def words():
    """what is said besides the verdicts"""
    with tempfile.TemporaryDirectory() as d:
        path = pathlib.Path(d, "ghosts.yaml")
        path.write_text(GHOSTS)
        p = run("diagnose", path)
        report("no section: all but ghosts", None if "so all but ghosts is seen\n" in p.stdout and "\nunseen: was\n" in p.stdout else p.stdout + p.stderr)
        report("the last line counts what was not asked", None if p.stdout.endswith("; 1 region not asked\n") else p.stdout)
    page = (ROOT / "docs/diagnose.md").read_text()
    lines = set()
    for args in ([SANDBOX], [SANDBOX, "--see", "fetched"], [SANDBOX, "--max-states", "3"]):
        lines.add(run("diagnose", *args).stdout.splitlines()[-1].split(":")[0])
    missing = [x for x in lines if f"| `{x}: …` |" not in page]
    report("the last lines are in the page", None if len(lines) == 3 and not missing else f"{lines}, missing {missing}")

    # An entry of the grade is told from the next by where it starts, and no sensor is advised where nothing can be seen to differ.
    for args in ([SANDBOX], [ROOT / "examples/machines/watched.yaml"]):
        o = json.loads(run("diagnose", "--json", *args).stdout)
        mutants = next(c for c in o["checks"] if c["id"] == "wormholes")["mutants"]
        blind = [m for m in mutants if m["result"] == "undetectable"]
        name = args[0].stem
        report(f"{name}: undetectable, and no advice", None if blind and not any(m["best"] for m in blind) else blind)
        report(f"{name}: the others have some", None if any(m["best"] for m in mutants) else "none has")
        text = run("diagnose", *args).stdout
        entries = re.findall(r"^  W\d\.\d+ +(.*)\n +from: (.*)\n( +pair: .*)?", text, re.M)
        twice = [e for e in entries if entries.count(e) > 1]
        report(f"{name}: no two entries read the same", None if entries and not twice else twice or text)


def refusals():
    for args, code, words in (
        ((), 3, "which machine or policy?"),
        (("--see", "fetch", SANDBOX), 3, "no variable or sensor `fetch`; did you mean"),
        (("--unsee", "egress", SANDBOX), 3, "`egress` is not seen anyway"),
        (("--within", "0", SANDBOX), 3, "within"),
        (("--seed", "x", SANDBOX), 3, "seed"),
        (("nothing-here",), 3, "there is no such file"),
        (("--max-seconds", "x", SANDBOX), 3, "max-seconds"),
    ):
        p = run("diagnose", *args)
        name = "refused: " + " ".join(a if isinstance(a, str) else a.name for a in args)
        report(name, None if p.returncode == code and words in p.stderr and not p.stdout else f"exit {p.returncode}: {p.stderr.strip()}")


def policies():
    """a policy stands for the machine that it names"""
    with tempfile.TemporaryDirectory() as d:
        policy = pathlib.Path(d, "policy.yaml")
        policy.write_text("interlock: 1\nmachine: trifecta\n")
        named = run("diagnose", "--json", policy)
        report("a policy that names a shipped machine", None if named.stdout == run("diagnose", "--json", "trifecta").stdout else named.stderr)
        pathlib.Path(d, "m.yaml").write_text((HERE / "cases/belt-1.yaml").read_text())
        policy.write_text("interlock: 1\nmachine: ./m.yaml\n")
        own = run("diagnose", "--json", policy)
        report("a policy with a machine of its own",
               None if own.stdout == run("diagnose", "--json", HERE / "cases/belt-1.yaml").stdout else own.stderr)


os.chdir(ROOT)
cases()
policies()
sandbox()
bounds_of_bytes()
words()
refusals()
print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed != 0)
