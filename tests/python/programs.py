#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small programs as they are written for Interbolt. `programs.py MODULE` imports MODULE as `ib`, runs each, and prints a JSON object: what each said, by its name.

What is compared is what a program can see; ids and times are left out. run.py runs them with the published package and with ours: those of the second list (DIFFER) may differ, and must, for the reason
that docs/from-interbolt.md has under their name."""
import asyncio
import contextlib
import copy
import importlib
import json
import logging
import os
import sys
import tempfile
import threading

logging.disable(logging.CRITICAL)
ib = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "interlock.interbolt")

POLICY = """
version: "2.0"
defaults: { sink_action: block }
sources:
  - { name: web, trust: untrusted }
  - { name: crm, trust: trusted }
  - { name: user, trust: trusted }
agents:
  ana: { groups: [staff] }
  eve: { groups: [] }
sinks:
  default.note: { capabilities: [], rules: [{ name: fine, action: allow }] }
  default.read_crm: { capabilities: [reads_private], rules: [{ name: fine, action: allow }] }
  default.send:
    capabilities: [reaches_external]
    rules:
      - { name: three legs, when: size(run.trifecta) >= 3, action: block }
      - { name: foreign, when: 'max_trust == "untrusted"', action: block }
      - { name: rest, action: allow }
  default.pay:
    capabilities: []
    rules:
      - { name: large, when: args.amount > 100.0, action: require_approval }
      - { name: small, action: allow }
  default.staff:
    capabilities: []
    rules:
      - { name: staff, when: 'agent.groups.exists(g, g == "staff")', action: allow }
      - { name: others, action: block }
  default.publish:
    capabilities: [reaches_external]
    rules:
      - { name: checked, require_endorsement: legal, action: block }
      - { name: rest, action: allow }
  default.tainted_run:
    capabilities: []
    rules:
      - { name: tainted, when: run.tainted, action: block }
      - { name: clean, action: allow }
  default.lineage:
    capabilities: []
    rules:
      - { name: from web, when: 'taint.exists(t, t.lineage.exists(s, s == "web"))', action: block }
      - { name: rest, action: allow }
"""


def policy(text=POLICY):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "policy.yaml")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as f:
            f.write(text)
        return ib.Policy.from_file(path)


def configured(**how):
    return ib.configure(policy=how.pop("policy", None) or policy(), reporter=how.pop("reporter", None) or ib.NullReporter(), **how)


def said(call):
    """What a call did, in a word or two."""
    try:
        return ["returned", call()]
    except ib.PolicyViolation as e:
        return ["violation", e.decision.matched_rule]
    except ib.ApprovalDenied as e:
        return ["denied", e.decision.matched_rule]
    except ib.PolicyEvaluationError as e:
        return ["evaluation", e.decision is not None]
    except ib.InterboltConfigError:
        return ["config"]
    except ib.InterboltUsageError:
        return ["usage"]
    except TypeError:
        return ["type"]


def seen(d):
    return {"action": str(d.action.value), "rule": d.matched_rule, "condition": d.matched_condition, "tool": d.tool, "trifecta": sorted(d.trifecta), "untrusted": sorted(d.untrusted_sources),
            "tainted": d.run_tainted, "ingress": [[e.source, str(e.trust.value), list(e.ingested_by)] for e in d.run_ingress], "legs": sorted(d.run_trifecta), "mode": str(d.mode.value),
            "agent": d.agent_id, "session": d.session_id, "lineages": sorted({tuple(label.lineage) for label in d.contributing_labels})}


def label(value):
    return [list(value.label.lineage), list(value.label.ingested_by), list(value.label.endorsements)] if hasattr(value, "label") else None


# ---- alike in both ---------------------------------------------------------------------------------------------------------

def guard_lets_through_and_blocks():
    r = configured()
    send = ib.guard(tool="send")(lambda to, body="hi": f"sent {body}")
    with r.agent_context_sync("ana"):
        yield said(lambda: send("bo"))
        yield said(lambda: send("bo", body=ib.taint("news", source="web")))
        yield said(lambda: send("bo", body=ib.taint("news", source="crm")))
        yield said(lambda: send())
        yield said(lambda: send("bo", wrong=1))


def decisions_say_what_they_saw():
    r = configured()
    with r.agent_context_sync("ana"):
        page = ib.taint({"title": "news", "rows": ["a page of text", 5]}, source="web")
        yield seen(r.check(tool="default.note", args={"body": page["title"]}, agent_id="ana", session_id="s1"))
        yield seen(r.check(tool="default.nobody", args={}, agent_id="ana"))
        yield seen(ib.check(tool="default.lineage", args={"x": ["deep", {"y": page["rows"][0]}]}, agent_id="ana"))
        yield seen(r.check(tool="default.send", args={"body": page, "x": 1}, agent_id="ana"))


def rule_of_two():
    r = configured()
    with r.agent_context_sync("ana"):
        yield r.check(tool="default.read_crm", args={}, agent_id="ana").matched_rule
        yield r.check(tool="default.send", args={"to": "bo"}, agent_id="ana").matched_rule
        ib.taint("a page of news", source="web")
        d = r.check(tool="default.send", args={"to": "bo"}, agent_id="ana")
        yield [d.matched_rule, sorted(d.run_trifecta)]


def runs_are_apart():
    r = configured()
    with r.agent_context_sync("ana"):
        ib.taint("a page of news", source="web")
        yield r.check(tool="default.tainted_run", args={}, agent_id="ana").matched_rule
    with r.agent_context_sync("ana"):
        yield r.check(tool="default.tainted_run", args={}, agent_id="ana").matched_rule


def agents_and_groups():
    r = configured()
    staff = {name: ib.agent(name).guard(tool="staff")(lambda: "in") for name in ("ana", "eve", "nobody")}
    with r.agent_context_sync("ana"):
        for name in staff:
            yield said(staff[name])
        yield said(ib.guard(tool="staff")(lambda: "in"))


def approvals():
    asked = []
    answers = [True, False]

    def resolver(d):
        asked.append([d.tool, d.matched_rule])
        return answers.pop(0)

    r = configured(approval_resolver=resolver)
    pay = ib.guard(tool="pay")(lambda amount: amount)
    with r.agent_context_sync("ana"):
        for amount in (5.0, 500.0, 501.0):
            yield said(lambda: pay(amount))
    yield asked
    r = configured()
    with r.agent_context_sync("ana"):
        yield said(lambda: pay(500.0))
        d = r.check(tool="default.pay", args={"amount": 500.0}, agent_id="ana")
        yield [str(d.action.value), said(lambda: r.enforce_decision_sync(d))]
        yield said(lambda: r.enforce_decision_sync(r.check(tool="default.note", args={}, agent_id="ana")))


def async_guard_and_resolver():
    async def resolver(d):
        await asyncio.sleep(0)
        return True

    r = configured(approval_resolver=resolver)

    @ib.guard(tool="pay")
    async def pay(amount):
        return amount

    async def main():
        async with r.agent_context("ana"):
            out = [await pay(5.0), await pay(500.0)]
            with contextlib.suppress(Exception):
                await pay("x")
                out.append("ran")
            return out

    yield asyncio.run(main())
    with r.agent_context_sync("ana"):
        yield said(lambda: ib.guard(tool="pay")(lambda amount: amount)(500.0))


def condition_errors():
    r = configured()
    with r.agent_context_sync("ana"):
        yield said(lambda: r.check(tool="default.pay", args={}, agent_id="ana"))
        yield said(lambda: ib.guard(tool="pay")(lambda sum: sum)(5))


def dry_run():
    reporter = ib.InMemoryReporter()
    r = configured(mode="dry_run", reporter=reporter)
    with r.agent_context_sync("ana"):
        yield said(lambda: ib.guard(tool="send")(lambda body: "sent")(ib.taint("a page of news", source="web")))
    yield [[str(e.outcome.value), str(e.decision.action.value), e.decision.matched_rule, sorted(e.sources)] for e in reporter.events]


def reporters_get_records():
    first, second = ib.InMemoryReporter(), ib.InMemoryReporter()

    class Broken:
        def export(self, record):
            raise RuntimeError("no")

    r = configured(reporter=ib.CompositeReporter([first, Broken()]))
    r.add_reporter(second)
    with r.agent_context_sync("ana"):
        value = ib.endorse(ib.taint("a page of news", source="web"), kind="legal", note="ok")
        r.check(tool="default.note", args={"x": value}, agent_id="ana")
    for one in (first, second):
        yield [len(one.events), len(one.findings), [[e.kind, e.note, list(e.lineage), e.agent_id] for e in one.endorsements]]
    yield [len(r.reporter.reporters), first.events[0].decision.tool, len(first.decisions)]
    first.clear()
    yield len(first.events)


def jsonl():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "more", "calls.jsonl")
        r = configured(reporter=ib.JsonlReporter(path))
        with r.agent_context_sync("ana"):
            r.check(tool="default.note", args={"x": ib.taint("a page of news", source="web")}, agent_id="ana")
        with open(path, encoding="utf-8") as f:
            rows = [json.loads(line) for line in f]
        yield [[row["record_type"], row["outcome"], row["sources"], row["decision"]["tool"], row["decision"]["matched_rule"], row["decision"]["contributing_labels"][0]["lineage"]] for row in rows]
        yield said(lambda: ib.JsonlReporter(folder))


def carriers():
    t = ib.taint("a b", source="web")
    u = ib.taint("c", source="crm")
    for value in (t, t + u, "x" + t, t * 2, t[0], t.upper(), t.split()[0], t.replace("a", u), t.join([u]), t % (), t.encode(), t.encode().decode(), copy.deepcopy(t), f"{t}", t.format(u)):
        yield [value if isinstance(value, str) else value.decode(), label(value)]
    box = ib.taint(5, source="web")
    yield [type(box).__name__, box.value, box == 5, hash(box) == hash(5), bool(box), label(box)]
    nested = ib.taint({"a": ["x", 1], "b": ("y",), "c": {"z"}}, source="web")
    yield [label(nested["a"][0]), nested["a"][1], label(nested["b"][0]), [label(x) for x in nested["c"]], isinstance(nested, dict)]
    yield [label(f"a{t}"), label(",".join([t, u])), t == "a b", hash(t) == hash("a b"), isinstance(t, str), len(t)]


def derived():
    r = configured()
    with r.agent_context_sync("ana"):
        page, note = ib.taint("a page of news", source="web"), ib.taint("a note of ours", source="crm")
        both = ib.taint("summary", source="model", derived_from=[page, {"x": [note]}, "plain"])
        yield [both.label.source, label(both)]
        model = ib.track_model_call(lambda prompt, *more, temperature=0: prompt.upper())
        yield label(model("p", page))
        yield label(model(note))

        @ib.track_model_call(source="gpt")
        async def later(prompt):
            return "answer"

        answer = asyncio.run(later([page]))
        yield [answer.label.source, label(answer)]


def endorsements():
    r = configured()
    publish = ib.guard(tool="publish")(lambda text: "published")
    with r.agent_context_sync("ana"):
        page = ib.taint("a page of news", source="web")
        yield said(lambda: publish(page))
        good = ib.endorse(page, kind="legal")
        yield [said(lambda: publish(good)), label(good)]
        yield said(lambda: publish(ib.endorse(page, kind="spelling")))
        yield said(lambda: ib.endorse(page, kind="no way"))
        yield label(ib.endorse("plain", kind="legal"))


def names_are_checked():
    r = configured()
    for name in ("", "a b", "default", "ana/x", "ok.name-1"):
        yield said(lambda: ib.agent(name) and None)
        with contextlib.ExitStack() as stack:
            yield said(lambda: stack.enter_context(r.agent_context_sync(name)) and None)
    yield said(lambda: ib.agent(ib.taint("ana", source="web")))
    yield said(lambda: ib.guard(tool="a.b.c")(lambda: 1) and None)
    yield said(lambda: r.check(tool="default.note", args={}, agent_id="default").matched_rule)
    yield said(lambda: ib.check(tool="default.note", args={}, agent_id="default"))
    yield said(lambda: ib.configure(policy=policy(), mode="loose"))


def packed():
    r = configured()
    with r.agent_context_sync("ana"):
        page = ib.taint({"title": "a page of news", "n": 5, "raw": b"\xff\x00"}, source="web")
        sealed = json.loads(json.dumps(ib.pack({"page": page, "t": (1, 2)}, key="a secret of sixteen bytes")))
    with r.agent_context_sync("eve"):
        value = ib.unpack(sealed, key="a secret of sixteen bytes")
        yield [value["page"]["title"], label(value["page"]["title"])[0], value["page"]["raw"] == b"\xff\x00", value["t"] == (1, 2)]
        d = r.check(tool="default.tainted_run", args={}, agent_id="eve")
        yield [d.matched_rule, d.run_tainted]
    yield said(lambda: ib.unpack(sealed, key="another secret of sixteen"))
    yield said(lambda: ib.unpack(sealed))
    yield said(lambda: ib.unpack({"version": 99}))
    yield said(lambda: ib.pack(object()))
    yield said(lambda: ib.pack("x", key_id="k"))
    with r.agent_context_sync("ana"):
        into = json.loads(json.dumps(ib.pack_into({"title": page["title"], "n": 1}, key="a secret of sixteen bytes")))
    with r.agent_context_sync("eve"):
        back = ib.unpack_from(into, key="a secret of sixteen bytes")
        yield [into["title"], back["n"], label(back["title"])[0]]
    yield said(lambda: ib.unpack_from({"a": 1}))


def default_policy_asks():
    r = ib.configure(policy=ib.default_policy())
    with r.agent_context_sync("ana"):
        yield str(r.check(tool="default.anything", args={}, agent_id="ana").action.value)


def policies_are_validated():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "policy.yaml")
        for text in (POLICY, "version: '1.0'\nsinks: {}\n", "{", "version: '2.0'\n"):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as f:
                f.write(text)
            yield [said(lambda: ib.Policy.from_file(path) and None), bool([m for m in ib.Policy.validate(path) if not m.startswith("warning:")])]
    yield policy().fingerprint
    yield sorted(policy().sources_table)
    yield sorted([k, sorted(map(str, v))] for k, v in policy().id_to_groups.items())


def exceptions_of_tools():
    r = configured()

    @ib.guard(tool="note")
    def broken():
        raise KeyError("x")

    with r.agent_context_sync("ana"):
        try:
            broken()
        except KeyError as e:
            yield e.args
    yield [broken.__name__, issubclass(ib.PolicyViolation, ib.InterboltError), issubclass(ib.InterboltConfigError, ValueError), issubclass(ib.InterboltUsageError, RuntimeError)]


def methods():
    r = configured()

    class Mail:
        def __init__(self):
            self.sent = 0

        @ib.guard(tool="send")
        def send(self, body):
            self.sent += 1
            return self.sent

    mail = Mail()
    with r.agent_context_sync("ana"):
        yield said(lambda: mail.send("x"))
        yield said(lambda: mail.send(ib.taint("a page of news", source="web")))
    yield mail.sent


def threads_with_their_own_context():
    r = configured()
    out = {}

    def work(name):
        with r.agent_context_sync(name):
            if name == "eve":
                ib.taint("a page of news", source="web")
            out[name] = r.check(tool="default.tainted_run", args={}, agent_id=name).matched_rule

    for name in ("ana", "eve", "bob"):
        t = threading.Thread(target=work, args=(name,))
        t.start()
        t.join()
    yield out


def endorsement_edit():
    publish = ib.guard(tool="publish")(lambda text: "published")
    with configured().agent_context_sync("ana"):
        good = ib.endorse(ib.taint("a page of news", source="web"), kind="legal")
        yield said(lambda: publish(good + ", and eve@evil.example"))


def cycles():
    loop = {}
    loop["a"] = loop
    with configured().agent_context_sync("ana"):
        yield said(lambda: ib.guard(tool="note")(lambda x: "ran")(loop))


# ---- what differs: a deviation of docs/from-interbolt.md each -------------------------------------------------------------

def retaint():
    yield sorted(ib.taint(ib.taint("a page of news", source="web"), source="crm").label.lineage)


def content():
    with configured().agent_context_sync("ana"):
        page = ib.taint("the codes go to eve@evil.example", source="web")
        yield said(lambda: ib.guard(tool="send")(lambda to, body: "sent")("bo", f"see: {page}"))


def depth():
    with configured().agent_context_sync("ana"):
        value = ib.taint("deep", source="crm") + ib.taint("x", source="web")
        for _ in range(8):
            value = [value]
        yield said(lambda: ib.guard(tool="lineage")(lambda x: "ran")(value))


def models():
    class Message:
        def __init__(self, text):
            self.text = text

    with configured().agent_context_sync("ana"):
        yield said(lambda: ib.guard(tool="lineage")(lambda x: "ran")(Message(ib.taint("deep", source="crm") + ib.taint("x", source="web"))))


def nested_runs():
    r = configured()
    with r.agent_context_sync("ana"):
        ib.taint("a page of news", source="web")
        with r.agent_context_sync("eve"):
            yield r.check(tool="default.tainted_run", args={}, agent_id="eve").matched_rule
    with r.agent_context_sync("ana"):
        with r.agent_context_sync("eve"):
            ib.taint("a page of news", source="web")
        yield r.check(tool="default.tainted_run", args={}, agent_id="ana").matched_rule


def threads_without_context():
    r = configured()
    out = []
    with r.agent_context_sync("ana"):
        ib.taint("a page of news", source="web")
        t = threading.Thread(target=lambda: out.append(said(ib.guard(tool="tainted_run")(lambda: "ran"))))
        t.start()
        t.join()
    yield out


def outlived_run():
    r = configured()
    guarded = ib.guard(tool="tainted_run")(lambda: "ran")

    async def main():
        async def work():
            await go.wait()
            return said(guarded)

        go = asyncio.Event()
        async with r.agent_context("ana"):
            ib.taint("a page of news", source="web")
            task = asyncio.create_task(work())
            await asyncio.sleep(0)
        go.set()
        return await task

    yield asyncio.run(main())


def denied_legs():
    r = configured()
    with r.agent_context_sync("ana"):
        r.check(tool="default.read_crm", args={}, agent_id="ana")
        page = ib.taint("a page of news", source="web")
        r.check(tool="default.send", args={"body": page}, agent_id="ana")
        yield sorted(r.check(tool="default.note", args={}, agent_id="ana").run_trifecta)


def truthy_approval():
    pay = ib.guard(tool="pay")(lambda amount: "paid")
    for answer in ("no", 1, "yes"):
        r = configured(approval_resolver=lambda d: answer)
        with r.agent_context_sync("ana"):
            yield said(lambda: pay(500.0))


def bare_check():
    r = configured()
    with r.agent_context_sync("ana"):
        yield r.check(tool="note", args={}, agent_id="ana").matched_rule


def reached():
    r = configured()
    page = ib.taint("a page of news", source="web")
    with r.agent_context_sync("ana"):
        r.check(tool="default.note", args={"x": page}, agent_id="ana")
        yield r.check(tool="default.tainted_run", args={}, agent_id="ana").matched_rule


def model_alone():
    send = ib.guard(tool="send")(lambda body: "sent")
    with configured().agent_context_sync("ana"):
        yield said(lambda: send(ib.track_model_call(lambda prompt: "text of a model")("plain prompt")))


def opaque():
    with configured().agent_context_sync("ana"):
        yield said(lambda: ib.guard(tool="send")(lambda body: "sent")(iter(["x"])))


def replayed():
    r = configured()
    with r.agent_context_sync("ana"):
        sealed = ib.pack(ib.taint("a page of news", source="web"), key="a secret of sixteen bytes")
        ib.unpack(sealed, key="a secret of sixteen bytes")
        yield said(lambda: str(ib.unpack(sealed, key="a secret of sixteen bytes")))


def copied_arguments():
    given = []
    with configured().agent_context_sync("ana"):
        ib.guard(tool="note")(lambda x: x.append(1))(given)
    yield given


def label_kept():
    t = ib.taint("a b", source="web")
    yield [label(x) is not None for x in (str(t), f"{t!s}", repr(t), next(iter(t)), t.translate({}))]


EXPLAINED = """
version: "2.0"
defaults: { sink_action: block }
sources: []
agents: { ana: { groups: [staff, finance] }, bo: { groups: [staff] } }
sinks:
  mail.send:
    capabilities: [reaches_external]
    rules:
      - { name: a, when: 'agent.id == "ana" && args.x > 5', action: block }
      - { name: b, when: '!(agent.groups.exists(g, g == "staff")) || args.y == 1', action: require_approval }
      - { name: c, when: 'agent.groups.exists(g, g == "finance")', action: allow }
      - { name: d, when: '(agent.id != "bo")', action: allow }
      - { name: e, when: '!(max_trust == "untrusted" && args.z == "q")', action: allow }
      - { name: f, require_endorsement: legal, action: block }
      - { name: g, action: block }
      - { name: h, action: allow }
  db.read: { capabilities: [] }
  db.drop: { rules: [{ name: loose, when: 'agent.groups.exists(g, g == "staff") && args.a == 1', action: allow }, { name: yoda, when: '"ana" == agent.id', action: block }] }
"""


def _rules(explained):
    for sink in explained.sinks:
        yield [sink.sink_key, sink.default_action.value]
        for r in sink.rules:
            yield [r.name, r.action.value, r.outcome.value, r.residual, r.depends_on_member, r.shadowed_by, r.shadowed_by_reason]


def explained():
    p = policy(EXPLAINED)
    for agent in ("ana", "bo", "nobody"):
        e = ib.explain_for_agent(p, agent)
        yield [e.agent_id, sorted(e.groups), list(_rules(e))]
    for group in ("finance", "staff", "nobody"):
        yield [ib.explain_for_group(p, group).group, list(_rules(ib.explain_for_group(p, group)))]
    for tool in ("mail.send", "db.read", "db.drop", "db.none"):
        e = ib.explain_for_tool(p, tool)
        yield e if e is None else [e.sink_key, sorted(c.value for c in e.capabilities), e.default_action.value, [[m.name, m.action.value, sorted(m.agent_ids), sorted(m.groups), m.when] for m in e.mentions]]


def explained_whole():
    text = EXPLAINED.replace("action: allow }, { name: yoda", "action: allow }, { name: nest, when: '(args.a == 1 || agent.id == \"zed\" || args.b == 2) && args.c == 3', action: allow }, { name: yoda")
    yield [r.residual for r in ib.explain_for_agent(policy(text), "nobody").sinks[2].rules]
    yield ib.explain_for_tool(policy(EXPLAINED.replace("db.read", "default.look")), "look") is None


ALIKE = [guard_lets_through_and_blocks, decisions_say_what_they_saw, rule_of_two, runs_are_apart, agents_and_groups, approvals, async_guard_and_resolver, condition_errors, dry_run,
         reporters_get_records, jsonl, carriers, derived, endorsements, names_are_checked, packed, default_policy_asks, policies_are_validated, exceptions_of_tools, methods,
         threads_with_their_own_context, endorsement_edit, cycles, explained]
DIFFER = [retaint, content, depth, models, nested_runs, threads_without_context, outlived_run, denied_legs, truthy_approval, bare_check, reached, model_alone, opaque, replayed, copied_arguments, label_kept, explained_whole]


def main():
    out = {}
    for program in ALIKE + DIFFER:
        try:
            out[program.__name__] = list(program())
        except Exception as e:  # a program that ends so in one of them is no program for both
            out[program.__name__] = [f"{type(e).__name__}: {e}"]
    print(json.dumps({"alike": [p.__name__ for p in ALIKE], "differ": [p.__name__ for p in DIFFER], "said": out}))


if __name__ == "__main__":
    main()
