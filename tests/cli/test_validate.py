# SPDX-License-Identifier: Apache-2.0
"""validate: positions, machines of one's own, and the comparison with what a server lists."""
import json
import os

import test_harden
from run import BIG, Failure, ROOT, Run, case, put, test

POLICY = """interlock: 1
machine: trifecta
servers:
  s: {trust: inside}
tools:
  - {match: s.read, effects: [sensitive]}
  - {match: "s.(write|wrte)", effects: []}
  - {match: other.thing, effects: [egress]}
  - {match: s.resources/read, effects: [sensitive]}
"""
TOOLS = [{"name": "read"}, {"name": "write"}, {"name": "post_message", "inputSchema": {"type": "object", "properties": {"channel_id": {}, "text": {}}}}]
TRIFECTA = (ROOT / "machines/trifecta.yaml").read_text()


def same(got, want):
    if got != want:
        raise Failure(f"got  {got!r}\nwant {want!r}")


def compare(t, listing, code):
    run = Run("validate", put(t, "policy.yaml", POLICY), "--json", "--tools", "s=" + put(t, "tools.json", json.dumps(listing))).exits(code)
    return json.loads(run.out)


@test
def validate_reports_what_a_server_lists_and_the_policy_does_not(t):
    report = compare(t, {"tools": TOOLS}, 1)
    same([(f["finding"], f["name"], f["line"]) for f in report["findings"]], [("unlabelled-tool", "s.post_message", None), ("unmatched-name", "s.wrte", 7)])
    same(report["findings"][0]["propose"], "- { match: s.post_message, effects: [untrusted, egress], to: { channel: [channel_id] }, reads: [text] }"
         " # sink: once? if a call only sends and keeps nothing open; without it no human can release it. audience: addressed? if nobody but the addressee reads there;"
         " without it nothing that a human typed vouches")
    if "s.write" not in report["findings"][1]["message"]:
        raise Failure("want a suggestion")


@test
def validate_says_first_that_a_server_is_not_declared(t):
    declared = put(t, "policy.yaml", "interlock: 1\nmachine: trifecta\nservers: {m: {trust: outside}}\ntools:\n  - {match: x.none, effects: []}\n")
    listing = put(t, "tools.json", json.dumps([{"name": "send_mail"}]))
    for server, first in (("mail", True), ("m", False)):
        (found,) = json.loads(Run("validate", declared, "--json", "--tools", f"{server}={listing}").exits(1).out)["findings"]
        same(("first declare its server, `servers: { mail: { trust: inside } }`" in found["message"], "a guess to be checked" in found["message"]), (first, True))


@test
def validate_says_that_conditions_were_not_checked_against_schemas(t):
    head = "interlock: 1\nmachine: trifecta\nservers: {s: {trust: inside}}\ntools:\n  - {match: s.pay, effects: []}\n"
    hint = "conditions that read `args` were not checked against what the tools take"
    asks = put(t, "asks.yaml", head + "rules: [{tools: s.pay, when: 'args.amount > \"5000\"', then: block}]\n")
    listing = put(t, "tools.json", json.dumps([{"name": "pay", "inputSchema": {"type": "object", "properties": {"amount": {"type": "string"}}, "required": ["amount"]}}]))
    for args, said in (((asks,), True), ((asks, "--tools", "s=" + listing), False), ((put(t, "plain.yaml", head),), False)):
        run = Run("validate", *args).exits(0)
        same(hint in run.out, said)


@test
def validate_does_not_ask_for_once_where_something_stays(t):
    tools = [{"name": "read"}, {"name": "write"}, {"name": "wrte"}, {"name": "share_file"}, {"name": "sendMail"}]
    proposed = {f["name"]: f["propose"] for f in compare(t, tools, 1)["findings"]}
    same(("sink" in proposed["s.share_file"], "sink: once?" in proposed["s.sendMail"]), (False, True))


def warnings(t, policy, code=0):
    report = json.loads(Run("validate", put(t, "policy.yaml", policy), "--json").exits(code).out)
    same((report["valid"], report["findings"]), (True, []))
    return [(w["warning"], w["name"], w["line"], w["col"]) for w in report["warnings"]]


@test
def validate_warns_of_effects_that_the_machine_does_not_model(t):
    policy = """interlock: 1
machine: trifecta
tools:
  - {match: own, effects: [commit]}
  - {match: key, effects: [secret]}
  - {match: read, effects: [sensitive, untrusted]}
approvals:
  for: [egress, commit]
"""
    same(warnings(t, policy), [("effect-not-modelled", "own", 4, 5), ("effect-not-modelled", "key", 5, 5), ("effect-not-modelled", "approvals", 8, 8)])
    run = Run("validate", str(t / "policy.yaml")).exits(0)
    run.says("policy.yaml:4:5: warning: `own`: machine `trifecta` does not model `commit`", "out").says("`secret`: it counts as `sensitive`", "out")
    run.says("3 entries for tools, 3 warnings", "out")
    same(warnings(t, policy.replace("[egress, commit]", "[egress]"))[2:], [])
    same(warnings(t, policy.replace("trifecta", str(ROOT / "machines/standard.yaml"))), [])


@test
def validate_warns_of_a_standing_sink_that_no_human_can_release(t):
    policy = """interlock: 1
machine: trifecta
servers: {s: {trust: inside}, far: {trust: outside}}
tools:
  - {match: s.once, effects: [egress], sink: once}
  - {match: s.post, effects: [egress]}
  - {match: s.said, effects: [egress], sink: standing}
  - {match: far.any, effects: []}
"""
    same(warnings(t, policy), [])
    same(warnings(t, policy + "approvals: {for: [commit]}\n"), [("effect-not-modelled", "approvals", 9, 18)])
    same(warnings(t, policy + "approvals: {expires: 1m}\n"), [("standing-sink", "s.post", 6, 5), ("standing-sink", "far.any", 8, 5)])


@test
def validate_warns_of_a_server_that_is_not_declared(t):
    policy = """interlock: 1
machine: trifecta
tools:
  - {match: own, effects: []}
  - {match: "(z|w).x", effects: []}
  - {match: [z.other, "*.all"], effects: []}
"""
    same(warnings(t, policy), [("undeclared-server", "z", 5, 5), ("undeclared-server", "w", 5, 5)])
    Run("validate", str(t / "policy.yaml")).exits(0).says("policy.yaml:5:5: warning: server `z` is not declared in `servers` and judged as outside", "out")
    same(warnings(t, policy.replace("tools:", "servers: {z: {trust: outside}, w: {trust: inside}}\ntools:")), [])


@test
def validate_warns_of_a_pattern_that_a_preset_beats(t):
    head = "interlock: 1\nmachine: standard\nservers: {memory: {use: memory@1}}\n"
    policy = head + 'tools:\n  - {match: "memory.(read|open)_*", effects: []}\n  - {match: memory.open_nodes, effects: [sensitive]}\n'
    same(warnings(t, policy), [("pattern-beaten", "memory.(read|open)_*", 5, 5)])
    Run("validate", put(t, "policy.yaml", policy)).exits(0).says("`memory.read_graph` of memory@1: an exact name beats a pattern", "out")
    same(warnings(t, policy.replace("(read|open)", "open")), [])
    same(warnings(t, head + 'tools:\n  - {match: memory.read_graph, effects: []}\n'), [])


@test
def validate_warns_of_approvals_on_a_machine_without(t):
    put(t, "m.yaml", test_harden.SMALL)
    same(warnings(t, "interlock: 1\nmachine: ./m.yaml\ntools: [{match: a, effects: []}]\napprovals: {expires: 1m}\n"),
         [("approvals-not-modelled", "approvals", 4, 1)])


@test
def validate_counts_in_words(t):
    Run("validate", put(t, "p.yaml", "interlock: 1\nmachine: trifecta\ntools: [{match: a, effects: []}]\n")).exits(0).says(", 1 entry for tools\n", "out")
    policy = put(t, "policy.yaml", POLICY)
    run = Run("validate", policy, "--tools", "s=" + put(t, "tools.json", json.dumps(TOOLS))).exits(1)
    run.says("4 entries for tools, 1 warning; 3 listed tools, 2 findings", "out").says("policy.yaml:7:5: finding: `s.wrte` matches no tool", "out")


@test
def validate_names_the_way_to_list_a_domain(t):
    for kind, text, says in (("email", "corp.example", '"@corp.example"'), ("email", "*@corp.example", '"@corp.example"'), ("email", "*.corp.example", '"@corp.example"'),
                             ("host", "*.corp.example", "`.corp.example`"), ("email", "a b@corp.example", "`a b@corp.example`: not an email address: its name")):
        Run("validate", put(t, "p.yaml", f"interlock: 1\nmachine: trifecta\nours: {{{kind}: [\"{text}\"]}}\ntools: [{{match: a, effects: []}}]\n")).refuses(True).says(says)


@test
def validate_names_what_approvals_can_be_for(t):
    Run("validate", put(t, "p.yaml", POLICY + "approvals: {for: [untrusted]}\n")).refuses(True).says("`untrusted`").says("`egress` and `commit`")


@test
def validate_proposals_can_be_pasted(t):
    """Every proposal for every tool of the real servers is accepted as an entry, and then nothing is unlabelled."""
    folder = ROOT / "tests/data/tool-lists"
    lists = sorted(folder.glob("*.json"))
    if not lists:
        raise Failure("no tool lists")
    for path in lists:
        name = path.stem
        policy = f"interlock: 1\nmachine: trifecta\nservers:\n  {name}: {{trust: inside}}\ntools:\n  - {{match: x.none, effects: []}}\n"
        run = Run("validate", put(t, "policy.yaml", policy), "--json", "--tools", f"{name}={path}").exits(1)
        findings = json.loads(run.out)["findings"]
        if not findings or not all(f["finding"] == "unlabelled-tool" and f["propose"] for f in findings):
            run.fail("want a proposal for each tool")
        pasted = policy + "".join(f"  {f['propose']}\n" for f in findings)
        run = Run("validate", put(t, "policy.yaml", pasted), "--json", "--tools", f"{name}={path}").exits(0)
        same(json.loads(run.out)["findings"], [])


@test
def validate_reads_a_list_in_each_form(t):
    whole = [{"name": "read"}, {"name": "write"}, {"name": "wrte"}]
    for listing in (whole, {"tools": whole}, {"jsonrpc": "2.0", "id": 1, "result": {"tools": whole, "nextCursor": None}}):
        same(compare(t, listing, 0)["findings"], [])


@test
def validate_refuses_a_list_that_is_none(t):
    policy = put(t, "policy.yaml", POLICY)
    Run("validate", policy, "--tools", "s=" + put(t, "a.json", '{"tools": 5}')).refuses(True).says("a.json")
    Run("validate", policy, "--tools", "s=" + put(t, "b.json", '[{"title": "x"}]')).refuses(True).says("name")
    Run("validate", policy, "--tools", "s=" + put(t, "c.json", '[')).refuses(True)
    Run("validate", policy, "--tools", "s=" + str(t / "none.json")).refuses().says("none.json")
    for bad in ("s", "=x", "s="):
        Run("validate", policy, "--tools", bad).refuses().says("SERVER=FILE")


@test
def validate_a_tool_name_that_no_policy_can_name(t):
    report = compare(t, [{"name": "read"}, {"name": "write"}, {"name": "wrte"}, {"name": "a b\x1b"}], 1)
    same([(f["finding"], f["propose"]) for f in report["findings"]], [("unlabelled-tool", None)])


@test
def validate_json_says_where_it_is_wrong(t):
    run = Run("validate", put(t, "policy.yaml", POLICY.replace("sensitive]}\n  - {match: \"s", "sensitiv]}\n  - {match: \"s")), "--json").exits(3)
    report = json.loads(run.out)
    same((report["valid"], report["error"]["line"], report["error"]["col"]), (False, 6, 31))
    run.says("policy.yaml:6:31: error: ")


@test
def validate_usage(t):
    Run("validate").refuses()
    Run("validate", "a", "b").refuses()
    Run("validate", put(t, "p.yaml", POLICY), "--json", "--json").refuses().says("twice")


# --- a machine of one's own ------------------------------------------------------------------------
def with_machine(t, text, mode=0o600):
    put(t, "m.yaml", text, mode)
    return put(t, "policy.yaml", POLICY.replace("machine: trifecta", "machine: ./m.yaml"))


@test
def validate_proves_a_machine_of_ones_own(t):
    run = Run("validate", with_machine(t, TRIFECTA.replace("machine: trifecta", "machine: mine", 1)), "--json").exits(0)
    same(json.loads(run.out)["machine"], "mine")
    # The policy's folder counts, not the one where the command runs.
    Run("validate", str(t / "policy.yaml"), cwd="/").exits(0)


@test
def validate_refuses_a_machine_that_is_not_mediated(t):
    guard = "      - {as: lethal-trifecta, if: \"(both) && (liveout)\"}\n"
    if guard not in TRIFECTA:
        raise Failure("the guard was not found")
    Run("validate", with_machine(t, TRIFECTA.replace(guard, "", 1))).refuses(True).says("not fully mediated").says("m.yaml")


BAD_MACHINES = {
    "that is not there": (None, "m.yaml"),
    "that is empty": ("", "empty"),
    "that is binary": (bytes(range(256)), "m.yaml"),
    "of 100 MB": (BIG, "bytes"),
    "with a misspelt key": (TRIFECTA.replace("regions:", "region:", 1), "region"),
    "with an undeclared variable": (TRIFECTA.replace("next.untrusted != 'none'", "next.untrustd != 'none'", 1), "untrustd"),
}


def bad_machine(t, text, word):
    path = with_machine(t, text or "")
    if text is None:
        os.unlink(t / "m.yaml")
    Run("validate", path).refuses(True).says(word)


for _name, (_text, _word) in BAD_MACHINES.items():
    case(f"validate: a machine {_name}", lambda t, x=_text, w=_word: bad_machine(t, x, w))


@test
def validate_refuses_a_machine_that_others_may_write(t):
    Run("validate", with_machine(t, TRIFECTA, 0o622)).refuses(True).says("m.yaml")


@test
def check_runs_on_a_machine_of_ones_own(t):
    policy = with_machine(t, TRIFECTA)
    line = json.dumps({"steps": [{"tool": "s.read"}, {"tool": "other.thing"}]}) + "\n"
    run = Run("check", "--policy", policy, "--json", stdin=line).exits(1)
    same([d["action"] for d in json.loads(run.out.splitlines()[0])["decisions"]], ["allow", "block"])


# --- init -----------------------------------------------------------------------------------------
@test
def init_prints_and_writes_the_same(t):
    printed = Run("init", "-").exits(0).says("without it every denial is final", "out").out
    Run("init", cwd=t).exits(0)
    same((t / "policy.yaml").read_text(), printed)
    if (t / "policy.yaml").stat().st_mode & 0o022:
        raise Failure("others may write it")
    same(sorted(p.name for p in t.iterdir()), ["policy.yaml"])


@test
def init_labels_the_filesystem_server(t):
    Run("init", str(t / "p.yaml")).exits(0)
    Run("validate", str(t / "p.yaml"), "--tools", f"files={ROOT / 'tests/data/tool-lists/filesystem.json'}").exits(0)


@test
def init_never_follows_a_link(t):
    os.symlink(t / "target", t / "policy.yaml")
    Run("init", cwd=t).refuses()
    if (t / "target").exists():
        raise Failure("init wrote through a dangling link")
    Run("init", "a", "b").refuses()
