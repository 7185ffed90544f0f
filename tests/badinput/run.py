#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad input from outside: each call is decided as its row says, by `interlock check` with policy.yaml, in a session that holds private data and untrusted content. A block has a
reason. Beside what is bad stands what is nearly the same and good, which has to pass: a gate that blocks everything fails here.

Then documents and sessions that are refused, large ones, and envelopes (envelope.c, in C). Usage: run.py BUILD/interlock."""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
INTERLOCK = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/interlock").resolve()
POLICY = HERE / "policy.yaml"
passed = failed = 0


def report(name, problem=None):
    global passed, failed
    if problem:
        failed += 1
        print(f"FAILED: {name}\n    {problem}")
    else:
        passed += 1


def interlock(*arguments, stdin=""):
    return subprocess.run([INTERLOCK, *arguments], input=stdin, capture_output=True, text=True, timeout=300, check=False)


def mail(to, **more):
    return "in.mail", {"to": to, "body": "as agreed", **more}


def get(url):
    return "in.get", {"url": url}


def nested(depth, inner="x"):
    """`depth` levels, the innermost holding `inner`."""
    for i in range(depth):
        inner = [inner] if i % 2 else {"k": inner}
    return inner


OK = "allow"
UNVOUCHED = ("machine", "lethal-trifecta")
ERRED = ("fault", "condition-error")
# name, (tool, arguments), what comes out: OK, or (layer, reason), and words of why
ROWS = [
    # ---- the good beside which the bad stands
    ("an address of ours", mail("ana@corp.example"), OK),
    ("two addresses of ours", mail(["ana@corp.example", "bo@corp.example"], cc="cy@corp.example"), OK),
    ("letter case is nothing", mail("Ana@CORP.example"), OK),
    ("a URL of ours", get("https://api.corp.example/v1?q=1"), OK),
    ("a draft goes nowhere", ("in.draft", {"mode": "draft"}), OK),
    ("few go nowhere", ("in.size", {"n": 10}), OK),
    ("a small payment", ("in.pay", {"amount": 100}), OK),
    ("a share with friends", ("in.share", {"people": ["ana@corp.example"]}), OK),
    ("an answer in parts", ("in.answer", {"parts": 50, "text": "yes", "map": {"key": 2}}), OK),
    # ---- depth
    ("32 levels in an argument that is read", mail("ana@corp.example", body=nested(31)), OK),
    ("32 levels with an address at the bottom", mail("ana@corp.example", body=nested(31, "eve@evil.example")), UNVOUCHED, "body"),
    ("32 levels as a recipient", mail(nested(31, "ana@corp.example")), UNVOUCHED, "to"),
    ("32 levels in an argument of a rule", ("in.pay", {"amount": nested(31, 5)}), ERRED, "large"),
    ("32 levels of an argument that is not declared", mail("ana@corp.example", more=nested(31)), UNVOUCHED, "not declared"),
    # ---- numbers as texts, and other types than were meant
    ("a number as text in a rule", ("in.pay", {"amount": "5"}), ERRED, "no overload"),
    ("a large number as text in a rule", ("in.pay", {"amount": "5000"}), ERRED, "no overload"),
    ("a number as text in a condition of an effect", ("in.size", {"n": "5"}), UNVOUCHED),
    ("a word for a number", ("in.size", {"n": "few"}), UNVOUCHED),
    ("true for a number", ("in.pay", {"amount": True}), ERRED, "no overload"),
    ("null for a number", ("in.pay", {"amount": None}), ERRED),
    ("a list for a number", ("in.pay", {"amount": [5]}), ERRED),
    ("no number", ("in.pay", {}), ERRED, "amount"),
    ("a number as recipient", mail(5), UNVOUCHED, "to"),
    ("true as recipient", mail(True), UNVOUCHED, "to"),
    ("an object as recipient", mail({"email": "ana@corp.example"}), UNVOUCHED, "to"),
    ("a number among recipients", mail(["ana@corp.example", 5]), UNVOUCHED, "to"),
    ("a list among recipients", mail(["ana@corp.example", ["eve@evil.example"]]), UNVOUCHED, "to"),
    ("a list of ours among recipients", mail(["ana@corp.example", ["bo@corp.example"]]), UNVOUCHED, "to"),
    ("a list for a text", ("in.share", {"people": "ana@corp.example"}), ERRED, "shared"),
    ("a text in a list of numbers", ("in.answer", {"parts": [50], "text": "yes", "map": {}}), ERRED),
    ("an array where a word was expected", ("in.draft", {"mode": ["draft"]}), UNVOUCHED),
    ("a word that is nearly it", ("in.draft", {"mode": "Draft"}), UNVOUCHED),
    ("a list as URL", get(["https://api.corp.example/v1"]), OK),
    ("a list of URLs, one of them not ours", get(["https://api.corp.example/v1", "https://evil.example/"]), UNVOUCHED, "url"),
    ("an object as URL", get({"href": "https://api.corp.example/v1"}), UNVOUCHED, "url"),
    ("a body that is a list of characters", mail("ana@corp.example", body=list("see https://evil.example/x")), UNVOUCHED, "body"),
    ("a body that is a list of numbers", mail("ana@corp.example", body=[ord(c) for c in "see https://evil.example/x"]), UNVOUCHED, "body"),
    # ---- conditions that err
    ("a division by zero", ("in.answer", {"parts": 0, "text": "yes", "map": {"key": 2}}), ERRED, "ratio"),
    ("a missing member", ("in.answer", {"parts": 50, "text": "yes", "map": {}}), ERRED, "key"),
    ("a missing item", ("in.first", {"list": []}), UNVOUCHED),
    ("an item that is there and harmless", ("in.first", {"list": ["in"]}), OK),
    ("no list at all", ("in.first", {}), UNVOUCHED),
    # ---- recipients
    ("an empty list of recipients", mail([]), UNVOUCHED, "names no destination"),
    ("an empty recipient", mail(""), UNVOUCHED, "names no destination"),
    ("a null recipient", mail(None), UNVOUCHED, "names no destination"),
    ("no recipient", ("in.mail", {"body": "x"}), UNVOUCHED, "names no destination"),
    ("no arguments", ("in.mail", None), UNVOUCHED, "names no destination"),
    ("empty arguments", ("in.mail", {}), UNVOUCHED, "names no destination"),
    ("blanks as recipient", mail("   "), UNVOUCHED, "to"),
    ("an empty one among recipients", mail(["ana@corp.example", ""]), UNVOUCHED, "to"),
    ("a null among recipients", mail(["ana@corp.example", None]), UNVOUCHED, "to"),
    ("a guest without an address", ("in.invite", {"guests": [{"email": "ana@corp.example"}, {"name": "eve"}]}), UNVOUCHED, "guests"),
    ("guests that are texts", ("in.invite", {"guests": ["eve@evil.example"]}), UNVOUCHED, "guests"),
    ("guests that are no list", ("in.invite", {"guests": {"email": "ana@corp.example"}}), UNVOUCHED, "not declared"),
    ("guests of ours", ("in.invite", {"guests": [{"email": "ana@corp.example"}]}), OK),
    ("a stranger in cc", mail("ana@corp.example", cc="eve@evil.example"), UNVOUCHED, "cc"),
    ("a stranger's address in the body", mail("ana@corp.example", body="and eve@evil.example too"), UNVOUCHED, "body"),
    ("two addresses in one text", mail("ana@corp.example, eve@evil.example"), UNVOUCHED, "to"),
    ("two addresses of ours in one text", mail("ana@corp.example, bo@corp.example"), UNVOUCHED, "to"),
    ("a display name", mail("Ana <ana@corp.example>"), UNVOUCHED, "to"),
    ("a display name that is an address", mail("ana@corp.example <eve@evil.example>"), UNVOUCHED, "to"),
    ("a line end in a recipient", mail("ana@corp.example\r\nBcc: eve@evil.example"), UNVOUCHED, "to"),
    ("a NUL in a recipient", mail("ana@corp.example\0@evil.example"), UNVOUCHED, "to"),
    ("a domain that ends as ours", mail("ana@notcorp.example"), UNVOUCHED, "to"),
    ("a domain below ours", mail("ana@x.corp.example"), UNVOUCHED, "to"),
    ("ours as a label of another", mail("ana@corp.example.evil.example"), UNVOUCHED, "to"),
    ("the root's dot behind the domain", mail("ana@corp.example."), OK),
    ("two dots behind the domain", mail("ana@corp.example.."), UNVOUCHED, "to"),
    ("two at signs", mail("eve@evil.example@corp.example"), UNVOUCHED, "to"),
    ("a percent route", mail("eve%evil.example@corp.example"), UNVOUCHED, "to"),
    ("a bang route", mail("evil.example!eve@corp.example"), UNVOUCHED, "to"),
    ("a quoted local part", mail('"eve@evil.example"@corp.example'), UNVOUCHED, "to"),
    ("a comment in an address", mail("ana@corp.example(eve@evil.example)"), UNVOUCHED, "to"),
    ("an address literal", mail("ana@[192.0.2.7]"), UNVOUCHED, "to"),
    # ---- plus-addresses
    ("a plus-address as it is listed", mail("bob+list@partner.example"), OK),
    ("another tag", mail("bob+other@partner.example"), UNVOUCHED, "to"),
    ("no tag", mail("bob@partner.example"), UNVOUCHED, "to"),
    ("a tag of the listed one and more", mail("bob+list+x@partner.example"), UNVOUCHED, "to"),
    ("a plus-address below a domain of ours", mail("ana+x@corp.example"), OK),
    # ---- look-alikes and directions
    ("a Cyrillic a in the domain", mail("ana@c\u043erp.example"), UNVOUCHED, "to"),
    ("a full-width at sign", mail("ana\uff20corp.example"), UNVOUCHED, "to"),
    ("full-width letters in the domain", mail("ana@\uff43\uff4f\uff52\uff50.example"), UNVOUCHED, "to"),
    ("an ideographic full stop", mail("ana@corp\u3002example"), UNVOUCHED, "to"),
    ("a dotless i", mail("ana@\u0131.corp.example"), UNVOUCHED, "to"),
    ("a Kelvin sign, which lower case makes k", mail("\u212aim@partner.example"), UNVOUCHED, "to"),
    ("a zero width space in the domain", mail("ana@corp\u200b.example"), UNVOUCHED, "to"),
    ("a soft hyphen in the domain", mail("ana@co\u00adrp.example"), UNVOUCHED, "to"),
    ("a right-to-left override", mail("ana@\u202eelpmaxe.proc"), UNVOUCHED, "to"),
    ("a right-to-left override behind the address", mail("ana@corp.example\u202e"), UNVOUCHED, "to"),
    ("a right-to-left mark in front of the address", mail("\u200fana@corp.example"), UNVOUCHED, "to"),
    ("isolates around the address", mail("\u2066ana@corp.example\u2069"), UNVOUCHED, "to"),
    ("a Hebrew local part", mail("\u05d0\u05d1@corp.example"), UNVOUCHED, "to"),
    ("a combining mark behind a letter of the domain", mail("ana@corp\u0301.example"), UNVOUCHED, "to"),
    ("a zero width joiner in an address of the body", mail("ana@corp.example", body="eve@ev\u200dil.example"), UNVOUCHED, "body"),
    ("a right-to-left override before a URL of the body", mail("ana@corp.example", body="\u202ehttps://evil.example/x"), UNVOUCHED, "body"),
    ("full-width letters in a URL of the body", mail("ana@corp.example", body="https://\uff45vil.example/x"), UNVOUCHED, "body"),
    # ---- hosts
    ("an IDN in punycode, as it is listed", get("https://xn--bcher-kva.example/x"), OK),
    ("an IDN in Unicode", get("https://b\u00fccher.example/x"), UNVOUCHED, "url"),
    ("another IDN in punycode", get("https://xn--bcher-kv0d.example/x"), UNVOUCHED, "url"),
    ("an IPv4 address as it is listed", get("https://192.0.2.7/x"), OK),
    ("another IPv4 address", get("https://192.0.2.8/x"), UNVOUCHED, "url"),
    ("the same address as one number", get("https://3221225991/x"), UNVOUCHED, "url"),
    ("the same address in hexadecimal", get("https://0xc0.0x0.0x2.0x7/x"), UNVOUCHED, "url"),
    ("the same address in octal", get("https://0300.0.02.07/x"), UNVOUCHED, "url"),
    ("the same address cut short", get("https://192.0.519/x"), UNVOUCHED, "url"),
    ("an IPv6 address as it is listed", get("https://[2001:db8::7]/x"), OK),
    ("an IPv6 address with a zone", get("https://[fe80::1%25eth0]/x"), UNVOUCHED, "url"),
    ("an IPv4 address in an IPv6 one", get("https://[::ffff:192.0.2.7]/x"), UNVOUCHED, "url"),
    ("a machine of its own", get("https://127.0.0.1/x"), UNVOUCHED, "url"),
    ("the root's dot behind a host", get("https://api.corp.example./x"), OK),
    ("two dots behind a host", get("https://api.corp.example../x"), UNVOUCHED, "url"),
    ("another port", get("https://api.corp.example:8443/x"), UNVOUCHED, "url"),
    ("a host below a listed one", get("https://x.api.corp.example/x"), UNVOUCHED, "url"),
    ("a listed host as a label of another", get("https://api.corp.example.evil.example/x"), UNVOUCHED, "url"),
    ("a host with a percent escape", get("https://api%2ecorp.example/x"), UNVOUCHED, "url"),
    ("a host with a line end", ("in.host", {"host": "api.corp.example\n.evil.example"}), UNVOUCHED, "host"),
    ("a host alone, listed", ("in.host", {"host": "api.corp.example"}), OK),
    ("a host alone with a path", ("in.host", {"host": "api.corp.example/x"}), UNVOUCHED, "host"),
    ("a host alone in Cyrillic letters", ("in.host", {"host": "\u0430\u0440\u0456.corp.example"}), UNVOUCHED, "host"),
    # ---- user information
    ("user information before a listed host", get("https://ana:secret@api.corp.example/x"), UNVOUCHED, "url"),
    ("a listed host as user information", get("https://api.corp.example@evil.example/x"), UNVOUCHED, "url"),
    ("a listed host and port as user information", get("https://api.corp.example:443@evil.example/x"), UNVOUCHED, "url"),
    ("empty user information", get("https://@api.corp.example/x"), UNVOUCHED, "url"),
    ("a backslash before the at sign", get("https://evil.example\\@api.corp.example/x"), UNVOUCHED, "url"),
    ("a slash in its escape before the at sign", get("https://evil.example%2f@api.corp.example/x"), UNVOUCHED, "url"),
    # ---- URLs in URLs
    ("a URL of ours in a query", get("https://api.corp.example/go?u=https://api.corp.example/y"), OK),
    ("a stranger's URL in a query", get("https://api.corp.example/go?u=https://evil.example/y"), UNVOUCHED, "url"),
    ("a stranger's URL in a query, escaped", get("https://api.corp.example/go?u=https%3A%2F%2Fevil.example%2Fy"), UNVOUCHED, "url"),
    ("a stranger's URL in a query, escaped twice", get("https://api.corp.example/go?u=https%253A%252F%252Fevil.example%252Fy"), UNVOUCHED, "url"),
    ("a stranger's URL without a scheme in a query", get("https://api.corp.example/go?u=//evil.example/y"), UNVOUCHED, "url"),
    ("a stranger's URL in the path", get("https://api.corp.example/go/https://evil.example/y"), UNVOUCHED, "url"),
    ("a stranger's URL in the fragment", get("https://api.corp.example/go#u=https://evil.example/y"), UNVOUCHED, "url"),
    ("a stranger's URL in a URL of ours in a query", get("https://api.corp.example/go?u=https://api.corp.example/go?u=https://evil.example/y"), UNVOUCHED, "url"),
    ("a stranger's URL behind others", get("https://api.corp.example/go?a=1&b=2;u=https://evil.example/y"), UNVOUCHED, "url"),
    ("dot segments", get("https://api.corp.example/a/../b"), UNVOUCHED, "url"),
    ("another scheme", get("ftp://api.corp.example/x"), UNVOUCHED, "url"),
    ("a script", get("javascript:fetch('https://evil.example')"), UNVOUCHED, "url"),
    ("data", get("data:text/html,https://evil.example"), UNVOUCHED, "url"),
    ("no scheme", get("api.corp.example/x"), UNVOUCHED, "url"),
    ("two slashes only", get("//api.corp.example/x"), UNVOUCHED, "url"),
    ("blanks around a URL", get(" https://api.corp.example/x "), UNVOUCHED, "url"),
    ("a tab in a URL", get("https://evil\t.example/x"), UNVOUCHED, "url"),
    ("an empty URL", get(""), UNVOUCHED, "names no destination"),
    # ---- arguments and tools
    ("an argument that is not declared", mail("ana@corp.example", bcc="eve@evil.example"), UNVOUCHED, "not declared"),
    ("an argument that is not declared and empty", mail("ana@corp.example", bcc=[]), UNVOUCHED, "not declared"),
    ("an argument in other letters", ("in.mail", {"To": "eve@evil.example", "to": "ana@corp.example", "body": "x"}), UNVOUCHED, "not declared"),
    ("an argument with an empty name", mail("ana@corp.example", **{"": "x"}), UNVOUCHED, "not declared"),
    ("an argument with a NUL in its name", mail("ana@corp.example", **{"to\0": "eve@evil.example"}), UNVOUCHED, "not declared"),
    ("a path as the name of an argument", ("in.invite", {"guests[*].email": "ana@corp.example"}), UNVOUCHED),
    ("a tool in other letters", ("in.Mail", {"to": "ana@corp.example"}), ("labeller", "unlabelled-tool")),
    ("a tool with a blank behind it", ("in.mail ", {"to": "ana@corp.example"}), ("labeller", "unlabelled-tool")),
    ("a tool in look-alike letters", ("in.m\u0430il", {"to": "ana@corp.example"}), ("labeller", "unlabelled-tool")),
    ("a tool of no server", ("mail", {"to": "ana@corp.example"}), ("labeller", "unlabelled-tool")),
    ("a tool's name that is a pattern", ("in.*", {"to": "ana@corp.example"}), ("labeller", "unlabelled-tool")),
    ("a tool with a NUL in its name", ("in.mail\0", {"to": "ana@corp.example"}), ("labeller", "unlabelled-tool")),
    ("a tool with a name of 10,000 bytes", ("in." + "m" * 10000, {}), ("fault", "limit")),
]


def session(call):
    tool, arguments = call
    step = {"tool": tool} if arguments is None else {"tool": tool, "args": arguments}
    return json.dumps({"steps": [{"tool": "in.read", "result": "private"}, {"tool": "in.fetch", "result": "page"}, step]}) + "\n"


def decided(calls):
    done = interlock("check", "--policy", POLICY, "--json", "--explain", stdin="".join(session(call) for call in calls))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode not in (0, 1) or len(answers) != len(calls) + 1:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr[:500]}")
    return [answer["decisions"] for answer in answers[:-1]]


def judged(decisions, wanted, word=""):
    """What is wrong with the third decision, or nothing."""
    if [d["action"] for d in decisions[:2]] != ["allow", "allow"] or len(decisions) != 3:
        return f"the session does not begin as it should: {decisions}"
    d = decisions[2]
    if wanted == OK:
        return None if (d["action"], d["layer"], d["reason"]) == ("allow", None, None) else f"{d}"
    if d["action"] != "block" or not d["reason"]:
        return f"no block with a reason: {d}"
    if (d["layer"], d["reason"]) != wanted:
        return f"{d['layer']}: {d['reason']}, wanted {wanted}"
    return None if word in (d["why"] or "") else f"why does not say `{word}`: {d['why']}"


def rows():
    for row, decisions in zip(ROWS, decided([row[1] for row in ROWS])):
        report(row[0], judged(decisions, row[2], *row[3:]))


def large():
    """10 MB and 100,000 keys, in each place where an argument may stand; in a time that a caller can wait."""
    text = "a line of words, and no address in it; " * 250000
    keys = {f"k{i}": i for i in range(100000)}
    for name, call, wanted, *word in [
        ("10 MB of text that is read", mail("ana@corp.example", body=text), OK),
        ("10 MB of text that is read, an address at its end", mail("ana@corp.example", body=text + " eve@evil.example"), UNVOUCHED, "body"),
        ("10 MB as a recipient", mail(text), UNVOUCHED, "to"),
        ("10 MB as a URL", get("https://api.corp.example/" + "a" * 10000000), UNVOUCHED, "url"),
        ("10 MB in a condition", ("in.draft", {"mode": text}), UNVOUCHED),
        ("100,000 keys as arguments", ("in.mail", {"to": "ana@corp.example", **keys}), UNVOUCHED, "not declared"),
        ("100,000 keys in an argument that is read", mail("ana@corp.example", body=keys), OK),
        ("100,000 keys in an argument that is read, one an address", mail("ana@corp.example", body={**keys, "eve@evil.example": 1}), UNVOUCHED, "body"),
        ("100,000 keys as a recipient", mail(keys), UNVOUCHED, "to"),
        ("100,000 recipients of ours", mail([f"u{i}@corp.example" for i in range(100000)]), OK),
        ("100,000 recipients, the last a stranger", mail([f"u{i}@corp.example" for i in range(99999)] + ["eve@evil.example"]), UNVOUCHED, "to"),
    ]:
        began = time.monotonic()
        report(name, judged(decided([call])[0], wanted, *word) or (f"it took {time.monotonic() - began:.0f} s" if time.monotonic() - began > 120 else None))


def refused():
    """Sessions and policies that are no sessions and policies: exit 3, a position, and nothing decided from there on."""
    good = session(mail("ana@corp.example"))
    for name, line, said in [
        ("65 levels", '{"steps":[{"tool":"in.mail","args":{"a":' + "[" * 70 + "]" * 70 + "}}]}", "nested deeper than 64 levels"),
        ("a key twice", '{"steps":[{"tool":"in.mail","args":{"to":"ana@corp.example","to":"eve@evil.example"}}]}', "duplicate key `to`"),
        ("a key twice in its escape", '{"steps":[{"tool":"in.mail","args":{"to":"a","\\u0074o":"b"}}]}', "duplicate key `to`"),
        ("arguments that are a list", '{"steps":[{"tool":"in.mail","args":["ana@corp.example"]}]}', "`args` is an object"),
        ("arguments that are a text", '{"steps":[{"tool":"in.mail","args":"{}"}]}', "`args` is an object"),
        ("a tool that is a list", '{"steps":[{"tool":["in.mail"]}]}', "a step needs `tool`"),
        ("a lone surrogate", '{"steps":[{"tool":"in.mail","args":{"to":"\\ud800"}}]}', "surrogate"),
        ("a comment", '{"steps":[] /* none */}', ""),
        ("a number that is none", '{"steps":[{"tool":"in.pay","args":{"amount":NaN}}]}', ""),
        ("a number with a zero in front", '{"steps":[{"tool":"in.pay","args":{"amount":010}}]}', ""),
        ("a number beyond all bounds", '{"steps":[{"tool":"in.pay","args":{"amount":1e999}}]}', ""),
        ("half a line", '{"steps":[{"tool":"in.mail"', ""),
    ]:
        done = interlock("check", "--policy", POLICY, "--json", stdin=good + line + "\n" + good)
        problem = None
        if done.returncode != 3 or len(done.stdout.splitlines()) != 1:
            problem = f"exit {done.returncode}, {len(done.stdout.splitlines())} lines: {done.stderr[:300]}"
        elif ":2:" not in done.stderr or said not in done.stderr:
            problem = f"it says {done.stderr[:300]}"
        report(f"a session with {name} is refused", problem)
    text = POLICY.read_text()
    for name, old, new, said in [
        ("a rule that asks for a missing group", '100 / args.parts > 10 || args.text.matches("^no") || args.map.key == 1', "'\"funance\" in agent.groups'", "did you mean `finance`"),
        ("an agent in a missing group", "sources:", "agents: { bo: { groups: [funance] } }\nsources:", "funance"),
        ("a group that is no list", "finance: [ana]", "finance: ana", "a group is a list"),
        ("a condition that names nothing", "args.amount > 100", "arguments.amount > 100", "arguments"),
        ("a condition that is no truth", "args.amount > 100", "'args.amount + 100'", ""),
        ("a condition that is broken", "args.amount > 100", "'args.amount >'", ""),
        ("an effect that is none", "effects: [sensitive]", "effects: [senstive]", "sensitive"),
        ("a kind that is nearly one", "to: { url: url }", "to: { ulr: url }", "url"),
        ("a pattern that is no address", "@corp.example", "corp@", ""),
        ("a trust that is none", "web: untrusted", "web: maybe", ""),
        ("a key that is none", "machine: trifecta", "machine: trifecta\nmod: monitor", "mod"),
        ("an unknown version", "interlock: 1", "interlock: 9", ""),
        ("an unknown machine", "machine: trifecta", "machine: trifecto", "trifecto"),
    ]:
        if old not in text:
            raise RuntimeError(f"{name}: policy.yaml has no `{old}`")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "policy.yaml")
            path.write_text(text.replace(old, new, 1))
            path.chmod(0o600)
            done = interlock("check", "--policy", path, stdin=good)
        report(f"a policy with {name} is refused", None if done.returncode == 3 and done.stdout == "" and "policy.yaml:" in done.stderr and said in done.stderr
               else f"exit {done.returncode}: {done.stdout[:200]}{done.stderr[:300]}")


def envelopes():
    program = INTERLOCK.parent / "badinput/badinput-envelope"
    if not program.exists():
        raise RuntimeError(f"{program} is not there; build it: ninja -C {INTERLOCK.parent} unit-tests")
    done = subprocess.run([program, POLICY], capture_output=True, text=True, timeout=300, check=False)
    lines = [line.partition(": ") for line in done.stdout.splitlines()]
    report("the envelopes were tried", None if done.returncode == 0 and len(lines) >= 12 else f"exit {done.returncode}, {len(lines)} rows: {done.stderr[:300]}")
    for what, _, problem in lines:
        report(what, None if problem == "ok" else problem)


def controls():
    """What judges must be able to fail."""
    good, bad = decided([mail("ana@corp.example"), mail("eve@evil.example")])
    for name, fault in [("an allow where a block is wanted", judged(good, UNVOUCHED)), ("a block where an allow is wanted", judged(bad, OK)), ("another reason", judged(bad, ERRED)),
                        ("another word", judged(bad, UNVOUCHED, "nothing of the kind")), ("a session that begins otherwise", judged(bad[1:], UNVOUCHED))]:
        report(f"control: {name} is noticed", None if fault else "it is not")


for part in (rows, large, refused, envelopes, controls):
    try:
        part()
    except (OSError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
        report(part.__name__, f"{type(error).__name__}: {error}")
print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(0 if failed == 0 else 1)
