# SPDX-License-Identifier: Apache-2.0
"""Random documents of Interbolt and sessions for them. What is drawn is small, so that names meet: four tools, five sources, three agents."""
import json
import random

TOOLS = ["default.send", "default.read", "web.fetch", "pay.wire"]
SOURCES = ["web", "inbox", "kb", "user", "crm"]
GROUPS = ["finance", "ops"]
AGENTS = ["ana", "bot", "eve"]
KINDS = ["checked", "legal"]
LEGS = ["from_untrusted", "reads_private", "reaches_external"]
ARGS = ["to", "url", "body", "amount", "rate", "flag", "list", "deep"]
TEXTS = ["to", "url", "body"]


class Draw:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def one(self, of):
        return self.r.choice(of)

    def chance(self, p):
        return self.r.random() < p

    # --- conditions ---------------------------------------------------------------------------------------------------------------------
    def text(self):
        return json.dumps(self.one(["x", "evil.example", "https://intranet.corp/x", "ana@corp.example", "a", ""]))

    def label_atom(self, t):
        return self.one([
            lambda: f'{t}.trust == "{self.one(["trusted", "untrusted"])}"',
            lambda: f'{t}.trust != "{self.one(["trusted", "untrusted"])}"',
            lambda: f'{t}.source == "{self.one(SOURCES)}"',
            lambda: f'{t}.lineage.exists(s, s == "{self.one(SOURCES)}")',
            lambda: f'"{self.one(SOURCES)}" in {t}.lineage',
            lambda: f'size({t}.lineage) > {self.r.randint(0, 2)}',
            lambda: f'{t}.ingested_by.exists(a, a == "{self.one(AGENTS)}")',
            lambda: f'!{t}.endorsements.exists(k, k == "{self.one(KINDS)}")',
        ])()

    def argument(self):
        a, t = self.one(ARGS), self.one(TEXTS)  # a text is compared with texts only: cel-python calls 1 == "x" an error (cases.json has it)
        return self.one([
            lambda: f'args.{t} == {self.text()}',
            lambda: f'has(args.{a})',
            lambda: f'has(args.{t}) && args.{t} == {self.text()}',
            lambda: f'args.to.endsWith({self.text()})',
            lambda: f'args.url.startsWith({self.text()})',
            lambda: f'args.body.contains({self.text()})',
            lambda: f'args.to.matches("^[a-z]+@corp[.]example$")',
            lambda: f'args.amount > {self.r.randint(0, 200)}',
            lambda: f'args.rate > {self.r.randint(0, 2)}.5',  # 50 > 5.5 is an error of cel-python too
            lambda: f'args.amount <= {self.r.randint(0, 200)}',
            lambda: 'args.flag',
            lambda: '!args.flag',
            lambda: f'args.list.exists(r, r.endsWith({self.text()}))',
            lambda: f'args.list.all(r, r == {self.text()})',
            lambda: f'size(args.list) > {self.r.randint(0, 3)}',
            lambda: f'{self.text()} in args.list',
            lambda: f'args.list[{self.r.randint(0, 2)}] == {self.text()}',
            lambda: f'args.deep.inner == {self.text()}',
            lambda: f'args["{t}"] == {self.text()}',
            lambda: f'"{a}" in args',
            lambda: f'size(args) == {self.r.randint(0, 4)}',
        ])()

    def atom(self):
        leg = self.one(LEGS)
        return self.one([
            self.argument, self.argument,
            lambda: f'max_trust == "{self.one(["trusted", "untrusted"])}"',
            lambda: f'taint.{self.one(["exists", "exists", "all", "exists_one"])}(t, {self.label_atom("t")})',
            lambda: f'taint.exists(x, {self.label_atom("x")} && {self.label_atom("x")})',
            lambda: f'size(taint) {self.one([">", "==", "<"])} {self.r.randint(0, 2)}',
            lambda: f'sources.exists(s, s == "{self.one(SOURCES)}")',
            lambda: f'"{self.one(SOURCES)}" in sources',
            lambda: f'"{leg}" in trifecta',
            lambda: f'trifecta.contains("{leg}")',
            lambda: f'run.trifecta.contains("{leg}")',
            lambda: f'size(run.trifecta) >= {self.r.randint(1, 3)}',
            lambda: f'size(trifecta) >= {self.r.randint(1, 3)}',
            lambda: f'run.trifecta.exists(v, v == "{leg}")',
            lambda: 'run.tainted', lambda: '!run.tainted',
            lambda: f'run.untrusted_sources.exists(s, s == "{self.one(SOURCES)}")',
            lambda: f'run.sources.{self.one(["exists", "all"])}(s, s != "{self.one(SOURCES)}")',
            lambda: f'"{self.one(AGENTS)}" in run.ingested_by',
            lambda: f'agent.id {self.one(["==", "!="])} "{self.one(AGENTS)}"',
            lambda: f'agent.groups.exists(g, g == "{self.one(GROUPS + ["nobody"])}")',
            lambda: f'"{self.one(GROUPS)}" in agent.groups',
            lambda: f'tool == "{self.one(TOOLS)}"',
            lambda: f'size(run.sources) > {self.r.randint(0, 2)}',
        ])()

    def condition(self, depth=2):
        if depth == 0 or self.chance(0.4):
            return self.atom()
        a, b = self.condition(depth - 1), self.condition(depth - 1)
        return self.one([f'({a}) && ({b})', f'({a}) || ({b})', f'!({a})', f'({a}) ? ({b}) : {self.one(["true", "false"])}'])

    # --- documents -------------------------------------------------------------------------------------------------------------------------
    def rule(self, number):
        out = {"name": self.one([f"r{number}", f"rule {number}", f"r{number}", f"[b]r{number}[/b]", f"r\u00e9gle {number}"])}
        if self.chance(0.12):
            out["require_endorsement"] = self.one(KINDS)
        elif self.chance(0.9):
            out["when"] = self.condition()
        out["action"] = self.one(["allow", "block", "require_approval"])
        return out

    def sink(self):
        out = {}
        if self.chance(0.8):
            out["capabilities"] = [c for c in LEGS[1:] if self.chance(0.5)]
        if self.chance(0.9):
            out["rules"] = [self.rule(i + 1) for i in range(self.r.randint(0, 4))]
        return out if out or self.chance(0.5) else None

    def document(self):
        doc = {"version": self.one(["2.0", "2.0", "2.1"]), "defaults": {}}
        if self.chance(0.9):
            doc["defaults"]["sink_action"] = self.one(["allow", "allow", "block", "require_approval"])
        if self.chance(0.3):
            doc["defaults"]["fail_mode"] = self.one(["enforce", "monitor", "dry_run", None])
        doc["sources"] = [{"name": s, "trust": self.one(["trusted", "untrusted"])} for s in SOURCES if self.chance(0.6)]
        if self.chance(0.7):
            doc["agents"] = {a: {"groups": [g for g in GROUPS if self.chance(0.5)]} for a in AGENTS if self.chance(0.7)}
        doc["sinks"] = {t: self.sink() for t in TOOLS if self.chance(0.8)}
        return doc

    def broken(self, doc):
        """one thing in it that is not right, or might not be"""
        sinks = list(doc["sinks"].values())
        rules = [r for s in sinks if s for r in s.get("rules", [])]
        rule = self.one(rules) if rules else None

        def set_(where, key, value):
            where[key] = value

        what = [
            lambda: set_(doc, "version", self.one(["1.0", "3.0", "2", "2.", "2.x", " 2.0", "", 2, None])),
            lambda: doc.pop("version"), lambda: doc.pop("defaults"), lambda: doc.pop("sinks"),
            lambda: set_(doc, "defaults", None), lambda: set_(doc, "sources", None), lambda: set_(doc, "sinks", self.one([None, [], "x"])),
            lambda: set_(doc, self.one(["sink", "default", "notes"]), {}),
            lambda: set_(doc["defaults"], "sink_action", self.one(["deny", "Allow", None, True, ["allow"]])),
            lambda: set_(doc["defaults"], "fail_mode", self.one(["log", "Enforce", 1])),
            lambda: set_(doc["defaults"], "source_trust", "untrusted"),
            lambda: set_(doc, "sources", [{"name": "web"}]), lambda: set_(doc, "sources", [{"name": "web", "trust": "maybe"}]),
            lambda: set_(doc, "sources", [{"name": "web", "trust": "trusted", "note": "x"}]),
            lambda: set_(doc, "sources", [{"name": "web", "trust": "trusted"}, {"name": "web", "trust": "untrusted"}]),
            lambda: set_(doc, "agents", {"a b": {}}), lambda: set_(doc, "agents", {"ana": {"group": []}}),
            lambda: set_(doc, "agents", {"ana": None}), lambda: set_(doc, "agents", {"ana": {"groups": "ops"}}),
            lambda: set_(doc["sinks"], self.one(["send", "a.b.c", ".x", "x.", "a.*", "a b.c", ""]), {}),
            lambda: set_(doc["sinks"], "a.b", self.one([[], "x", {"rule": []}, {"rules": None}, {"capabilities": ["from_untrusted"]},
                                                        {"capabilities": "reads_private"}, {"capabilities": None}, {"rules": {}}])),
        ]
        if rule:
            what += [
                lambda: rule.pop("name"), lambda: rule.pop("action"), lambda: set_(rule, "wehn", "true"), lambda: set_(rule, "note", "x"),
                lambda: set_(rule, "action", "deny"), lambda: set_(rule, "name", self.one([None, 7, ""])),
                lambda: (set_(rule, "when", "true"), set_(rule, "require_endorsement", "legal")),
                lambda: (rule.pop("when", None), set_(rule, "require_endorsement", self.one(["a b", "", "a/b", 3]))),
                lambda: (rule.pop("require_endorsement", None), set_(rule, "when", self.one([
                    "", "1 +", "args.any(k, k == 1)", "foo == 1", "run.session == 1", "agent.name == 'x'", "max_trust == 'low'", "args.x ==",
                    "'reads_secret' in trifecta", "trifecta.contains('exfiltrate')", "taint", "tool", "args.to.startswith('x')", "now() > 1",
                    "size(args) > 'x'", "args.to == \"a' ", "x", "true", "1", "run.trifecta.exists(v, v == 'zz')", "agent['id'] == 'ana'",
                    "[1, 2].min() == 1", "[1].reduce(s, i, 0, s + i) > 0", 5, True, ["true"]]))),
                lambda: set_(rule, "name", rules[0]["name"] if "name" in rules[0] else "x"),
            ]
        self.one(what)()
        return doc

    # --- sessions -----------------------------------------------------------------------------------------------------------------------------
    def value(self, name):
        if name == "amount":
            return self.one([1, 50, 150, "150", -3])
        if name == "rate":
            return self.one([0.5, 1.75, -3.25])
        if name == "flag":
            return self.one([True, False, "false", 1])
        if name == "list":
            return [json.loads(self.text()) for _ in range(self.r.randint(0, 3))]
        if name == "deep":
            return {"inner": json.loads(self.text())}
        return json.loads(self.text())

    def label(self):
        sources = self.r.sample(SOURCES + ["stranger"], self.one([1, 1, 1, 2]))
        if self.chance(0.25):
            return {"sources": sources, "endorsed": [self.one(KINDS)]}
        return sources[0] if len(sources) == 1 else {"sources": sources}

    def step(self):
        args = {a: self.value(a) for a in ARGS if self.chance(0.4)}
        labels = {}
        for a, v in args.items():
            if self.chance(0.35):
                path = {"list": f"/{a}/0", "deep": f"/{a}/inner"}.get(a, f"/{a}")
                if a in ("to", "url", "body", "deep") or (a == "list" and v) or (a == "amount" and self.chance(0.5)):
                    labels[path] = self.label()
        return {"tool": self.one(TOOLS + ["other.tool"]), "args": args, "labels": labels}

    def session(self):
        return {"agent": self.one(AGENTS), "steps": [self.step() for _ in range(self.r.randint(1, 6))]}


def document_and_sessions(seed, number):
    draw = Draw(f"{seed}/{number}")
    doc = draw.document()
    if number % 3 == 0:
        doc = draw.broken(doc)
    return json.dumps(doc, ensure_ascii=draw.chance(0.5)), [draw.session() for _ in range(2)]
