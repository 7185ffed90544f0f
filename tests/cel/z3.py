#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Static questions about conditions, asked of Z3 too.

Random conditions are written as CEL for us and as SMT-LIB for Z3, by rules that share nothing with ours: a condition is a pair (is true, is false); a JSON
value is a datatype with `absent`; a list is as many items as there are macros in the two conditions, and one. What is asked becomes a formula that must be
unsatisfiable. A YES of ours that Z3 can satisfy is a failure; a NO that Z3 refutes is counted, and too many are a failure (so an engine that never says
YES does not pass).

Usage: tests/cel/z3.py QUESTIONS [--seed N] [--pairs N] [--broken]   (--broken: Z3 takes `a && b` for true when one of them is: must be found)"""
import argparse
import random
import subprocess
import sys

WORDS = ["none", "fresh", "held"]
TRUST = ["trusted", "untrusted"]
TEXTS = ["", "a", "ab", "b", "bb", "abc"]


def band(*x):
    return f"(and {' '.join(x)})" if x else "true"


def bor(*x):
    return f"(or {' '.join(x)})" if x else "false"


def neg(x):
    return f"(not {x})"


def smt(n):
    return str(n) if n >= 0 else f"(- {-n})"


class World:
    """Makes conditions: (CEL text, function from the items of rs to (true, false), number of macros)."""

    def __init__(self, r, broken):
        self.r = r
        self.both = bor if broken else band

    def sure(self, fact):
        return fact, neg(fact)

    def number(self, cel, term):
        """A comparison of an int with a constant."""
        op = self.r.choice(["==", "!=", "<", "<=", ">", ">="])
        k = self.r.choice([-1, 0, 1, 2, 3])
        fact = {"==": f"(= {term} {smt(k)})", "!=": f"(not (= {term} {smt(k)}))"}.get(op, f"({op} {term} {smt(k)})")
        if self.r.random() < 0.2:
            return f"{k} {({'<': '>', '>': '<', '<=': '>=', '>=': '<='}).get(op, op)} {cel}", fact
        return f"{cel} {op} {k}", fact

    def text(self, cel, term):
        k = self.r.choice(TEXTS)
        form = self.r.choice(["==", "!=", "startsWith", "endsWith", "contains"])
        if form in ("==", "!="):
            fact = f'(= {term} "{k}")'
            return f'{cel} {form} "{k}"', fact if form == "==" else neg(fact)
        fact = {"startsWith": f'(str.prefixof "{k}" {term})', "endsWith": f'(str.suffixof "{k}" {term})', "contains": f'(str.contains {term} "{k}")'}[form]
        return f'{cel}.{form}("{k}")', fact

    def json(self):
        r, key = self.r, self.r.choice("xy")
        v, there = f"args_{key}", neg(f"((_ is absent) args_{key})")
        form = r.choice(["has", "eqn", "eqs", "lt", "bool", "in", "same", "null"])
        if form == "has":
            return f"has(args.{key})", (there, neg(there))
        if form == "same":
            both = [neg("((_ is absent) args_x)"), neg("((_ is absent) args_y)")]
            same = "(and (= args_x args_y) (not ((_ is nan) args_x)))"
            return "args.x == args.y", (band(*both, same), band(*both, neg(same)))
        if form == "bool":
            return f"args.{key}", (f"(= {v} (truth true))", f"(= {v} (truth false))")
        if form == "lt":
            op, k = r.choice(["<", "<=", ">", ">="]), r.choice([0, 1, 2])
            real = f"((_ is real) {v})"
            fact = f"({op} (of {v}) {k}.0)"
            return f"args.{key} {op} {k}", (band(real, fact), bor(band(real, neg(fact)), f"((_ is nan) {v})"))
        if form == "null":
            return f"args.{key} == null", (f"((_ is nothing) {v})", band(there, neg(f"((_ is nothing) {v})")))
        values = [f"(real {r.choice([0, 1, 2])}.0)"] if form == "eqn" else [f'(text {r.choice([0, 1])})'] if form == "eqs" else ["(real 1.0)", "(text 1)"]
        words = {"(text 0)": '"a"', "(text 1)": '"b"'}
        shown = [words.get(x, x[6:-3] if x.startswith("(real") else x) for x in values]
        fact = bor(*[f"(= {v} {x})" for x in values])
        cel = f"args.{key} in [{', '.join(shown)}]" if form == "in" else f"args.{key} == {shown[0]}"
        return cel, (fact, band(there, neg(fact)))

    def fact(self, item, depth):
        """(CEL, item number or None -> (true, false), macros)"""
        r = self.r
        if item and r.random() < 0.75:
            form = r.choice(["t", "n", "f", "t"])
            if form == "f":
                return "r.f", lambda j: self.sure(f"rs_f{j}"), 0
            if form == "n":
                cel, fact = self.number("r.n", "rs_n@")
                return cel, lambda j: self.sure(fact.replace("@", str(j))), 0
            k, op = r.randrange(2), r.choice(["==", "!="])
            fact = f"(= rs_t@ {k})" if op == "==" else f"(not (= rs_t@ {k}))"
            return f'r.t {op} "{TRUST[k]}"', lambda j: self.sure(fact.replace("@", str(j))), 0
        form = r.choice(["b", "c", "i", "w", "s", "args", "args", "rs", "rs", "div"])
        if form in "bc":
            return form, lambda j: self.sure(form), 0
        if form == "i":
            cel, fact = self.number("i", "i")
            return cel, lambda j: self.sure(fact), 0
        if form == "s":
            cel, fact = self.text("s", "s")
            return cel, lambda j: self.sure(fact), 0
        if form == "div":
            return "6 / i == 2", lambda j: (band("(not (= i 0))", "(= i 3)"), band("(not (= i 0))", "(not (= i 3))")), 0
        if form == "w":
            some = r.sample(range(3), r.choice([1, 1, 2]))
            fact = bor(*[f"(= w {k})" for k in some])
            if len(some) == 1:
                return f'w == "{WORDS[some[0]]}"', lambda j: self.sure(fact), 0
            return f"w in [{', '.join(chr(34) + WORDS[k] + chr(34) for k in some)}]", lambda j: self.sure(fact), 0
        if form == "args":
            cel, bits = self.json()
            return cel, lambda j: bits, 0
        if item or depth == 0:
            return "size(rs) == 0", lambda j: self.sure("(not rs_p0)"), 0
        kind = r.choice(["exists", "all"])
        cel, body, _ = self.condition(True, depth - 1)

        def bits(_):
            each = [(f"rs_p{k}", *body(k)) for k in range(self.items)]
            some, none = bor(*[band(p, t) for p, t, _ in each]), band(*[bor(neg(p), f) for p, _, f in each])
            every, one = band(*[bor(neg(p), t) for p, t, _ in each]), bor(*[band(p, f) for p, _, f in each])
            return (some, none) if kind == "exists" else (every, one)
        return f"rs.{kind}(r, {cel})", bits, 1

    def condition(self, item, depth):
        form = "fact" if depth == 0 else self.r.choice(["fact", "fact", "not", "and", "and", "or", "or", "if", "=="])
        if form == "fact":
            return self.fact(item, depth)
        a, fa, na = self.condition(item, depth - 1)
        if form == "not":
            return f"!({a})", lambda j: fa(j)[::-1], na
        b, fb, nb = self.condition(item, depth - 1)
        if form == "and":
            return f"({a}) && ({b})", lambda j: (self.both(fa(j)[0], fb(j)[0]), bor(fa(j)[1], fb(j)[1])), na + nb
        if form == "or":
            return f"({a}) || ({b})", lambda j: (bor(fa(j)[0], fb(j)[0]), band(fa(j)[1], fb(j)[1])), na + nb
        if form == "==":
            if "args." in a.split(" ")[0] and len(a) == 6 or "args." in b.split(" ")[0] and len(b) == 6:
                return self.fact(item, 0)  # a JSON value may be equal to a bool without being one
            return (f"({a}) == ({b})", lambda j: (bor(band(fa(j)[0], fb(j)[0]), band(fa(j)[1], fb(j)[1])),
                                                  bor(band(fa(j)[0], fb(j)[1]), band(fa(j)[1], fb(j)[0]))), na + nb)
        c, fc, nc = self.condition(item, depth - 1)
        return (f"({a}) ? ({b}) : ({c})", lambda j: (bor(band(fa(j)[0], fb(j)[0]), band(fa(j)[1], fc(j)[0])),
                                                     bor(band(fa(j)[0], fb(j)[1]), band(fa(j)[1], fc(j)[1]))), na + nb + nc)


def declarations(items):
    lines = ["(declare-datatypes ((Json 0)) (((absent) (nothing) (nan) (real (of Real)) (text (word Int)) (truth (bit Bool)) (other))))",
             "(declare-const b Bool)", "(declare-const c Bool)", "(declare-const i Int)", "(declare-const w Int)", "(declare-const s String)",
             "(declare-const args_x Json)", "(declare-const args_y Json)",
             "(assert (and (<= 0 w) (<= w 2)))"]
    for k in range(items):
        lines += [f"(declare-const rs_p{k} Bool)", f"(declare-const rs_t{k} Int)", f"(declare-const rs_n{k} Int)", f"(declare-const rs_f{k} Bool)",
                  f"(assert (and (<= 0 rs_t{k}) (<= rs_t{k} 1)))"]
    lines += [f"(assert (=> rs_p{k + 1} rs_p{k}))" for k in range(items - 1)]
    return lines


def goals(x, y):
    """What each question says cannot be, in the order of questions.c."""
    out = []
    for t, f in (x, y):
        e = neg(bor(t, f))
        for may in range(1, 7):
            out.append(bor(*[v for bit, v in ((1, t), (2, f), (4, e)) if not may & bit]))
    (t, f), (u, g) = x, y
    out += [band(t, neg(u)), band(u, neg(t)), band(t, u), bor(f"(xor {t} {u})", f"(xor {f} {g})")]
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("questions")
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--pairs", type=int, default=250)
    parser.add_argument("--broken", action="store_true")
    parser.add_argument("--missed", action="store_true")
    options = parser.parse_args()
    world, pairs, script = World(random.Random(options.seed), options.broken), [], ["(set-option :rlimit 1000000)"]
    for _ in range(options.pairs):
        a, fa, na = world.condition(False, 3)
        b, fb, nb = world.condition(False, 3)
        world.items = na + nb + 1
        pairs.append((a, b))
        script += ["(push)", *declarations(world.items)]
        for goal in goals(fa(None), fb(None)):
            script += ["(push)", f"(assert {goal})", "(check-sat)", "(pop)"]
        script.append("(pop)")
    ours = subprocess.run([options.questions], input="".join(f"{a}\t{b}\n" for a, b in pairs), capture_output=True, text=True, timeout=600, check=True)
    ours = ours.stdout.split()
    z3 = subprocess.run(["z3", "-in", "-T:600"], input="\n".join(script), capture_output=True, text=True, timeout=660, check=False).stdout.split()
    if any(word not in ("sat", "unsat", "unknown", "timeout") for word in z3):
        print("z3 does not understand:", " ".join(z3)[:400])
        return 4
    yes = missed = open_ = wrong = 0
    answers = [digit for line in ours for digit in line]
    for k, (digit, word) in enumerate(zip(answers, z3)):
        yes += digit == "2" and word == "unsat"
        if digit == "1" and word == "unsat":
            missed += 1
            if options.missed:
                print(f"question {k % 16}: only z3 finds:\n  {pairs[k // 16][0]}\n  {pairs[k // 16][1]}")
        open_ += word in ("unknown", "timeout") or digit == "0"
        if digit == "2" and word == "sat":
            wrong += 1
            if not options.broken:
                print(f"question {k % 16} is answered yes, and is no:\n  {pairs[k // 16][0]}\n  {pairs[k // 16][1]}")
    print(f"z3, seed {options.seed}: {len(answers)} questions, {len(z3)} answers: {yes} agreed yes, {missed} that only z3 finds, {open_} open, {wrong} wrong")
    enough = len(z3) >= len(answers) // 2 and yes > len(z3) // 40 and yes > 6 * missed
    if options.broken:
        return 0 if wrong else 1
    return 0 if enough and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
