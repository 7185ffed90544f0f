#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reports of harden: the same bytes on every run and from two compilers, files that are written whole, a page that needs nothing from outside, and
what bounds do to verdicts. BUILD names the build folder; build-clang is made when clang is there."""
import html.parser
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INTERLOCK = ROOT / os.environ.get("BUILD", "build") / "interlock"
FILES = ["security-perf.json", "security-report.html", "security-report.json", "security-report.md"]
TRIFECTA = (ROOT / "machines/trifecta.yaml").read_text()
passed = failed = skipped = 0


def check(name, truth, detail=""):
    global passed, failed
    passed, failed = passed + bool(truth), failed + (not truth)
    print(f"{'ok' if truth else 'FAILED'}: {name}" + ("" if truth else f"\n    {detail}"), flush=True)


def skip(name):
    global skipped
    skipped += 1
    print(f"skipped: {name}", flush=True)


def harden(*arguments, binary=INTERLOCK):
    return subprocess.run([binary, "harden", *map(str, arguments)], capture_output=True, text=True, timeout=600, check=False)


def report(machine, folder, *arguments, binary=INTERLOCK):
    run = harden(machine, "--report", folder, *arguments, binary=binary)
    return run, {name: (folder / name).read_bytes() for name in FILES if (folder / name).exists()}


def machines(work):
    """What is reported: proven, broken, small, bounded, with words that nobody should write."""
    broken = work / "broken.yaml"
    broken.write_text(TRIFECTA.replace('liveout: "next.flight || next.open"', 'liveout: "pre.flight || pre.open"'))
    return [("proven", "trifecta", ()), ("broken", broken, ()), ("small", ROOT / "tests/machines/smallest.yaml", ("--mutants", "all")),
            ("bounded", "trifecta", ("--max-states", "10"))]


def compiled_by_clang():
    if not shutil.which("clang"):
        return None
    folder = ROOT / "build-clang"
    environment = dict(os.environ, CC="clang")
    for command in (["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DIL_TESTS=ON"], ["cmake", "--build", folder, "--target", "interlock"]):
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if run.returncode:
            print(run.stdout[-2000:], run.stderr[-2000:])
            return None
    return folder / "interlock"


def same_bytes(work):
    clang = compiled_by_clang()
    for name, machine, arguments in machines(work):
        first = report(machine, work / f"{name}-1", *arguments)[1]
        second = report(machine, work / f"{name}-2", *arguments)[1]
        check(f"{name}: four files", sorted(first) == FILES, sorted(first))
        stable = [f for f in FILES[1:] if first.get(f) != second.get(f)]
        check(f"{name}: two runs, the same bytes", not stable, stable)
        text = first["security-report.json"].decode()
        tree = json.loads(text)
        canonical = json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
        check(f"{name}: sorted keys and nothing between", text == canonical)
        check(f"{name}: no paths, no fractions", str(work) not in text and not re.search(r":-?\d+\.\d", text))
        check(f"{name}: --json prints the file", harden(machine, "--json", *arguments).stdout == text)
        if clang:
            other = report(machine, work / f"{name}-clang", *arguments, binary=clang)[1]
            differ = [f for f in FILES[1:] if first.get(f) != other.get(f)]
            check(f"{name}: gcc and clang, the same bytes", not differ, differ)
        else:
            skip(f"{name}: gcc and clang")


def keys(work):
    tree = json.loads(report("trifecta", work / "keys")[1]["security-report.json"])
    want = {"tool", "version", "inputs", "table", "bounds", "checks", "fully_mediated", "vacuity", "frozen", "never_fired", "mutation", "recovery", "controls",
            "certificate", "not_established", "verdict", "exit", "drawing", "guards"}
    check("the report has its keys", want <= set(tree), want - set(tree))
    perf = json.loads((work / "keys/security-perf.json").read_text())
    check("times stand apart", {"wall_ms", "cpu_ms", "max_rss_kib"} <= set(perf) and not set(perf) & {"checks"}, perf)
    page = (work / "keys/security-report.md").read_text()
    check("the page has every check and control", all(f"| {row['id']} |" in page for row in tree["checks"]) and all(row["what"] in page for row in tree["controls"]))
    check("the report says what was asked: each region with its condition", tree["regions"] and all(r["condition"] for r in tree["regions"])
          and all(f"| {r['region']} |" in page for r in tree["regions"]) and "## What was asked" in page, tree["regions"])
    check("one verdict line", page.count("**FULLY MEDIATED**") == 1)


class Page(html.parser.HTMLParser):
    void = {"meta"}

    def __init__(self):
        super().__init__()
        self.open, self.bad, self.tags, self.text = [], [], set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            if name in ("src", "href", "srcset", "data", "action") or name.startswith("on") or "url(" in (value or "").replace("url(#", ""):
                self.bad.append((tag, name, value))
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.bad.append(("closes", tag))

    def handle_data(self, data):
        self.text.append(data)


def read(text):
    page = Page()
    page.feed(text)
    return page


def page_alone(work):
    for name, machine, arguments in machines(work):
        text = report(machine, work / f"page-{name}", *arguments)[1]["security-report.html"].decode()
        page = read(text)
        check(f"{name}: the page is whole and asks for nothing", not page.bad and not page.open and not page.tags & {"script", "link", "img", "iframe"}, (page.bad, page.open))
        check(f"{name}: its policy forbids what it does not need", "default-src 'none'" in text and 'lang="en"' in text and "<th scope=" in text)
        check(f"{name}: the machine is drawn", ("<svg role" in text) == (name != "bounded"))
    # a reader that finds nothing wrong would not find anything: a page that is not
    check("control: a script and a stray tag are seen", read("<p onclick=x><a href=http://x>").bad and read("<p></b>").bad and read("<p>").open)
    hostile = work / "hostile.yaml"
    hostile.write_text(TRIFECTA.replace("[live, quarantined, ended]", "[live, quarantined, ended, '<script>alert(1)</script>', '|`*_[x](http://x)&amp;']"))
    run, files = report(hostile, work / "hostile")
    if run.returncode == 3:
        check("hostile words are refused by the language", "error" in run.stderr, run.stderr)
    else:
        page = read(files["security-report.html"].decode())
        check("hostile words stay text", "script" not in page.tags and not page.bad, page.bad)
        check("hostile words stay text in Markdown", "<script" not in files["security-report.md"].decode().replace("\\<", ""))


def in_a_browser(work):
    browser = next((b for b in map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome")) if b), None)
    if not browser:
        skip("in a browser")
        return
    report(work / "broken.yaml", work / "browser")
    try:
        run = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", f"--user-data-dir={work}/profile", "--dump-dom",
                              (work / "browser/security-report.html").as_uri()], capture_output=True, text=True, timeout=90, check=False)
    except subprocess.TimeoutExpired:
        skip("in a browser: it did not answer")
        return
    check("a browser shows it and complains of nothing", "NOT MEDIATED" in run.stdout and "</svg>" in run.stdout and "CONSOLE" not in run.stderr, run.stderr[-500:])


def folders(work):
    target = work / "folder"
    run, files = report("trifecta", target)
    check("the folder is made, the files are 0644", run.returncode == 0 and all(stat.S_IMODE((target / f).stat().st_mode) == 0o644 for f in FILES))
    check("nothing else is left in it", sorted(os.listdir(target)) == FILES, os.listdir(target))
    run, again = report("trifecta", target)
    check("an old report is replaced", run.returncode == 0 and again[FILES[1]] == files[FILES[1]])
    victim = work / "victim"
    victim.write_text("precious")
    (target / FILES[2]).unlink()
    (target / FILES[2]).symlink_to(victim)
    run = harden("trifecta", "--report", target)
    check("a link in a file's place is refused", run.returncode == 5 and victim.read_text() == "precious" and FILES[2] in run.stderr, (run.returncode, run.stderr))
    check("and leaves nothing behind", not [f for f in os.listdir(target) if f.startswith(".")], os.listdir(target))
    check("and replaced none of the others", (target / FILES[1]).read_bytes() == files[FILES[1]])
    link = work / "link"
    link.symlink_to(target)
    check("a link to a folder is refused", harden("trifecta", "--report", link).returncode == 5)
    check("a file is no folder", harden("trifecta", "--report", victim).returncode == 5)
    check("a folder in a missing one is refused", harden("trifecta", "--report", work / "no/where").returncode == 5)


def bounds(work):
    run = harden("trifecta", "--max-states", "10", "--json")
    tree = json.loads(run.stdout)
    open_lines = [c["id"] for c in tree["checks"] if c["verdict"] != "INCONCLUSIVE" or not c["bound_hit"]]
    check("with ten states every check is open", run.returncode == 2 and tree["verdict"] == "BOUNDED" and not open_lines, (run.returncode, tree["verdict"], open_lines))
    allowed = harden("trifecta", "--max-states", "10", "--allow-bounded", "--json")
    tree = json.loads(allowed.stdout)
    check("--allow-bounded changes the exit code and not the word", (allowed.returncode, tree["verdict"], tree["fully_mediated"], tree["certificate"]) == (0, "BOUNDED", False, None),
          (allowed.returncode, tree["verdict"]))
    check("it forgives no failure", harden(work / "broken.yaml", "--allow-bounded", "--max-states", "60").returncode == 1)
    check("it forgives nothing vacuous", harden(ROOT / "tests/machines/smallest.yaml", "--allow-bounded", "--mutants", "1").returncode == 2)
    few = harden("trifecta", "--max-bytes", "1", "--json")
    check("a memory limit leaves it open", few.returncode == 2, (few.returncode, few.stderr))


def joined(work):
    """What other instruments and other tools say of the same machine."""
    sandbox = ROOT / "examples/machines/sandbox.yaml"
    run, files = report(sandbox, work / "watched", "--mutants", "1")
    alone = harden(sandbox, "--mutants", "1")
    tree, page = json.loads(files["security-report.json"]), files["security-report.md"].decode()
    said = json.loads(subprocess.run([INTERLOCK, "diagnose", "--json", sandbox], capture_output=True, text=True, timeout=300, check=False).stdout)
    check("a machine with a diagnosis has what diagnose says", tree.get("diagnosis") == said and tree["diagnosis"]["checks"])
    check("that decides nothing here", said["exit"] == 1 and run.returncode == alone.returncode == 2, (said["exit"], run.returncode, alone.returncode))
    worm = next(c for c in said["checks"] if c["id"] == "wormholes")
    check("the page says it", "| **FAIL** | lethal-trifecta | BLIND |" in page and f"{worm['diagnosed']} of {worm['distinct']} ways" in page)
    check("the lesser sections are sentences", "## Recovery\n\nFrom each of the" in page and "## What is sticky\n\ncompromised:" in page and "* scope:" not in page)
    plain = json.loads(harden("trifecta", "--mutants", "20", "--json").stdout)
    check("a machine without one has none", "diagnosis" not in plain and plain["confirmers"] == [])
    check("and the page says that nothing is recorded", "## Confirmed by other tools\n\nNone recorded." in page)
    table = plain["table"]["sha256"]
    book = work / "confirmations.json"
    book.write_text(json.dumps({"schema": 1, "confirmations": [{"table": table, "machine": "trifecta", "by": "spin", "says": "330 <states>"},
                                                               {"table": "0" * 64, "machine": "other", "by": "z3", "says": "of another"}]}))
    run, files = report("trifecta", work / "confirmed", "--mutants", "20", "--confirmed", book)
    tree, page = json.loads(files["security-report.json"]), files["security-report.md"].decode()
    check("what is recorded of this table is quoted, and nothing else", (run.returncode, tree["confirmers"]) == (0, [{"by": "spin", "says": "330 <states>"}]), tree["confirmers"])
    check("on the page too, as text", "| spin | 330 " in page and "330 <states>" not in files["security-report.html"].decode())
    for text in ("[]", "{\"confirmations\": [{}]}", "{\"confirmations\": [{\"table\": 1, \"by\": \"x\", \"says\": \"y\"}]}", "{"):
        book.write_text(text)
        run = harden("trifecta", "--mutants", "1", "--json", "--confirmed", book)
        check(f"no book of confirmations: {text}", run.returncode == 3 and "confirmations.json" in run.stderr and not run.stdout, (run.returncode, run.stderr))
    run = harden("trifecta", "--mutants", "1", "--confirmed", work / "nothing")
    check("a file that is not there", run.returncode in (3, 5) and "nothing" in run.stderr, (run.returncode, run.stderr))


with tempfile.TemporaryDirectory() as name:
    place = Path(name)
    for part in (same_bytes, keys, page_alone, in_a_browser, folders, bounds, joined):
        part(place)
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed != 0)
