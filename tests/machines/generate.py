# SPDX-License-Identifier: Apache-2.0
"""Random machine documents: small, of every feature, and such that the loader takes them. The same seed gives the same document."""
import random

WORDS = ["red", "green", "blue", "black"]


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.vars, self.fields = {}, {}

    def domain(self, field=False):
        kind = self.rng.choice(["bool", "bool", "enum", "enum", "int"])
        if kind == "bool":
            return "bool"
        if kind == "enum":
            return {"enum": WORDS[:self.rng.randint(2, 3)]}
        lo = self.rng.choice([0, 0, -1, 1])
        spec = {"int": f"{lo}..{lo + self.rng.randint(1, 3)}"}
        if not field:
            spec["overflow"] = self.rng.choice(["reject", "saturate", "saturate", "error"])
        return spec

    def names(self, want, scope):
        """paths in scope whose domain is of that kind, each with its domain"""
        out = []
        for prefix, group in scope.items():
            for name, spec in group.items():
                kind = "bool" if spec == "bool" or spec.get("type") == "bool" else "enum" if "enum" in spec else "int"
                if kind == want:
                    out.append((f"{prefix}.{name}", spec))
        return out

    def truth(self, scope, depth):
        r = self.rng
        if depth > 0 and r.random() < 0.6:
            how = r.choice(["&&", "&&", "||", "||", "!", "?:"])
            if how == "!":
                return f"!({self.truth(scope, depth - 1)})"
            if how == "?:":
                return f"({self.truth(scope, depth - 1)} ? {self.truth(scope, depth - 1)} : {self.truth(scope, depth - 1)})"
            return f"({self.truth(scope, depth - 1)} {how} {self.truth(scope, depth - 1)})"
        kind = r.choice(["bool", "enum", "int"])
        names = self.names(kind, scope)
        if not names:
            kind = "bool"
            names = self.names(kind, scope)
        if not names:
            kind = "enum"
            names = self.names(kind, scope)
        if not names:
            return self.number(scope, 1) + " == 1"
        path, spec = r.choice(names)
        if kind == "bool":
            return path if r.random() < 0.7 else f"!{path}"
        if kind == "enum":
            if r.random() < 0.2:
                return f"{path} in [{', '.join(repr(w) for w in r.sample(spec['enum'], 2))}]"
            return f"{path} {r.choice(['==', '!='])} '{r.choice(spec['enum'])}'"
        return f"{self.number(scope, 1)} {r.choice(['==', '!=', '<', '<=', '>', '>='])} {self.number(scope, 0)}"

    def number(self, scope, depth):
        r = self.rng
        names = self.names("int", scope)
        if depth > 0 and r.random() < 0.5:
            return f"({self.number(scope, depth - 1)} {r.choice(['+', '-', '+', '-', '*', '/', '%'])} {self.number(scope, depth - 1)})"
        if names and r.random() < 0.8:
            return r.choice(names)[0]
        return str(r.randint(1, 3))

    def value(self, spec, scope, path):
        r = self.rng
        if spec == "bool" or spec.get("type") == "bool":
            return self.truth(scope, 2)
        if "enum" in spec:
            one = lambda: r.choice([repr(w) for w in spec["enum"]] + [path])
            return f"({self.truth(scope, 1)} ? {one()} : {one()})" if r.random() < 0.7 else one()
        return r.choice([path, f"{path} + 1", f"{path} - 1", f"{path} + 1", str(r.randint(0, 2)),
                         f"({self.truth(scope, 1)} ? {path} + 1 : {path})", self.number(scope, 1)])

    def document(self, features=()):
        r = self.rng
        self.vars = {f"v{i}": self.domain() for i in range(r.randint(2, 4))}
        real = dict(self.vars)
        if "flags" in features:
            for spec_name in list(self.vars):
                spec = self.vars[spec_name]
                spec = {"type": "bool"} if spec == "bool" else dict(spec)
                if r.random() < 0.3:
                    spec["sticky"] = True
                if r.random() < 0.2:
                    spec["taint"] = "source"
                if r.random() < 0.15:
                    spec["adversarial"] = True
                self.vars[spec_name] = spec
            if r.random() < 0.6:
                self.vars["seen"] = {"type": "bool", "ghost": True}
        rules = [f"rule-{i}" for i in range(r.randint(1, 4))]
        named, actions = set(), {}
        for i in range(r.randint(2, 5)):
            fields = {f"f{k}": self.domain(True) for k in range(r.choice([0, 0, 1, 1, 2]))}
            principal = r.choice(["agent", "agent", "human", "runtime", "env"])
            a = {"principal": principal, "gate": r.random() < 0.6}
            if principal == "runtime" and r.random() < 0.4:
                a["corrective"] = True
            if fields:
                a["call"] = fields
            done, nxt = {}, {}
            for name in r.sample(list(real), r.randint(1, len(real))):
                scope = {"pre": real, "call": fields, "next": {k: v for k, v in done.items()}}
                nxt[name] = self.value(real[name], scope, f"pre.{name}")
                done[name] = real[name]
            if "seen" in self.vars and r.random() < 0.6:
                nxt["seen"] = r.choice(["true", "true", "false", "pre.seen || " + self.truth({"pre": real, "next": real}, 0)])
            a["next"] = nxt
            clauses = []
            for _ in range(r.randint(0, 3)):
                rule = r.choice(rules)
                named.add(rule)
                clauses.append({"as": rule, "if": self.truth({"pre": real, "call": fields, "next": real}, 2)})
            if clauses:
                a["reject"] = clauses
            actions[f"act{i}"] = a
        used = [x for x in rules if x in named]
        if not used:
            first = next(iter(actions.values()))
            first["reject"] = [{"as": rules[0], "if": self.truth({"pre": real}, 1)}]
            used = [rules[0]]
        doc = {"machine": "random", "version": 1, "vars": self.vars, "actions": actions}
        if "naps" in features and r.random() < 0.7:
            right = [n for n, a in actions.items() if a.get("corrective")]
            if right:
                doc["naps"] = [self.nap(real, actions, r.choice(right)) for _ in range(r.randint(1, 2))]
                if r.random() < 0.5:
                    doc["nap_bound"] = r.randint(1, 3)
        doc["regions"] = self.regions(actions, real, used, features)
        if "families" in features:
            self.family(doc, used)
        if "recovery" in features:
            scope = {"pre": real}
            doc["recovery"] = {"goal": self.truth(scope, 1)}
            for _ in range(r.randint(1, 2)):
                name = f"mend{len(doc['actions'])}"
                doc["actions"][name] = {"principal": "runtime", "corrective": True,
                                        "next": {v: self.value(real[v], scope, f"pre.{v}") for v in r.sample(list(real), r.randint(1, len(real)))}}
        doc["contract"] = {"rules": used}
        return doc

    def nap(self, real, actions, action):
        nap = {"if": self.truth({"pre": real}, 1), "do": action}
        fields = actions[action].get("call", {})
        if fields:
            nap["with"] = {f: self.member(spec) for f, spec in fields.items()}
        return nap

    def member(self, spec):
        if spec == "bool":
            return self.rng.random() < 0.5
        if "enum" in spec:
            return self.rng.choice(spec["enum"])
        lo, hi = (int(x) for x in spec["int"].split(".."))
        return self.rng.randint(lo, hi)

    def family(self, doc, rules):
        """one variable, one action and one region for each member, beside what is there"""
        r = self.rng
        doc["families"] = {"c": ["left", "right", "third"][:r.randint(2, 3)]}
        doc["vars"]["w[c]"] = r.choice(["bool", {"enum": ["none", "some", "all"]}])
        on = lambda x: f"pre.w[{x}]" if doc["vars"]["w[c]"] == "bool" else f"pre.w[{x}] == 'all'"
        off = lambda x: f"!({on(x)})"
        real = {"pre": {k: v for k, v in doc["vars"].items() if k[0] == "v"}}
        some = r.choice(["exists", "all", "exists_one"])
        doc["let"] = {"others[c]": f"c.exists(x, x != c && ({on('x')}))"}
        up = "true" if doc["vars"]["w[c]"] == "bool" else "pre.w[c] == 'none' ? 'some' : 'all'"
        doc["actions"]["take[c]"] = {"principal": "agent", "gate": r.random() < 0.7, "next": {"w[c]": up},
                                     "reject": [{"as": rules[0], "if": r.choice(["others[c]", f"{on('c')} || ({self.truth(real, 1)})", f"c.{some}(x, {on('x')})"])}]}
        doc["actions"]["drop[c]"] = {"principal": "runtime", "gate": True, "next": {"w[c]": "false" if doc["vars"]["w[c]"] == "bool" else "'none'"}}
        name = rules[0] if rules[0] not in doc["regions"] and r.random() < 0.5 else "family"  # with its clauses, or without
        doc["regions"][name + "[c]"] = {"never": f"({on('c')}) && others[c] && ({self.truth(real, 0)})"}
        doc["regions"]["all-of-them"] = r.choice([{"never": f"c.all(x, {on('x')})"}, {"gated": f"c.exists(x, {on('x')})", "by": ["drop[*]"]},
                                                  {"never": f"c.exists_one(x, {off('x')}) && action == 'take[left]'", "edge": ["take[*]"]}])

    def regions(self, actions, real, rules, features):
        r, out = self.rng, {}
        scope = {"pre": {**real, **({"seen": "bool"} if "seen" in self.vars else {})}}
        gates = [n for n, a in actions.items() if a["gate"]]
        for i in range(r.randint(1, 2)):
            name = r.choice(rules) if i == 0 and r.random() < 0.7 else f"region-{i}"
            test = " && ".join(f"({self.truth(scope, 1)})" for _ in range(r.randint(1, 3)))
            how = r.random()
            if how < 0.25 and gates:
                out[name] = {"gated": test, "by": r.sample(gates, r.randint(1, min(2, len(gates))))}
            elif how < 0.45:
                out[name] = {"never": f"({test}) && ({self.truth({'pre': real, 'next': real}, 1)})", "edge": r.sample(list(actions), r.randint(1, len(actions)))}
            elif how < 0.65 and "invariants" in features:
                out[name] = {"transition": f"({test}) || ({self.truth({'pre': real, 'next': real}, 1)})"}
            elif how < 0.75 and "invariants" in features:
                out[name] = {"rejection": f"({test}) || reason == '{r.choice(rules)}'"}
            else:
                out[name] = {"never": test}
        return out
