# SPDX-License-Identifier: Apache-2.0
"""Machines with one planted mistake: the shipped ones, edited as documents. Each says which region must be entered, after how many steps,
and by which action; an instrument that does not find it is no instrument."""
import json
import os

import common


def clauses(doc, action, rule):
    return [c for c in doc["actions"][action]["reject"] if c["as"] == rule]


def never(clause):
    """The clause rejects nothing; what it names stays in use."""
    clause["if"] = "false && (%s)" % clause["if"]


def drop(doc, action, rule, at=None):
    for i, clause in enumerate(clauses(doc, action, rule)):
        if at is None or i == at:
            never(clause)


def at_return(doc):
    for taint in ("untrusted", "sensitive", "secret"):
        doc["actions"]["admit"]["next"].pop(taint, None)
    drop(doc, "settle", "label-breach")


def held_only(doc):
    for clause in clauses(doc, "admit", "lethal-trifecta"):
        out = "pre.flight || pre.open" if doc["vars"]["flight"] == "bool" else "pre.flight != 'none' || pre.open != 'none'"
        clause["if"] = "(%s) && pre.untrusted != 'none' && pre.sensitive != 'none' && (%s)" % (clause["if"], out)


def join_free(doc):
    drop(doc, "join", "lethal-trifecta")


def secret_releasable(doc):
    clauses(doc, "admit", "secret-egress")[0]["if"] = "!call.approved && (%s)" % clauses(doc, "admit", "secret-egress")[0]["if"]


def secret_alone(doc):
    update = doc["actions"]["admit"]["next"]
    update["sensitive"] = "call.data == 'secret' ? pre.sensitive : (%s)" % update["sensitive"]


def commit_on_pre(doc):
    for clause in clauses(doc, "admit", "tainted-commit"):
        clause["if"] = "(%s) && pre.untrusted != 'none'" % clause["if"]


# machine, twin, edit, region, steps of a shortest witness, its last action
TWINS = [
    ("trifecta", "effects-at-return", at_return, "lethal-trifecta", 2, "settle"),
    ("trifecta", "held-only", held_only, "lethal-trifecta", 1, "admit"),
    ("trifecta", "join-without-guard", join_free, "lethal-trifecta", 1, "join"),
    ("trifecta", "admit-without-guard", lambda d: drop(d, "admit", "lethal-trifecta"), "lethal-trifecta", 1, "admit"),
    ("standard", "effects-at-return", at_return, "secret-is-sensitive", 1, "settle"),
    ("standard", "held-only", held_only, "lethal-trifecta", 1, "admit"),
    ("standard", "join-without-guard", join_free, "lethal-trifecta", 1, "join"),
    ("standard", "secret-releasable", secret_releasable, "secret-egress", 3, "admit"),
    ("standard", "second-secret", lambda d: drop(d, "admit", "secret-egress", 1), "secret-into-open", 2, "admit"),
    ("standard", "secret-without-sensitive", secret_alone, "secret-is-sensitive", 1, "admit"),
    ("standard", "refine-strands-secret", lambda d: drop(d, "refine", "not-fresh", 2), "secret-is-sensitive", 2, "refine"),
    ("capability-broker", "active-unapproved", lambda d: drop(d, "activate[c]", "unapproved"), "active-unapproved[net]", 1, "activate[net]"),
    ("capability-broker", "pair-unapproved", lambda d: drop(d, "activate[c]", "forbidden-composition"), "forbidden-pair", 6, "activate[net]"),
    ("secret-custody", "egress-with-secret", lambda d: drop(d, "open_egress", "secret-in-context"), "leak", 3, "open_egress"),
    ("standard", "commit-judged-on-pre", commit_on_pre, "tainted-commit", 1, "admit"),
    ("naps", "nap-left-out", lambda d: d["naps"].pop(0), "overheated", 2, "work"),
    ("naps", "work-unguarded", lambda d: drop(d, "work", "overheated"), "overheated", 3, "work"),
    ("naps", "both-unlocked", lambda d: drop(d, "unlock[c]", "both-open"), "both-open", 2, "unlock[left]"),
    ("naps", "wrong-reason", lambda d: clauses(d, "work", "too-hot")[0].update({"if": "next.heat > 2 && !call.care"}), "too-hot-is-hot", 2, "work"),
]


def generic(doc):
    """For any machine: a rule of a region's name, its clauses gone. (twin, region) for each."""
    for region, says in doc["regions"].items():
        named = [(a, c) for a, d in doc["actions"].items() for c in d.get("reject", []) if c["as"] == region]
        if named and "never" in says:
            yield region


def without(doc, rule):
    doc = json.loads(json.dumps(doc))
    for action in doc["actions"].values():
        for clause in action.get("reject", []):
            if clause["as"] == rule:
                never(clause)
    return doc


def make(machine, path, twin, edit):
    """Writes the twin; its path."""
    doc = common.document(path)
    edit(doc)
    return common.write(os.path.join(common.folder("twins"), "%s-%s.json" % (machine, twin)), json.dumps(doc))


def all_twins(machines):
    """(name, path, region, steps, action) of the twins above, and those without a region's rule (steps and action None) of other machines."""
    done = set()
    for machine, twin, edit, region, steps, action in TWINS:
        if machine in machines:
            done.add(machine)
            yield "%s/%s" % (machine, twin), make(machine, machines[machine], twin, edit), region, steps, action
    for machine, path in machines.items():
        if machine in done:
            continue
        doc = common.document(path)
        for rule in generic(doc):
            at = os.path.join(common.folder("twins"), "%s-without-%s.json" % (machine, rule))
            yield "%s/without-%s" % (machine, rule), common.write(at, json.dumps(without(doc, rule))), rule, None, None
