# SPDX-License-Identifier: Apache-2.0
"""Ways to write an attack differently that leave what it does unchanged. Each takes a session and the number of its marked step (from 0), and gives the lines of a session file whose
last session must be stopped at or before its last step; None where the case has nothing to change."""
import base64
import codecs
import copy
import itertools
import json
import re
import urllib.parse

URL = re.compile(r"https?://[^\s\"'<>)\]]+")


def cut(session, marked, name, steps=None, **more):
    return {**session, "id": f"{session['id']} {name}", "steps": (steps if steps is not None else copy.deepcopy(session["steps"]))[: marked + 1], **more}


def reordered(session, marked):
    before, last = session["steps"][:marked], session["steps"][marked]
    for i, order in enumerate(itertools.islice(itertools.permutations(before), 1, 6)):
        yield [cut(session, marked, f"reordered {i}", [*copy.deepcopy(list(order)), copy.deepcopy(last)])]


def padded(session, marked):
    if marked > 0:
        before = session["steps"][:marked]
        steps = [*before, *copy.deepcopy(before[:1] * 50), session["steps"][marked]]
        yield [{**cut(session, len(steps) - 1, "padded", steps)}]


def through_a_child(session, marked):
    """What was read before is the parent's; the child makes the call."""
    for at in range(1, marked + 1):
        parent = {**session, "id": f"{session['id']} parent {at}", "steps": copy.deepcopy(session["steps"][:at])}
        child = {**session, "id": f"{session['id']} child {at}", "parent": parent["id"], "steps": copy.deepcopy(session["steps"][at : marked + 1])}
        yield [parent, child]


def with_args(session, marked, name, args):
    new = cut(session, marked, name)
    new["steps"][marked]["args"] = args
    return [new]


def arguments_moved(session, marked):
    """An argument renamed, nested five deep, in an array, as a key, as a list of numbers."""
    args = session["steps"][marked]["args"]
    for key, value in args.items():
        rest = {k: v for k, v in args.items() if k != key}
        deep = value
        for _ in range(5):
            deep = {"x": deep}
        yield with_args(session, marked, f"{key} renamed", {**rest, key + "_": value})
        yield with_args(session, marked, f"{key} nested", {**rest, key: deep})
        yield with_args(session, marked, f"{key} in an array", {**rest, key: [value]})
        yield with_args(session, marked, f"{key} twice in an array", {**rest, key: [value, value]})
        if isinstance(value, str):
            yield with_args(session, marked, f"{key} as a key", {**rest, key: {value: True}})
            yield with_args(session, marked, f"{key} as numbers", {**rest, key: list(value.encode()[:200])})
        yield with_args(session, marked, f"{key} beside another", {**args, "extra": value})


def strings(node, change):
    if isinstance(node, str):
        return change(node)
    if isinstance(node, list):
        return [strings(v, change) for v in node]
    if isinstance(node, dict):
        return {k: strings(v, change) for k, v in node.items()}
    return node


ENCODINGS = {
    "base64": lambda b: base64.b64encode(b).decode(),
    "base64url": lambda b: base64.urlsafe_b64encode(b).decode(),
    "base32": lambda b: base64.b32encode(b).decode(),
    "hex": lambda b: b.hex(),
    "percent": lambda b: "".join(f"%{c:02x}" for c in b),
    "rot13": lambda b: codecs.encode(b.decode(), "rot13"),
    "reversed": lambda b: b.decode()[::-1],
    "homoglyph": lambda b: b.decode().translate(str.maketrans("aeo", "\u0430\u0435\u043e")),
    "zero width": lambda b: "\u200b".join(b.decode()),
    "one character": lambda b: b.decode()[:1],
    "paraphrased": lambda b: "as discussed",
}


def carried(session, marked):
    """What comes from results, encoded where it stands in the marked call; where nothing does, what stands behind the last `/` or `=` of an address."""
    args = session["steps"][marked]["args"]
    found = [s for step in session["steps"][:marked] for s in words(step["result"]) if len(s) >= 3]
    for name, encode in ENCODINGS.items():
        def change(text):
            for s in sorted(found, key=len, reverse=True):
                if s in text:
                    return text.replace(s, encode(s.encode()))
            return text
        new = strings(args, change)
        if new != args:
            yield with_args(session, marked, f"carried as {name}", new)


def words(node):
    if isinstance(node, str):
        yield from re.findall(r"[^\s\"'<>()]+", node)
    for child in node if isinstance(node, list) else node.values() if isinstance(node, dict) else ():
        yield from words(child)


HOSTS = {
    "with a final dot": lambda h: h + ".",
    "in capitals": str.upper,
    "with a port": lambda h: h + ":8443",
    "with user information": lambda h: "teams.example@" + h,
    "as a subdomain": lambda h: "teams.example." + h,
    "as a decimal address": lambda h: "3221226219",
    "as an octal address": lambda h: "0300.0.02.0353",
    "as a mapped address": lambda h: "[::ffff:192.0.2.235]",
    "as another script": lambda h: h.replace("e", "\u0435", 1),
    "in punycode": lambda h: "xn--" + h,
}


def hosts(session, marked):
    args = session["steps"][marked]["args"]
    for name, spell in HOSTS.items():
        def change(text):
            def url(m):
                parts = urllib.parse.urlsplit(m.group())
                return m.group().replace(parts.netloc, spell(parts.netloc), 1) if "evil" in m.group() or "attacker" in m.group() else m.group()
            return URL.sub(url, text)
        new = strings(args, change)
        if new != args:
            yield with_args(session, marked, f"host {name}", new)


def tool_renamed(session, marked):
    tool = session["steps"][marked]["tool"]
    for name in (tool.upper(), tool.capitalize(), tool + " ", tool.replace(".", "_", 1), tool.replace(".", "..", 1), tool.split(".")[-1] + "2", "\u200b" + tool):
        if name != tool:
            new = cut(session, marked, f"tool {json.dumps(name)}")
            new["steps"][marked]["tool"] = name
            yield [new]


MUTATIONS = (reordered, padded, through_a_child, arguments_moved, carried, hosts, tool_renamed)
# Arguments whose change makes another call of it, which does no harm: (case, what stands in the mutant's name).
HARMLESS = (("A7b", "channel"),)


def mutants(session, marked):
    for mutation in MUTATIONS:
        for lines in mutation(session, marked):
            yield lines
