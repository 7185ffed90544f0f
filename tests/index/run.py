#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The guarantee of the content index (docs/provenance.md), asked from outside.

matrix: encodings of either side x lengths x chunkings: every cell that the guarantee covers is found, twice each with random secrets; rot13 and gzip+base64
are reported. The same with a blinded index must find nothing.
oracle: random texts that share what chance and a plan give them, against a slow matcher (oracle.py) that shares no code with the library: whatever it finds is
found, and what is found it confirms.
benign: text, code, JSON and base64 of this machine, 10 MB of it, and some of it asked for; with IL_INDEX_MB that much, and all of its second half: each match is confirmed by the oracle; none between what shares nothing.

IL_TEST_SEED repeats a run."""
import base64
import codecs
import gzip
import html
import json
import os
import pathlib
import random
import subprocess
import sys
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import oracle  # noqa: E402  (beside this file)

ROOT = HERE.parent.parent
PROBE = ROOT / os.environ.get("BUILD", "build") / "index/index-probe"
SEED = int(os.environ.get("IL_TEST_SEED", time.time_ns() % 10**9))
rnd = random.Random(SEED)
passed = failed = 0


def report(name, problem=None):
    global passed, failed
    if problem:
        failed += 1
        print(f"FAILED: {name}: {problem} (IL_TEST_SEED={SEED})")
    else:
        passed += 1


class Probe:
    def __init__(self, *args):
        self.process = subprocess.Popen([PROBE, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, *words):
        self.process.stdin.write(" ".join(w.hex() if isinstance(w, bytes) else str(w) for w in words).encode() + b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().decode().split()

    def reset(self):
        self.ask("reset")

    def add(self, source, text):
        if self.ask("add", source, text) != ["ok"]:
            raise RuntimeError("a text was not indexed whole")

    def find(self, query):
        more = self.ask("find", query)
        hits = []
        while (line := self.process.stdout.readline().decode().split()) != ["."]:
            hits.append((int(line[0]), int(line[1]), int(line[2]), line[3] == "token", line[4] == "compared"))
        return hits, more == ["more", "1"]

    def parts(self, query):
        """As find: of each part of the query that was found the sources that have it."""
        self.ask("parts", query)
        while (line := self.process.stdout.readline()) != b".\n":
            at, n, token, sources = line.split(b" ", 3)
            yield int(at), int(n), token == b"token", list(map(int, sources.split()))

    def names(self, value):
        return self.ask("names", value) == ["1"]

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=20)


# ---- the matrix --------------------------------------------------------------------------------------

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def secret(n):
    """Random; a token when it is short, else with punctuation and spaces in it."""
    if n < 12:
        return "".join(rnd.choice(LETTERS) for _ in range(n - 1)) + rnd.choice("0123456789")
    out = "".join(rnd.choice(LETTERS + "&<>\"'/=:;,.?-_") for _ in range(n))
    return out


def json_escapes(s):
    return "".join(rnd.choice([f"\\u{ord(c):04x}", json.dumps(c)[1:-1]]) if ord(c) < 0x10000 else json.dumps(c)[1:-1] for c in s)


def percent(s):
    return "".join(f"%{b:02X}" if rnd.random() < 0.6 or not chr(b).isalnum() else chr(b) for b in s.encode())


def entities(s):
    return "".join(rnd.choice([f"&#{ord(c)};", f"&#x{ord(c):x};", html.escape(c)]) for c in s)


def hidden(s):
    return "".join(c + rnd.choice(["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", ""]) for c in s)


def fullwidth(s):
    return "".join(chr(ord(c) + 0xFEE0) if 0x21 <= ord(c) <= 0x7E else c for c in s)


def mathematical(s):
    return "".join(chr(0x1D400 + ord(c) - 65) if "A" <= c <= "Z" else chr(0x1D41A + ord(c) - 97) if "a" <= c <= "z" else chr(0x1D7CE + ord(c) - 48) if "0" <= c <= "9" else c for c in s)


def b64(s):
    return base64.b64encode(s.encode()).decode()


ENCODINGS = {
    "plain": lambda s: s,
    "json": json_escapes,
    "percent": percent,
    "base64": b64,
    "base64url": lambda s: base64.urlsafe_b64encode(s.encode()).decode().rstrip("="),
    "hex": lambda s: s.encode().hex() if rnd.random() < 0.5 else s.encode().hex().upper(),
    "html": entities,
    "upper": str.upper,
    "lower": str.lower,
    "hidden": hidden,
    "fullwidth": fullwidth,
    "mathematical": mathematical,
}
BLOBS = {"base64", "base64url", "hex"}
NESTED = {"json in percent": lambda s: percent(json_escapes(s)), "base64 in base64": lambda s: b64(b64(s)), "percent in base64": lambda s: b64(percent(s)),
          "hex in json": lambda s: json_escapes(s.encode().hex()), "html in json": lambda s: json_escapes(entities(s)), "base64 hidden": lambda s: hidden(b64(s)),
          "json in json in json": lambda s: json.dumps(json.dumps(json.dumps(s + '"')))}
REPORTED = {"rot13": lambda s: codecs.encode(s, "rot13"), "gzip base64": lambda s: base64.b64encode(gzip.compress(s.encode())).decode()}
TOKENS = list(range(3, 12))
LENGTHS = [12, 16, 24, 48, 200, 2000]
WORDS = "alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo sierra tango".split()


def filler(n):
    return " ".join(rnd.choice(WORDS) for _ in range(n))


def wrapped(s, width):
    return "\n".join(s[i:i + width] for i in range(0, len(s), width))


def chunked(chunking, encode, name, s):
    """Plain text around it and encoded with it; or encoded first and put into plain text; or over lines."""
    if chunking == "whole":
        return encode(s)
    if chunking == "inside":  # at any offset of the encoded text, which lies in other text
        return filler(7) + " " + encode(filler(rnd.randrange(1, 5)) + " " * rnd.randrange(1, 4) + s + " " + filler(3)) + " " + filler(9)
    if name in BLOBS or "64" in name:
        return filler(4) + "\n" + wrapped(encode(filler(rnd.randrange(8, 14)) + " " + s + " " + filler(12)), 76) + "\n" + filler(3)
    if name in NESTED:
        return filler(3) + "\n" + encode(filler(1) + "\n" + s) + "\n" + filler(3)
    if len(s) < 12:
        return f'{{"a": "{filler(2)}",\n "b": "{encode(s)}",\n "c": [1, 2]}}'
    at = sorted(rnd.sample(range(1, len(s)), min(3, len(s) - 1)))
    return filler(3) + " " + "\n    ".join(encode(s[a:b]) for a, b in zip([0, *at], [*at, len(s)])) + " " + filler(3)


def cell(probe, text, query):
    probe.reset()
    probe.add(1, filler(30).encode())
    probe.add(2, text.encode())
    probe.add(3, filler(30).encode())
    hits, more = probe.find(query.encode())
    return [h for h in hits if h[0] == 2], more, [h for h in hits if h[0] != 2]


def matrix(probe, blind):
    count = found = 0
    reported = {name: 0 for name in REPORTED}
    chunkings = ("whole", "inside", "lines")
    for name, encode in {**ENCODINGS, **NESTED, **REPORTED}.items():
        for n in TOKENS + LENGTHS:
            for chunking in chunkings:
                for side in ("kept", "asked", "both"):
                    s = secret(n)
                    other = rnd.choice(list(ENCODINGS))
                    text = chunked(chunking, encode, name, s) if side != "asked" else chunked(rnd.choice(chunkings), ENCODINGS["plain"], "plain", s)
                    query = s if side == "kept" else chunked(chunking, encode, name, s) if side == "asked" else chunked("whole", ENCODINGS[other], other, s)
                    hits, _, _ = cell(probe, text, query)
                    if name in REPORTED:
                        reported[name] += bool(hits)
                        continue
                    count += 1
                    found += bool(hits)
                    if not blind and not hits:
                        report(f"{name}, {n}, {chunking}, {side} ({other})", f"not found: {s[:40]!r} in {text[:300]!r}, asked by {query[:200]!r}")
    return count, found, reported


def matrices():
    probe = Probe()
    count = found = 0
    for _ in range(2):
        c, f, reported = matrix(probe, False)
        count += c
        found += f
    report(f"matrix: {found} of {count} cells", None if found == count else f"{count - found} cells are not found")
    print(f"matrix: {found} of {count} found; outside of the guarantee: " + ", ".join(f"{name} {n}" for name, n in reported.items()))
    probe.end()
    probe = Probe("blind")
    count, found, _ = matrix(probe, True)
    report("control: a blinded index finds nothing of the matrix", None if found == 0 and count > 0 else f"{found} of {count}")
    probe.end()


# ---- the oracle --------------------------------------------------------------------------------------

def random_text():
    """Of few characters, so that texts share runs of every length, with encoded parts."""
    pool = rnd.choice([["a", "b"], ["a", "B", " ", "1"], list("abcd \n,."), ["é", "e", "ß", "Ⅳ", "x", "\u200b", " "], list("xyz0123456789_-@. "), ["漢", "字", "か", "。"]])
    out = ""
    for _ in range(rnd.randrange(1, 6)):
        part = "".join(rnd.choice(pool) for _ in range(rnd.choice([3, 8, 11, 12, 13, 30, 90])))
        out += rnd.choice(["", " ", "\n", "|"]) + (rnd.choice(list(ENCODINGS.values()))(part) if rnd.random() < 0.4 else part)
    return out


def planted(texts, query):
    """A run or a word of a text goes into the query, often encoded, often cut anywhere."""
    source = rnd.choice(texts)
    at = rnd.randrange(len(source))
    part = source[at:at + rnd.choice([3, 5, 11, 12, 14, 40])]
    return query + rnd.choice([" ", "", "="]) + (rnd.choice(list(ENCODINGS.values()))(part) if rnd.random() < 0.5 else part) + rnd.choice(["", " ", "x"])


def against_oracle():
    probe = Probe()
    seconds, begun, rounds, agreed, none = float(os.environ.get("IL_INDEX_SECONDS", "12")), time.time(), 0, 0, 0
    while time.time() - begun < seconds:
        texts = [random_text() for _ in range(rnd.randrange(1, 5))]
        probe.reset()
        for i, t in enumerate(texts):
            probe.add(i + 1, t.encode())
        query = random_text()
        if rnd.random() < 0.8:
            query = planted(texts, query)
        hits, more = probe.find(query.encode())
        have = {h[0] for h in hits}
        want = {i + 1 for i, t in enumerate(texts) if oracle.shares(t, query)}
        may = {i + 1 for i, t in enumerate(texts) if oracle.may_share(t, query)}
        rounds += 1
        agreed += len(want)
        none += not may
        if want - have and not more:
            report("oracle", f"not found in {sorted(want - have)}: texts {texts!r}, query {query!r}")
            break
        if have - may:
            report("oracle", f"shares nothing with {sorted(have - may)}: texts {texts!r}, query {query!r}, hits {hits}")
            break
        if any(at + n > len(query.encode()) or n == 0 for _, at, n, _, _ in hits):
            report("oracle", f"a place outside of the query: {hits}")
            break
    else:
        report(f"oracle: {rounds} rounds")
        report("oracle: there are matches and there are none", None if agreed > 50 and none > 20 else f"{agreed} and {none}")
    print(f"oracle: {rounds} rounds, {agreed} matches, {none} without any")
    probe.end()


# ---- benign data -------------------------------------------------------------------------------------

def readable(folder, suffixes, most):
    out = b""
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if len(out) >= most:
            break
        try:
            if path.suffix in suffixes and path.is_file() and not path.is_symlink():
                out += path.read_bytes()[:60000]
        except OSError:
            continue
    return out[:most]


def generated(kind, n):
    """Where the machine has no such files: numbers in JSON, or base64 of noise, as images are."""
    if kind == "json":
        rows = [{"id": rnd.randrange(10**9), "name": rnd.choice(WORDS) + str(rnd.randrange(10**6)), "on": rnd.random() < 0.5, "x": rnd.random()} for _ in range(n // 70)]
        return json.dumps(rows, indent=1).encode()[:n]
    return base64.encodebytes(rnd.randbytes(n * 3 // 4))[:n]


def around(query, at, n, token):
    """What confirms() looks at: a little, so that what comes often is confirmed once; of a token in base64 as much as its text may need."""
    beside = query[max(0, at - 1):at] + query[at + n:at + n + 1]
    far = 100 if token and any(c in oracle.BASE64 for c in beside) else 3
    return max(0, at - far), at + n + far


def asked_of(text, query):
    probe = Probe()
    probe.add(1, text)
    found = list(probe.parts(query))
    probe.end()
    return found


def benign():
    rnd.seed(f"benign {SEED}")  # how far the tests before it came depends on the machine
    begun = time.time()
    size = int(float(os.environ.get("IL_INDEX_MB", "10")) * 1e6) // 8
    data = {
        "english": readable("/usr/share", {".txt", ".md", ".rst", ""}, 2 * size),
        "code": readable("/usr/lib/python3", {".py"}, size) + readable(ROOT / "src", {".c", ".h"}, size),
        "json": generated("json", 2 * size),
        "base64": generated("base64", 2 * size),
    }
    large = "IL_INDEX_MB" in os.environ
    probe = Probe()
    kept, source, matched, asked, misses = {}, 0, 0, 0, 0
    for kind, whole in data.items():  # the first half is kept, the second asked for
        half = whole[:len(whole) // 2]
        for i in range(0, len(half), 200000 if large else 50000):
            source += 1
            kept[source] = half[i:i + (200000 if large else 50000)]
            probe.add(source, kept[source])
    todo, rest, ntodo = {}, {}, 0
    for kind, whole in data.items():
        half = whole[len(whole) // 2:]
        for i in range(0, len(half), 1000 if large else max(1000, len(half) // 120)):
            query = half[i:i + 1000]
            asked += 1
            for at, n, token, sources in probe.parts(query):
                begin, end = around(query, at, n, token)
                hit = (query[begin:end], at - begin, n, token)
                matched += len(sources)
                ntodo += len(sources)
                for s in sources:
                    todo.setdefault(s, set()).add(hit)
            if ntodo > 2 * 10**7 or i + 1000 >= len(half):
                for s, hits in todo.items():
                    rest.setdefault(s, set()).update(oracle.encoded(kept[s], hits))
                todo, ntodo = {}, 0
                if large:
                    print(f"  {kind}: {asked} queries, {matched} matches, {time.time() - begun:.0f} s", flush=True)
    for s, hits in todo.items():
        rest.setdefault(s, set()).update(oracle.encoded(kept[s], hits))
    unlike = [(s, hit) for s, hits in rest.items() for hit in hits if not oracle.confirms(kept[s], *hit)]
    misses, confirmed = len(unlike), matched - len(unlike)
    for source, (query, at, n, token) in unlike[:5]:
        report("benign", f"a match of what shares nothing: {query[at:at + n]!r} in {query!r} with source {source}: token {token}")
    total = sum(map(len, data.values()))
    report(f"benign: {total / 1e6:.0f} MB", f"{misses} matches of what shares nothing" if misses else None)
    report("benign: enough was there and matched", None if total > 4 * size and confirmed > 100 else f"{total} bytes, {confirmed} matches")
    # the confirming matcher must refuse what is made up
    text, query = b"zzzz yyyy xxxx wwww", b"aaaa bbbb cccc dddd"
    report("control: the oracle refuses a match that is none", None if not oracle.confirms(text, query, 0, 19, False) and not oracle.confirms(text, b"a1b", 0, 3, True) else "it does not")
    hits = [(query, 0, 19, False), (b"a1b", 0, 3, True), (b"zzzz yyyy xxxx", 0, 14, False), (b"a yyyy.", 2, 4, True), (b"yyy", 0, 3, True), (b"zzzz yyyy xxxz", 0, 14, False)]
    report("control: of many matches those that are not there as they are", None if oracle.encoded(text, hits) == [*hits[:2], *hits[4:]] else "they are not told apart")
    # what is read from base64 only together with more than three characters around it: behind a character of several bytes, with NUL in it, over a line end
    shifted = b"Q" + base64.b64encode(b"some more of it, 8Vy and so on here")
    for text, query in ((b'"id": 737630,', base64.b64encode("a plain text, \u070csv0*9 goes on".encode())), (b"of CS6 to", b"//" + base64.b64encode("or here \u20ac\u00e7\0s6 as it".encode())),
                        (b'"id": 387679,', shifted[:25] + b"\n" + shifted[25:]), (b"all 850 of", b"abcdefghijklmnop/O\nDUwKJ/xLmabcdefgh")):
        places = [(at, n) for at, n, token, _ in asked_of(text, query) if token]
        report(f"in base64: a token of {text!r} is found and confirmed", None if places and all(oracle.confirms(text, query, at, n, True) for at, n in places) else f"{places}")
        report(f"control: in base64 of {text!r} another place is not", None if not any(oracle.inside(query, at + 1, n) for at, n in places) else "it is")
    report("octets of UTF-8 that are escaped are confirmed", None if oracle.confirms(rb'{" ", "\n", "\r", "\t"}', rb'= {"\xc2\xa0", "\xe2\x80\xaf", "\xe3\x80\x80", "\xe2\x80\xa8"', 0, 62, False) else "they are not")
    report("a token within a word in base64 is confirmed", None if oracle.confirms(b"xxx/dO9+yyy", b"A PARTICULAR PURPOSE.", 14, 5, True) else "it is not")
    print(f"benign: {total / 1e6:.1f} MB, {asked} queries, {confirmed} matches confirmed, {misses} not")
    probe.end()


matrices()
against_oracle()
benign()
print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(1 if failed else 0)
