#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second reading of docs/machine.md and docs/harden.md, without speed and without a line of the C code: what a machine's checks must say.

It reads the guards by a parser of its own, keeps states as tuples, and explores with sets. `python3 brute.py FILE.json…` prints what it finds."""
import collections
import itertools
import json
import re
import sys

# --- expressions ---------------------------------------------------------------------------------------------------------------------------
ERR = object()  # an error as a value
TOKEN = re.compile(r"\s*(?:(\d+)|('[^']*')|([A-Za-z_]\w*)|(&&|\|\||==|!=|<=|>=|[-+*/%<>!?:()\[\],.]))")


class Parser:
    """CEL over bools, ints and strings. A node is a function of the environment {name: {field: value} or value}."""

    def __init__(self, text, lets, bound=None, families=None):
        self.toks, at = [], 0
        text = text.strip()
        while at < len(text):
            m = TOKEN.match(text, at)
            if not m:
                raise ValueError(f"cannot read {text[at:]!r}")
            kind = next(i for i in range(1, 5) if m.group(i) is not None)
            self.toks.append((kind, m.group(kind)))
            at = m.end()
        self.at, self.lets, self.bound, self.families = 0, lets, bound or {}, families or {}

    def peek(self, ahead=0):
        return self.toks[self.at + ahead][1] if self.at + ahead < len(self.toks) else None

    def take(self, want=None):
        kind, tok = self.toks[self.at]
        if want is not None and tok != want:
            raise ValueError(f"{want!r} wanted, {tok!r} found")
        self.at += 1
        return kind, tok

    def whole(self):
        node = self.cond()
        if self.at != len(self.toks):
            raise ValueError(f"something is left: {self.toks[self.at:]}")
        return node

    def cond(self):
        test = self.any()
        if self.peek() != "?":
            return test
        self.take("?")
        yes = self.any()
        self.take(":")
        no = self.cond()

        def run(env):
            t = test(env)
            return ERR if not isinstance(t, bool) else yes(env) if t else no(env)
        return run

    def any(self):
        parts = [self.all()]
        while self.peek() == "||":
            self.take()
            parts.append(self.all())
        return parts[0] if len(parts) == 1 else lambda env: absorb(parts, env, True)

    def all(self):
        parts = [self.relation()]
        while self.peek() == "&&":
            self.take()
            parts.append(self.relation())
        return parts[0] if len(parts) == 1 else lambda env: absorb(parts, env, False)

    def relation(self):
        left = self.sum()
        while self.peek() in ("==", "!=", "<", "<=", ">", ">=", "in"):
            sign, right, old = self.take()[1], self.sum(), left
            left = lambda env, sign=sign, old=old, right=right: compare(sign, old(env), right(env))
        return left

    def sum(self):
        left = self.product()
        while self.peek() in ("+", "-"):
            sign, right, old = self.take()[1], self.product(), left
            left = lambda env, sign=sign, old=old, right=right: arith(sign, old(env), right(env))
        return left

    def product(self):
        left = self.unary()
        while self.peek() in ("*", "/", "%"):
            sign, right, old = self.take()[1], self.unary(), left
            left = lambda env, sign=sign, old=old, right=right: arith(sign, old(env), right(env))
        return left

    def unary(self):
        if self.peek() == "!":
            self.take()
            kid = self.unary()
            return lambda env: ERR if not isinstance(kid(env), bool) else not kid(env)
        if self.peek() == "-":
            self.take()
            kid = self.unary()
            return lambda env: ERR if kid(env) is ERR else -kid(env)
        return self.primary()

    def index(self):
        """[c] or ['net'] behind a name: the member it means, as a part of the name."""
        self.take("[")
        kind, tok = self.take()
        self.take("]")
        return tok[1:-1] if kind == 2 else self.bound[tok]

    def primary(self):
        kind, tok = self.take()
        if kind == 1:
            return lambda env, v=int(tok): v
        if kind == 2:
            return lambda env, v=tok[1:-1]: v
        if tok == "(":
            node = self.cond()
            self.take(")")
            return node
        if tok == "[":
            items = []
            while self.peek() != "]":
                items.append(self.cond())
                if self.peek() == ",":
                    self.take()
            self.take("]")
            return lambda env: [i(env) for i in items]
        if tok in ("true", "false"):
            return lambda env, v=tok == "true": v
        if tok in self.families and self.peek() == ".":
            return self.quantifier(tok)
        if tok in self.bound:
            return lambda env, v=self.bound[tok]: v
        name = tok
        if self.peek() == "[":
            name += f"[{self.index()}]"
        if name in self.lets:
            source, bound = self.lets[name]
            return Parser(source, self.lets, bound, self.families).whole()
        if self.peek() == ".":
            self.take()
            field = self.take()[1]
            if self.peek() == "[":
                field += f"[{self.index()}]"
            return lambda env: env[name][field]
        return lambda env: env[name]

    def quantifier(self, family):
        self.take(".")
        how = self.take()[1]
        self.take("(")
        var = self.take()[1]
        self.take(",")
        start, nodes = self.at, []
        outer = self.bound
        for member in self.families[family]:
            self.at, self.bound = start, {**outer, var: member}
            nodes.append(self.cond())
        self.bound = outer
        self.take(")")
        if how == "exists_one":
            def one(env):
                got = [n(env) for n in nodes]
                return ERR if any(not isinstance(g, bool) for g in got) else sum(got) == 1
            return one
        return lambda env: absorb(nodes, env, how == "exists")


def absorb(parts, env, decides):
    """|| (decides True) and &&: a part that decides wins over an error."""
    bad = False
    for p in parts:
        v = p(env)
        if v is decides:
            return decides
        bad = bad or not isinstance(v, bool)
    return ERR if bad else not decides


def compare(sign, a, b):
    if a is ERR or b is ERR:
        return ERR
    if sign == "in":
        return a in b
    if sign in ("==", "!="):
        return (a == b) == (sign == "==")
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[sign]


def arith(sign, a, b):
    if a is ERR or b is ERR or (sign in "/%" and b == 0):
        return ERR
    if sign in "/%":
        q = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return q if sign == "/" else a - q * b
    return {"+": a + b, "-": a - b, "*": a * b}[sign]


# --- the document --------------------------------------------------------------------------------------------------------------------------
class Refused(Exception):
    pass


def domain(spec, consts):
    """values in order, and what an int does at its edges"""
    if spec == "bool" or (isinstance(spec, dict) and spec.get("type") == "bool"):
        return [False, True], None
    if isinstance(spec, list):
        return list(spec), None
    if "enum" in spec:
        return list(spec["enum"]), None
    lo, hi = (int(consts.get(p, p)) for p in spec["int"].split(".."))
    return list(range(lo, hi + 1)), spec.get("overflow")


def members(name, families):
    """NAME[c] -> [(NAME[m], {c: m}) …]; a plain name is itself."""
    m = re.fullmatch(r"(\w[\w-]*)\[(\w+)\]", name)
    if not m:
        return [(name, {})]
    return [(f"{m.group(1)}[{x}]", {m.group(2): x}) for x in families[m.group(2)]]


Action = collections.namedtuple("Action", "name principal gate corrective lowers fields domains updates clauses hidden")
Region = collections.namedtuple("Region", "name kind actions test by")


class Machine:
    def __init__(self, doc):
        self.families = doc.get("families", {})
        consts = doc.get("const", {})
        lets = {k: (str(v), {}) for k, v in consts.items()}
        for name, text in doc.get("let", {}).items():
            for full, bound in members(name, self.families):
                lets[full] = (text, bound)
        self.lets = lets
        self.vars, self.domains, self.overflow = [], [], []
        self.taint, self.sticky, self.ghost, self.adversary = set(), set(), set(), {}
        for name, spec in doc["vars"].items():
            for full, bound in members(name, self.families):
                v = len(self.vars)
                d, over = domain(spec, consts)
                self.vars.append(full)
                self.domains.append(d)
                self.overflow.append(over)
                if isinstance(spec, dict):
                    if spec.get("taint"):
                        self.taint.add(v)
                    if spec.get("sticky"):
                        self.sticky.add(v)
                    if spec.get("ghost"):
                        self.ghost.add(v)
                    if spec.get("adversarial"):
                        a = spec["adversarial"]
                        to = a.get("to", d) if isinstance(a, dict) else d
                        when = a.get("when", "true") if isinstance(a, dict) else "true"
                        self.adversary[v] = (to, self.compile(when, bound))
        self.rules = doc["contract"]["rules"]
        self.place = {n: i for i, n in enumerate(self.vars)}
        self.actions, self.symbols = [], []
        for name, spec in doc["actions"].items():
            for full, bound in members(name, self.families):
                self.action(full, spec, bound, consts)
        self.first = tuple(d[0] for d in self.domains)
        self.goal = self.compile(doc["recovery"]["goal"], {}) if "recovery" in doc else None
        self.naps = []
        self.nap_bound = doc.get("nap_bound", 8)
        for n in doc.get("naps", []):
            payload = n.get("with", {})
            self.naps.append((self.compile(n["if"], {}), n["do"], payload))
        self.regions = []
        for name, spec in doc["regions"].items():
            for full, bound in members(name, self.families):
                self.region(full, spec, bound)

    def compile(self, text, bound):
        if isinstance(text, bool):
            text = "true" if text else "false"
        return Parser(str(text), self.lets, bound, self.families).whole()

    def action(self, name, spec, bound, consts):
        fields = spec.get("call", {})
        doms = [domain(s, consts)[0] for s in fields.values()]
        updates = []
        for k, v in spec.get("next", {}).items():
            for full, more in members(k, {f: [bound[f]] if f in bound else ms for f, ms in self.families.items()}):
                updates.append((self.place[full], self.compile(v, {**bound, **more})))
        clauses = []
        if spec.get("live"):
            clauses.append(("quarantined", self.compile("pre.phase == 'quarantined'", {})))
            clauses.append(("ended", self.compile("pre.phase == 'ended'", {})))
        clauses += [(c["as"], self.compile(c["if"], bound)) for c in spec.get("reject", [])]
        a = len(self.actions)
        self.actions.append(Action(name, spec["principal"], bool(spec.get("gate")), bool(spec.get("corrective")), bool(spec.get("lowers")),
                                   list(fields), doms, updates, clauses, spec.get("observable") is False))
        for payload in itertools.product(*doms):
            self.symbols.append((a, dict(zip(fields, payload))))

    def names(self, refs, bound=None):
        out = set()
        for r in refs:
            m = re.fullmatch(r"(\w+)\[(\w+|\*)\]", r)
            for i, a in enumerate(self.actions):
                if a.name == r or (m and (a.name.startswith(m.group(1) + "[") and (m.group(2) == "*" or a.name == f"{m.group(1)}[{(bound or {}).get(m.group(2))}]"))):
                    out.add(i)
        return out

    def region(self, name, spec, bound):
        kind = next(k for k in ("never", "gated", "transition", "rejection") if k in spec)
        edge = self.names(spec["edge"], bound) if "edge" in spec else None
        if edge is None and kind in ("transition", "rejection"):
            edge = set(range(len(self.actions)))
        self.regions.append(Region(name, kind, edge, self.compile(spec[kind], bound), self.names(spec.get("by", []), bound)))

    # one step ----------------------------------------------------------------------------------------------------------------------------
    def bag(self, state):
        return dict(zip(self.vars, state))

    def one(self, state, symbol, skip=None):
        """(verdict, reason, next) without naps; `skip`: (action, clause) that is left out"""
        a, payload = self.symbols[symbol]
        act = self.actions[a]
        new, nxt = list(state), self.bag(state)
        env = {"pre": self.bag(state), "call": payload, "next": nxt, "action": act.name}
        escaped = failed = False
        for v, _ in act.updates:
            nxt[self.vars[v]] = ERR
        for v, program in act.updates:
            value = program(env)
            d = self.domains[v]
            if self.overflow[v] == "saturate" and value is not ERR:
                value = d[-1] if state[v] == d[-1] or value > d[-1] else max(value, d[0])
            nxt[self.vars[v]] = value
            if value is not ERR and value in d:
                new[v] = value
            elif value is not ERR and self.overflow[v] == "reject":
                escaped = True
            else:
                failed = True
        reason = None
        for c, (rule, guard) in enumerate(act.clauses):
            if skip != (a, c) and guard(env) is not False:
                reason = rule
                break
        if failed or (escaped and reason is None):
            return "fault", None, state
        return ("reject", reason, state) if reason is not None else ("accept", None, tuple(new))

    def step(self, state, symbol, skip=None):
        verdict, reason, nxt = self.one(state, symbol, skip)
        if verdict != "accept":
            return verdict, reason, nxt
        for _ in range(self.nap_bound + 1):
            for when, action, payload in self.naps:
                if when({"pre": self.bag(nxt)}) is False:
                    continue
                s = next(i for i, (a, p) in enumerate(self.symbols) if self.actions[a].name == action and
                         all(p[f] == payload.get(f, self.actions[a].domains[k][0]) for k, f in enumerate(self.actions[a].fields)))
                v, _, after = self.one(nxt, s, skip)
                if v != "accept":
                    return "fault", None, state
                if after != nxt:
                    nxt = after
                    break
            else:
                return "accept", None, nxt
        return "fault", None, state

    def inside(self, region, pre, symbol=None, nxt=None, reason=None):
        env = {"pre": self.bag(pre)}
        if region.actions is not None:
            a, payload = self.symbols[symbol]
            if a not in region.actions:
                return False
            env.update(call=payload, next=self.bag(nxt), action=self.actions[a].name, reason=reason)
        v = region.test(env)
        return v is not True if region.kind in ("transition", "rejection") else v is not False

    # exploration -------------------------------------------------------------------------------------------------------------------------
    def explore(self, dropped=(), writes=(), skip=None, limit=200000):
        """{state: depth}, number of accepted steps, list of steps, whether a fault was met. `writes`: (var, up, down) at any time"""
        depth, edges, steps, fault = {self.first: 0}, 0, [], None
        queue = collections.deque([self.first])
        while queue:
            s = queue.popleft()
            for symbol in range(len(self.symbols)):
                if self.symbols[symbol][0] in dropped:
                    continue
                verdict, _, t = self.step(s, symbol, skip)
                if verdict == "fault":
                    fault = fault if fault is not None else depth[s] + 1
                if verdict != "accept":
                    continue
                edges += 1
                steps.append((s, symbol, t))
                if t not in depth:
                    depth[t] = depth[s] + 1
                    queue.append(t)
            for v, up, down, to, when in writes:
                if when is not None and when({"pre": self.bag(s)}) is False:
                    continue
                now = self.domains[v].index(s[v])
                for i, x in enumerate(self.domains[v]):
                    if ((i > now and up) or (i < now and down)) and (to is None or x in to):
                        t = s[:v] + (x,) + s[v + 1:]
                        if t not in depth:
                            depth[t] = depth[s] + 1
                            queue.append(t)
            if len(depth) > limit:
                raise Refused("too large for the slow way")
        return depth, edges, steps, fault

    def hit(self, region, depth, steps):
        """steps of the shortest way into a region, None when it is not reached"""
        if region.actions is None:
            return min((d for s, d in depth.items() if self.inside(region, s)), default=None)
        return min((depth[s] + 1 for s, symbol, t in steps if self.inside(region, s, symbol, t)), default=None)


# --- the checks ----------------------------------------------------------------------------------------------------------------------------
def named_taints(payload):
    """the taints that a payload's words name"""
    data = payload.get("data")
    secret = payload.get("secret") is True or data == "secret"
    words = {"untrusted": payload.get("untrusted") is True, "secret": secret,
             "sensitive": payload.get("sensitive") is True or data == "sensitive" or secret}
    return {w for w, said in words.items() if said}


def lines(m):
    """{(check, region): {verdict, finding, states, edges, depth, length}} for the checks that this file reads a second time"""
    out = {}
    depth, edges, steps, fault = m.explore()
    if fault is not None:
        raise Refused("fault")
    size = {"states": len(depth), "edges": edges, "depth": max(depth.values())}
    never = [r for r in m.regions if r.kind in ("never", "transition")]
    gated = [r for r in m.regions if r.kind == "gated"]
    gates = {i for i, a in enumerate(m.actions) if a.gate}
    mediators = gates | {i for i, a in enumerate(m.actions) if a.corrective}

    for r in never:
        n = m.hit(r, depth, steps)
        out["from-init", r.name] = {"verdict": "PASS" if n is None else "FAIL", "length": n, **size}
    for r in m.regions:
        if r.kind == "rejection":
            bad = None
            for s in depth:
                for symbol in range(len(m.symbols)):
                    verdict, reason, _ = m.step(s, symbol)
                    if verdict == "reject" and m.inside(r, s, symbol, s, reason):
                        bad = min(bad if bad is not None else 1 << 30, depth[s] + 1)
            out["from-init", r.name] = {"verdict": "PASS" if bad is None else "FAIL", "length": bad}

    # who writes what
    taints = {m.vars[v] for v in m.taint}
    names = {a for a, payload in m.symbols if named_taints(payload) & taints}
    raised, lowered, unnamed = (collections.defaultdict(set) for _ in range(3))
    for s, symbol, t in steps:
        for v in range(len(m.vars)):
            i, k = m.domains[v].index(s[v]), m.domains[v].index(t[v])
            if k > i:
                raised[v].add(m.symbols[symbol][0])
            elif k < i:
                lowered[v].add(m.symbols[symbol][0])
                if v in m.taint and m.vars[v] in ("untrusted", "sensitive", "secret") and m.symbols[symbol][0] in names and \
                        m.vars[v] not in named_taints(m.symbols[symbol][1]):
                    unnamed[v].add(m.symbols[symbol][0])
    unmediated = [(v, bool(raised[v] - mediators), bool(lowered[v] - mediators), None, None) for v in range(len(m.vars))
                  if v not in m.ghost and (raised[v] | lowered[v]) - mediators]
    adversary = [(v, True, True, to, when) for v, (to, when) in m.adversary.items()]

    # mediation: the first finding
    finding = None
    for w in unmediated:
        for r in m.regions:
            if r.kind == "rejection" or finding:
                continue
            d, _, st, _ = m.explore(dropped=r.by, writes=[w])
            if m.hit(r, d, st) is not None:
                finding = "UNMEDIATED_WRITE"
    for v in sorted(m.taint):
        for a in sorted(lowered[v]):
            act = m.actions[a]
            if not finding and not (act.lowers and act.gate and act.principal in ("human", "runtime")):
                finding = "UNDECLARED_LOWERING"
        if not finding and unnamed[v]:
            finding = "UNNAMED_LOWERING"
    answers = set().union(*(r.by for r in gated)) if gated else set()
    for i, a in enumerate(m.actions):
        asks = a.principal in ("agent", "env")
        if not finding and a.name == "approve" and a.principal != "human":
            finding = "APPROVAL_NOT_HUMAN"
        elif not finding and asks and a.corrective:
            finding = "CORRECTION_BY_AGENT"
        elif not finding and asks and i in answers:
            finding = "GATE_OF_THE_AGENT"
    out["mediation", None] = {"verdict": "FAIL" if finding else "PASS", "finding": finding}

    # sticky
    if m.sticky:
        bad = min((depth[s] + 1 for s, _, t in steps for v in m.sticky if m.domains[v].index(t[v]) < m.domains[v].index(s[v])), default=None)
        if bad is not None:
            out["sticky", None] = {"verdict": "FAIL", "finding": "STICKY_LOWERED", "length": bad}

    # havoc
    every = [(v, True, True, None, None) for v in range(len(m.vars))]  # ghosts too: is there any such state at all?
    for r in never + gated:
        d, _, st, _ = m.explore(dropped=r.by, writes=unmediated + adversary)
        n = m.hit(r, d, st)
        verdict, finding = ("FAIL", "HAVOC_CEX") if n is not None else ("PASS", None)
        if verdict == "PASS" and r.actions is None:
            d, _, st, _ = m.explore(dropped=r.by, writes=every)
            if m.hit(r, d, st) is None:
                verdict, finding = "VACUOUS", "EMPTY_REGION"
        out["havoc", r.name] = {"verdict": verdict, "finding": finding}

    # gates
    opened = {}
    for a, act in enumerate(m.actions):
        for c in range(len(act.clauses)):
            d, _, st, _ = m.explore(skip=(a, c))
            for r in never:
                if m.hit(r, d, st) is not None:
                    opened.setdefault(r.name, set()).add((a, c))
    for r in gated:
        through = m.hit(r, depth, steps)
        d, _, st, _ = m.explore(dropped=r.by)
        around = m.hit(r, d, st)
        if around is not None:
            out["gates", r.name] = {"verdict": "FAIL", "finding": "BYPASS", "length": around}
        elif through is None:
            out["gates", r.name] = {"verdict": "VACUOUS", "finding": "NOTHING_WAS_MEDIATED"}
        else:
            out["gates", r.name] = {"verdict": "PASS", "length": through}
    for r in never:
        d, _, st, _ = m.explore(dropped=gates, writes=unmediated + adversary)
        if m.hit(r, d, st) is not None:
            out["gates", r.name] = {"verdict": "FAIL", "finding": "BYPASS"}
            continue
        if r.kind == "transition":  # kept by updates as often as by guards
            out["gates", r.name] = {"verdict": "PASS", "finding": None}
            continue
        idle, works = False, bool(opened.get(r.name))
        base = r.name.split("[")[0]  # the members of an indexed region have one rule
        kin = [k for k in never if k is not r and k.name.split("[")[0] == base]
        for a, act in enumerate(m.actions):
            named = [c for c, (rule, _) in enumerate(act.clauses) if rule == base]
            if not act.gate or not named or base not in m.rules:
                continue
            found = m.without(a, set(named), r)
            works = works or found
            idle = idle or not (found or any(m.without(a, set(named), k) for k in kin))
        if not works:
            out["gates", r.name] = {"verdict": "VACUOUS", "finding": "NO_GUARD_MATTERS"}
        elif idle:
            out["gates", r.name] = {"verdict": "INCONCLUSIVE", "finding": "IDLE"}
        else:
            out["gates", r.name] = {"verdict": "PASS", "finding": None}
    return out


# --- what an observer remembers --------------------------------------------------------------------------------------------------------------
OUT = ("flight", "open", "crossing")


def words(m, symbol):
    """what a symbol's payload says, in the words of docs/machine.md"""
    a, p = m.symbols[symbol]
    fields = m.actions[a].fields
    level = lambda v: {True: 2, "foreign": 2, "bound": 1}.get(v, 0)
    taints = {t for t in ("untrusted", "sensitive", "secret") if p.get(t) is True}
    taints |= {"secret": {"secret", "sensitive"}, "sensitive": {"sensitive"}}.get(p.get("data"), set())
    taints |= {"sensitive"} if "secret" in taints else set()
    egress = p.get("egress", "none") if "egress" in fields else "none"
    return {"taints": taints, "once": egress in ("once", "once_bound"), "standing": egress in ("standing", "standing_bound"),
            "level": 1 if egress.endswith("_bound") else 2, "flight": level(p.get("flight")), "open": level(p.get("open")),
            "approved": p.get("approved") is True, "last": p.get("last", "none"), "slot": p.get("slot"),
            "admit": "egress" in fields, "join": "flight" in fields or "open" in fields, "settle": "last" in fields}


def observed(m, start, remember, dropped, regions, seen):
    """Explores the machine with what `remember(memory, state, symbol, next)` keeps; {region: length}, number of states and steps."""
    first = (m.first, start)
    depth, edges, hits = {first: 0}, 0, {}
    queue = collections.deque([first])
    for r in regions:
        if r.actions is None and m.inside(r, seen(*first)):
            hits[r.name] = 0
    while queue:
        node = queue.popleft()
        s, memory = node
        for symbol in range(len(m.symbols)):
            if m.symbols[symbol][0] in dropped:
                continue
            verdict, _, t = m.step(s, symbol)
            if verdict != "accept":
                continue
            edges += 1
            after = (t, remember(memory, s, symbol, t))
            for r in regions:
                into = m.inside(r, seen(*after)) if r.actions is None else m.inside(r, seen(*node), symbol, seen(*after))
                if into:
                    hits[r.name] = min(hits.get(r.name, 1 << 30), depth[node] + 1)
            if after not in depth:
                depth[after] = depth[node] + 1
                queue.append(after)
    return hits, len(depth), edges


def ghost_view(m):
    """(start, remember, seen) of the ghosts: what payloads brought, whatever the variables say"""
    taints = sorted(m.taint)
    known = [m.vars[v] in ("untrusted", "sensitive", "secret") for v in taints]
    said = [words(m, i) for i in range(len(m.symbols))]
    out = [m.place.get(n) for n in OUT]

    def remember(memory, s, symbol, t):
        ghosts, ways = list(memory[0]), list(memory[1])
        w = said[symbol]
        if w["settle"] and w["last"] != "none":
            ways[0 if w["last"] == "egress" else 2] = 0
        if w["admit"] or w["join"]:
            for k, v in enumerate(taints):
                ghosts[k] = ghosts[k] or m.vars[v] in w["taints"]
            if w["standing"]:
                ways[1] = max(ways[1], w["level"])
            ways[1] = max(ways[1], w["open"])
            ways[0] = max(ways[0], w["flight"])
            if w["once"] and not w["approved"]:
                ways[0] = max(ways[0], w["level"])
        for k, v in enumerate(taints):
            if not known[k] and t[v] != m.domains[v][0]:
                ghosts[k] = True
        if (w["admit"] or w["join"]) and w["once"] and w["approved"]:
            crosses = out[2] is not None and t[out[2]] != m.domains[out[2]][0]
            both = all(t[v] != m.domains[v][0] for v in taints if m.vars[v] in ("untrusted", "sensitive"))
            way = 2 if both or crosses else 0
            ways[way] = max(ways[way], w["level"])
        return tuple(ghosts), tuple(ways)

    def seen(s, memory):
        s = list(s)
        for k, v in enumerate(taints):
            s[v] = m.domains[v][-1] if memory[0][k] else m.domains[v][0]
        for way, v in enumerate(out):
            if v is not None and memory[1][way]:
                d = m.domains[v]
                least = d.index("bound") if memory[1][way] == 1 and "bound" in d else len(d) - 1
                s[v] = d[max(least, d.index(s[v]))]
        return tuple(s)

    return (tuple(False for _ in taints), (0, 0, 0)), remember, seen


def confirmed_view(m):
    taints = sorted(m.taint)
    said = [words(m, i) for i in range(len(m.symbols))]

    def remember(memory, s, symbol, t):
        w = said[symbol]
        return tuple(g or ((w["settle"] or w["join"]) and m.vars[v] in w["taints"]) for g, v in zip(memory, taints))

    def seen(s, memory):
        s = list(s)
        for g, v in zip(memory, taints):
            s[v] = m.domains[v][-1] if g else m.domains[v][0]
        return tuple(s)

    return tuple(False for _ in taints), remember, seen


def approvals(m):
    """Steps of the shortest run that ends in an approved admission with nothing granted; None when there is none."""
    said = [words(m, i) for i in range(len(m.symbols))]
    phase = m.place.get("phase")
    rank = lambda s: max([0] + [1 if s[m.place[n]] == "bound" else 2 for n in ("flight", "open") if n in m.place and s[m.place[n]] != m.domains[m.place[n]][0]])
    first = (m.first, 0, 0)
    depth, queue = {first: 0}, collections.deque([first])
    while queue:
        node = queue.popleft()
        s, asked, granted = node
        for symbol in range(len(m.symbols)):
            verdict, _, t = m.step(s, symbol)
            if verdict != "accept":
                continue
            name, w = m.actions[m.symbols[symbol][0]].name, said[symbol]
            if w["approved"] and granted == 0:
                return depth[node] + 1
            a, g = asked, granted
            if name == "request":
                a += 1
            elif name == "approve" and a:
                a, g = a - 1, g + 1
            elif name == "refuse" and a:
                a -= 1
            elif name == "lapse" and w["slot"] == "asked" and a:
                a -= 1
            elif name == "lapse" and w["slot"] == "granted" and g:
                g -= 1
            elif w["approved"] and g:
                g -= 1
            gained = any(s[v] == m.domains[v][0] and t[v] != m.domains[v][0] for v in m.taint) or rank(t) > rank(s)
            if gained or (phase is not None and t[phase] != m.domains[phase][0]):
                a = g = 0
            after = (t, a, g)
            if a < 20 and g < 20 and after not in depth:
                depth[after] = depth[node] + 1
                queue.append(after)
    return None


def observers(m):
    """lines() of the checks that look at a machine through an observer"""
    out = {}
    said = [words(m, i) for i in range(len(m.symbols))]
    never = [r for r in m.regions if r.kind in ("never", "transition")]
    lowers = {i for i, a in enumerate(m.actions) if a.lowers}
    if m.taint and any(w["admit"] or w["join"] for w in said):
        hits, states, edges = observed(m, *ghost_view(m)[:2], lowers, never, ghost_view(m)[2])
        for r in never:
            n = hits.get(r.name)
            out["laundering", r.name] = {"verdict": "PASS" if n is None else "FAIL", "finding": None if n is None else "LAUNDERED", "states": states, "edges": edges, "length": n}
    if m.taint and any(w["settle"] or w["join"] for w in said):
        start, remember, seen = confirmed_view(m)
        hits, states, edges = observed(m, start, remember, (), never, seen)
        for r in never:
            n = hits.get(r.name)
            out["confirmed", r.name] = {"verdict": "PASS" if n is None else "FAIL", "finding": None if n is None else "CONFIRMED_LOWERED", "states": states, "edges": edges, "length": n}
    if any(w["approved"] for w in said) and any(a.name == "approve" for a in m.actions):
        n = approvals(m)
        out["approvals", None] = {"verdict": "PASS" if n is None else "FAIL", "finding": None if n is None else "UNAPPROVED_ADMISSION", "length": n}
    return out


def recovery(m):
    """{("recovery", None): …} of a machine that says where corrections lead: `recovery: {goal}`, or `phase` with `ended` and `quarantined`"""
    words_of = {m.vars[v]: m.domains[v] for v in range(len(m.vars))}
    phased = {"ended", "quarantined"} <= set(words_of.get("phase", []))
    corrective = {i for i, a in enumerate(m.actions) if a.corrective}
    never = [r for r in m.regions if r.kind == "never" and r.actions is None]
    on_steps = [r for r in m.regions if r.kind in ("never", "transition") and r.actions is not None]
    if (m.goal is None and not phased) or not corrective or not never:
        return {}
    live = [v for v, n in enumerate(m.vars) if n in OUT]
    goal = (lambda s: m.goal({"pre": m.bag(s)}) is True) if m.goal else \
        (lambda s: s[m.place["phase"]] == "ended" and all(s[v] == m.domains[v][0] for v in live))
    inside = lambda s: {r.name for r in never if m.inside(r, s)}
    danger = [s for s in itertools.product(*m.domains) if all(s[v] == m.domains[v][0] for v in m.ghost) and inside(s)]  # a ghost remembers nothing that did not happen
    if not danger:
        return {("recovery", None): {"verdict": "VACUOUS", "finding": "NO_DANGER_STATE"}}
    moves = {}

    def steps(s):
        if s not in moves:
            moves[s] = ([], [])
            for symbol in range(len(m.symbols)):
                verdict, _, t = m.step(s, symbol)
                if verdict == "fault" and m.symbols[symbol][0] in corrective:
                    raise Refused("a correction has no meaning")
                if verdict == "accept" and t != s:
                    moves[s][0 if m.symbols[symbol][0] in corrective else 1].append((symbol, t))
        return moves[s]

    def closure(starts, which):
        seen, queue = set(starts), collections.deque(starts)
        while queue:
            s = queue.popleft()
            for _, t in steps(s)[which]:
                if t not in seen:
                    seen.add(t)
                    queue.append(t)
        return seen

    reached = closure(danger, 0)
    outside = {s for s in reached if not goal(s)}
    ends = {s for s in reached if goal(s)}
    back, grown = set(ends), True
    while grown:
        more = {s for s in outside - back if any(t in back for _, t in steps(s)[0])}
        grown = bool(more)
        back |= more
    stuck = any(not steps(s)[0] for s in outside)
    # what is left after leaves are taken away again and again lies on or before a cycle
    def cycles(nodes):
        left = set(nodes)
        while True:
            leaves = {s for s in left if not any(t in left for _, t in steps(s)[0])}
            if not leaves:
                return left
            left -= leaves
    diverges = bool(cycles(outside - back))
    unsafe = any(inside(t) - inside(s) or any(m.inside(r, s, symbol, t) for r in on_steps) for s in reached for symbol, t in steps(s)[0])
    rank = lambda v, s: m.domains[v].index(s[v])
    restores = any(rank(v, t) < rank(v, s) for v in m.taint | m.sticky for s in reached for _, t in steps(s)[0])
    # the game: after each correction the others take any steps
    known = {}
    def others(s):
        if s not in known:
            seen, queue = {s}, collections.deque([s])
            while queue:
                x = queue.popleft()
                for _, t in [] if goal(x) else steps(x)[1]:  # what happens after the goal is another matter
                    if t not in seen:
                        seen.add(t)
                        queue.append(t)
            known[s] = seen
        return known[s]
    won = set()
    grown = True
    while grown and not (stuck or diverges):
        more = {s for s in outside_all(outside, others, steps, goal) - won
                if any(goal(t) or all(goal(u) or u in won for u in others(t)) for _, t in steps(s)[0])}
        grown = bool(more)
        won |= more
    field = outside_all(outside, others, steps, goal)
    anew = any(inside(t) - inside(s) or any(m.inside(r, s, symbol, t) for r in on_steps) for s in field for symbol, t in steps(s)[1])
    fragile = not field <= won or anew
    finding = "STUCK" if stuck else "DIVERGES" if diverges else "RECOVERY_UNSAFE" if unsafe else "RESTORES_COMPROMISE" if restores else "FRAGILE" if fragile else None
    return {("recovery", None): {"verdict": "FAIL" if finding else "PASS", "finding": finding, "states": len(reached)}}


def outside_all(outside, others, steps, goal):
    """every state that corrections and others together can make of `outside` before the goal is reached"""
    seen = {u for s in outside for u in others(s) if not goal(u)}  # others have their turn before the first correction too
    queue = collections.deque(seen)
    while queue:
        s = queue.popleft()
        for _, t in steps(s)[0]:
            for u in [t] if goal(t) else others(t):
                if not goal(u) and u not in seen:
                    seen.add(u)
                    queue.append(u)
    return seen


def without(self, action, clauses, region):
    """whether a region is reached when these clauses of an action are left out"""
    act = self.actions[action]
    kept = act._replace(clauses=[("", lambda env: False) if c in clauses else x for c, x in enumerate(act.clauses)])
    self.actions[action] = kept
    try:
        d, _, st, _ = self.explore()
        return self.hit(region, d, st) is not None
    finally:
        self.actions[action] = act


Machine.without = without

if __name__ == "__main__":
    for path in sys.argv[1:]:
        try:
            m = Machine(json.load(open(path)))
            for key, value in {**lines(m), **observers(m)}.items():
                print(path, *key, value)
        except Refused as e:
            print(path, "refused:", e)
