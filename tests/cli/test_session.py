# SPDX-License-Identifier: Apache-2.0
"""session and approvals, on ledgers that a real gateway wrote."""
import json
import os
import sqlite3
import subprocess
import sys
import time

from run import HANG, INTERLOCK, Failure, ROOT, Run, case, put, test

POLICY = """interlock: 1
machine: trifecta
servers:
  t: {trust: inside}
tools:
  - {match: t.fetch, effects: [untrusted]}
  - {match: t.read, effects: [sensitive]}
  - {match: t.send, effects: [egress], sink: once, audience: addressed, to: {email: to}, reads: [body]}
  - {match: t.post, effects: [egress]}
approvals: {expires: 10m}
"""
# Runs every call, and answers only after it has; keeps a list of what ran.
SERVER = """
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m: continue
    if m["method"] == "initialize":
        r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}}
    elif m["method"] == "tools/call" and "hang" in m["params"]["arguments"]:
        continue
    elif m["method"] == "tools/call":
        print(m["params"]["name"], file=open(sys.argv[1], "a"))
        r = {"content": [{"type": "text", "text": "ran " + m["params"]["name"]}]}
    else:
        r = {}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"""
SEND = ("send", {"to": "eve@evil.example", "body": "hi"})


def gateway(t, *calls, session="demo", policy=POLICY):
    """Makes the calls one after the other in a session; returns which tools ran."""
    ran = t / "ran"
    ran.write_text("")
    lines = [{"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}},
             {"method": "notifications/initialized"}]
    lines += [{"id": i, "method": "tools/call", "params": {"name": name, "arguments": args}} for i, (name, args) in enumerate(calls, 2)]
    Run("gateway", "--policy", put(t, "policy.yaml", policy), "--name", "t", "--session", session, "--ledger", str(t / "ledger.db"), "--",
        sys.executable, put(t, "server.py", SERVER), str(ran), stdin="".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)).exits(0)
    cli(t, "ledger", "verify").exits(0)  # whatever a gateway wrote is whole
    return ran.read_text().split()


def cli(t, *args):
    return Run(*args, "--ledger", str(t / "ledger.db"))


def read(t, *args):
    return json.loads(cli(t, *args, "--json").exits(0).out)


def same(got, want):
    if got != want:
        raise Failure(f"got  {got!r}\nwant {want!r}")


@test
def session_show_lists_every_call(t):
    same(gateway(t, ("fetch", {}), ("read", {}), SEND, ("post", {}), ("nothing", {})), ["fetch", "read"])
    shown = read(t, "session", "show", "demo")
    same([(c["ticket"], c["tool"], c["effects"], c["action"], c["layer"], c["reason"]) for c in shown["calls"]], [
        (1, "t.fetch", ["untrusted"], "allow", None, None),
        (2, "t.read", ["sensitive"], "allow", None, None),
        (0, "t.send", ["egress"], "require_approval", "machine", "lethal-trifecta"),
        (0, "t.post", ["egress"], "block", "machine", "lethal-trifecta"),
        (0, "t.nothing", [], "block", "labeller", "unlabelled-tool")])
    same(shown["state"] | {"granted": "0"}, {"untrusted": "held", "sensitive": "held", "flight": "false", "open": "false", "crossing": "false", "asked": "1",
                                             "granted": "0", "phase": "live"})
    same((shown["machine"], shown["counted"], shown["unenforced"], shown["quarantined"], shown["open"]), ("trifecta", ["untrusted", "sensitive"], False, False, []))
    same([(a["state"], a["tool"], a["reason"]) for a in shown["approvals"]], [("asked", "t.send", "lethal-trifecta")])
    cli(t, "session", "show", "demo").exits(0).says("untrusted=held", "out").says("require_approval (machine: lethal-trifecta)", "out")


@test
def session_why_names_the_calls_that_brought_it(t):
    gateway(t, ("fetch", {}), ("fetch", {}), ("read", {}), ("post", {}))
    why = read(t, "session", "why", "demo")
    same([(c["effect"], c["ticket"], c["tool"]) for c in why["counts"]], [("untrusted", 1, "t.fetch"), ("sensitive", 3, "t.read")])
    same((why["denied"]["tool"], why["denied"]["reason"], why["denied"]["effects"]), ("t.post", "lethal-trifecta", ["egress"]))
    same([(s["effect"], s["ticket"], s["tool"]) for s in why["denied"]["sources"]], [("untrusted", 1, "t.fetch"), ("sensitive", 3, "t.read")])
    same([(n["effects"], n["allowed"]) for n in why["next"]], [([], True), (["untrusted"], True), (["sensitive"], True), (["egress"], False), (["egress"], False)])
    if not all(isinstance(c["time_ms"], int) for c in why["counts"]) or "private data" not in why["denied"]["sentence"]:
        raise Failure(str(why))
    cli(t, "session", "why", "demo").exits(0).says("since call 3, t.read", "out").says("last denial: t.post", "out")


@test
def session_why_says_what_the_machine_tells_apart(t):
    """Of secrets and changes for good where the machine has a rule on them: the demo's, on `standard`."""
    gateway(t, ("fetch", {}), policy=POLICY.replace("machine: trifecta", "machine: standard"))
    said = [(n["effects"], n["allowed"], n["reason"]) for n in read(t, "session", "why", "demo")["next"]]
    same(said[-2:], [(["secret"], True, None), (["commit"], False, "tainted-commit")])
    cli(t, "session", "why", "demo").exits(0).says("changing something for good                          denied (tainted-commit", "out")


@test
def session_why_tells_what_every_file_counts_as(t):
    """A relative name is any file, where the policy does not say from where it counts."""
    writes = POLICY.replace("approvals:", "  - {match: t.write, effects: [], stores: {path: path}}\napprovals:")
    for session, policy, want in (("a", writes.replace("trust: inside", "trust: inside, cwd: /w"), []), ("b", writes, ["sensitive"])):
        gateway(t, ("read", {}), ("write", {"path": "notes.txt"}), session=session, policy=policy)
        same(read(t, "session", "why", session)["everywhere"], want)
        run = cli(t, "session", "why", session).exits(0)
        same("every file of this ledger's sessions counts as sensitive, for good" in run.out and "cwd: FOLDER" in run.out, bool(want))


@test
def session_why_of_a_clean_session(t):
    gateway(t)
    why = read(t, "session", "why", "demo")
    same((why["counts"], why["denied"], [n["allowed"] for n in why["next"]]), ([], None, [True] * 5))
    cli(t, "session", "why", "demo").exits(0).says("no call was denied", "out")


@test
def session_list_shows_the_newest_first(t):
    gateway(t, ("fetch", {}), session="one")
    gateway(t, ("read", {}), session="two")
    same([(s["id"], s["phase"], s["counted"]) for s in read(t, "session")["sessions"]], [("two", "live", ["sensitive"]), ("one", "live", ["untrusted"])])
    cli(t, "session", "end", "two").exits(0)
    same([(s["id"], s["phase"]) for s in read(t, "session", "list")["sessions"]], [("two", "ended"), ("one", "live")])


@test
def session_usage(t):
    gateway(t)
    for args in (["show"], ["show", "a", "b"], ["list", "a"], ["nonsense"], ["end"]):
        cli(t, "session", *args).refuses()
    cli(t, "session", "end", "nobody").refuses().says("nobody")
    Run("session", "--ledger", str(t / "none.db")).refuses().says("none.db")
    if (t / "none.db").exists():
        raise Failure("looking made a ledger")


@test
def session_say_notes_what_was_typed(t):
    gateway(t)
    cli(t, "session", "say", "demo", "--text", "to bo@corp.example").exits(0).says("noted ", "out").says("(18 bytes)", "out").says("could say so in a human's place")
    Run("session", "say", "demo", "-", "--ledger", str(t / "ledger.db"), stdin="to cy@corp.example").exits(0).says("noted ", "out")
    Run("session", "say", "demo", "-", "--ledger", str(t / "ledger.db"), stdin="to bo@corp.example").exits(0).says("was noted before: ", "out")
    Run("session", "say", "demo", "-", "--ledger", str(t / "ledger.db"), stdin="").exits(0).says("nothing was said", "out")
    shown = read(t, "session", "show", "demo")
    same([len(s["digest"]) for s in shown["said"]], [64, 64])
    cli(t, "ledger", "verify").exits(0)
    cli(t, "session", "end", "demo").exits(0)
    cli(t, "session", "say", "demo", "--text", "late").refuses().says("ended")
    cli(t, "session", "say", "demo", "--text", "to bo@corp.example").refuses().says("ended")  # also what was noted before


@test
def session_say_tells_what_it_may_vouch_for(t):
    mute = POLICY.replace("audience: addressed, ", "")
    gateway(t, ("fetch", {}), policy=mute)
    none = "note: no tool of this session's policy is vouched by what is typed"
    say = ("session", "say", "demo", "--text", "to bo@corp.example")
    cli(t, *say).exits(0).says("`sink: once` and `audience: addressed`").says("`--policy POLICY` tells")
    cli(t, *say, "--policy", str(t / "policy.yaml")).exits(0).says(none)
    cli(t, *say, "--policy", put(t, "other.yaml", POLICY)).exits(0).says("is not the policy that this session is bound to")
    for policy in (POLICY, mute.replace("effects: [egress]}", "effects: [commit], object: {name: id}}")):  # a commit has no readers
        session = "b" + str(len(policy))
        gateway(t, ("fetch", {}), policy=policy, session=session)
        run = cli(t, "session", "say", session, "--text", "to bo@corp.example", "--policy", str(t / "policy.yaml")).exits(0)
        same("note: no tool" in run.err or "`--policy" in run.err, False)
    gateway(t, ("fetch", {}), policy=POLICY.replace("trust: inside", "trust: outside"), session="far")
    cli(t, "session", "say", "far", "--text", "to bo@corp.example", "--policy", str(t / "policy.yaml")).exits(0).says(none)


@test
def session_say_refuses(t):
    gateway(t)
    say = ("session", "say", "demo")
    for args in (say, (*say, "what"), (*say, "-", "--text", "a"), (*say, "--text", "a", "--json"), ("session", "say"), ("session", "say", "--text", "a"),
                 ("session", "show", "demo", "--text", "a"), ("session", "say", "nobody", "--text", "a"), ("session", "say", "", "--text", "a")):
        cli(t, *args).refuses()
    Run(*say, "-", "--ledger", str(t / "ledger.db"), stdin=b"\xff").refuses().says("no UTF-8")
    Run(*say, "-", "--ledger", str(t / "ledger.db"), stdin="a " * 65536).exits(0)
    Run(*say, "-", "--ledger", str(t / "ledger.db"), stdin="a " * 65536 + "b").refuses().says("pasted")
    Run(*say, "--text", "a", "--ledger", str(t / "none.db")).refuses().says("none.db")
    same((t / "none.db").exists(), False)


@test
def session_of_a_damaged_record(t):
    gateway(t, ("fetch", {}))
    db = sqlite3.connect(t / "ledger.db")
    state = db.execute("select state from objects").fetchone()[0]
    db.execute("update objects set state = ?", (state[:-1],))
    db.commit()
    db.close()
    cli(t, "session", "show", "demo").refuses()
    same(read(t, "session")["sessions"][0]["phase"], "damaged")


@test
def approvals_release_exactly_one_call(t):
    same(gateway(t, ("fetch", {}), ("read", {}), SEND), ["fetch", "read"])
    (waiting,) = read(t, "approvals")["approvals"]
    same({k: waiting[k] for k in ("session", "state", "tool", "effects", "reason", "destinations")},
         {"session": "demo", "state": "asked", "tool": "t.send", "effects": ["egress"], "reason": "lethal-trifecta", "destinations": ["eve@evil.example"]})
    cli(t, "approvals", "approve", waiting["id"]).exits(0).says(waiting["id"], "out").says("same user")
    cli(t, "approvals", "approve", waiting["id"]).refuses()
    same(read(t, "approvals", "list")["approvals"][0]["state"], "granted")
    same(gateway(t, ("send", {"to": "eve@evil.example", "body": "other"})), [])  # other arguments
    same(gateway(t, SEND), ["send"])
    same(gateway(t, SEND), [])
    cli(t, "approvals", "approve", waiting["id"]).refuses().says(waiting["id"])
    db = sqlite3.connect(t / "ledger.db")
    ((body,),) = db.execute("select body from rows where kind = 'approve'").fetchall()
    db.close()
    if not json.loads(body)["by"]:
        raise Failure("nobody is recorded as the one who approved")


@test
def approvals_are_answered_by_their_whole_id(t):
    gateway(t, ("fetch", {}), ("read", {}), SEND)
    (waiting,) = read(t, "approvals")["approvals"]
    cli(t, "approvals", "approve", waiting["id"][:6]).refuses().says(f"begins so is `{waiting['id']}`: name it by its whole id")
    cli(t, "approvals", "approve", "x" + waiting["id"][1:6]).refuses().says("it may be answered, expired or void")
    same(read(t, "approvals")["approvals"][0]["state"], "asked")


MORE = [("send", {"to": f"{who}@evil.example", "body": "hi"}) for who in ("a", "b", "c")]


@test
def a_call_that_finds_no_room_to_wait_is_told_so(t):
    """The machine counts two requests: a third call is blocked, which is no last word."""
    gateway(t, ("fetch", {}), ("read", {}), *MORE[:2])
    first = read(t, "approvals")["approvals"][0]["id"]
    live = Live(t)
    try:
        denied = live.call("send", **MORE[2][1])
        text = denied["content"][0]["text"]
        same((denied["_meta"]["interlock/decision"]["action"], denied["_meta"]["interlock/decision"]["rule"]), ("block", "lethal-trifecta"))
        if "2 requests of this session wait for a human already, as many as can be. ask the user to answer one" not in text or "do not retry" in text:
            raise Failure(text)
    finally:
        live.end()
    run = cli(t, "session", "why", "demo").exits(0).says("2 requests of this session wait for a human already: one that is answered makes room\n", "out")
    run.says("denied (lethal-trifecta) while 2 requests wait already: one that is answered makes room for it\n", "out")
    same(nexts(t), [(False, True), (False, False)])
    cli(t, "session", "why", "demo", "--policy", str(t / "policy.yaml")).exits(0).says("while 2 requests wait already", "out")
    cli(t, "approvals", "deny", first).exits(0)
    cli(t, "session", "why", "demo").exits(0).says("waits for a human (lethal-trifecta)\n", "out")
    gateway(t, MORE[2])
    same(len(read(t, "approvals")["approvals"]), 2)


@test
def what_expired_does_not_wait_for_session_why(t):
    """A request that expired takes no room: the session's next use would free it."""
    gateway(t, ("fetch", {}), ("read", {}), *MORE[:2], policy=POLICY.replace("10m", "1s"))
    time.sleep(1.1)
    cli(t, "session", "why", "demo").exits(0).says("waits for a human (lethal-trifecta)\n", "out")
    same(nexts(t), [(False, True), (False, False)])


@test
def session_show_says_that_a_machine_has_no_regions(t):
    for policy, said in ((POLICY, False), (POLICY.replace("trifecta", "rules-only"), True)):
        gateway(t, ("fetch", {}), session="s-" + str(said).lower(), policy=policy)
        shown = cli(t, "session", "show", "s-" + str(said).lower()).exits(0).out
        same("(no regions: it rejects nothing" in shown, said)


@test
def a_call_that_a_rule_would_have_asked_is_told_the_same(t):
    policy = POLICY + "rules: [{name: asks, tools: t.send, when: 'true', then: require_approval}]\n"
    gateway(t, *MORE[:2], policy=policy)
    live = Live(t, policy)
    try:
        text = live.call("send", **MORE[2][1])["content"][0]["text"]
        if text.count("2 requests of this session wait for a human already") != 1 or "answer one" not in text or "do not retry" in text:
            raise Failure(text)
    finally:
        live.end()


@test
def an_approval_names_the_key_without_which_typed_words_do_not_count(t):
    """Another entry of the policy is vouched by them, so the session knows what was typed."""
    policy = POLICY.replace("sink: once, audience: addressed, to: {email: to}, reads: [body]}",
                            "sink: once, to: {email: to}, reads: [body]}\n  - {match: t.dm, effects: [egress], sink: once, audience: addressed, to: {email: to}}")
    gateway(t, ("fetch", {}), ("read", {}), policy=policy)
    cli(t, "session", "say", "demo", "--text", "to eve@evil.example").exits(0)
    gateway(t, SEND, policy=policy)
    cli(t, "approvals").exits(0).says("others than the addressee may read there (entry `t.send` does not say `audience: addressed`)\n", "out")


@test
def the_model_is_told_the_name_that_it_may_have_meant(t):
    live = Live(t)
    try:
        for tool, said in (("snd", True), ("nothing", False)):
            text = live.call(tool)["content"][0]["text"]
            if "the policy has no entry for this tool" not in text or (", but one for `t.send`. tell the user." in text) != said:
                raise Failure(text)
    finally:
        live.end()


@test
def approvals_deny_is_final_for_that_request(t):
    gateway(t, ("fetch", {}), ("read", {}), SEND)
    (waiting,) = read(t, "approvals")["approvals"]
    cli(t, "approvals", "deny", waiting["id"]).exits(0)
    same(read(t, "approvals")["approvals"], [])
    cli(t, "approvals", "approve", waiting["id"]).refuses()
    same(gateway(t, SEND), [])


@test
def approvals_find_their_session_among_many(t):
    for session in ("a", "b", "c"):
        gateway(t, ("fetch", {}), ("read", {}), SEND, session=session)
    gateway(t, ("fetch", {}), session="d")
    waiting = {a["session"]: a["id"] for a in read(t, "approvals")["approvals"]}
    same(sorted(waiting), ["a", "b", "c"])
    same([a["session"] for a in read(t, "approvals", "list", "--session", "b")["approvals"]], ["b"])
    cli(t, "approvals", "approve", waiting["b"]).exits(0)
    same({a["session"]: a["state"] for a in read(t, "approvals")["approvals"]}, {"a": "asked", "b": "granted", "c": "asked"})


@test
def approvals_text_and_usage(t):
    gateway(t)
    cli(t, "approvals").exits(0).says("nothing waits", "out")
    for args in (["approve"], ["list", "a"], ["deny", "a", "b"], ["nonsense"]):
        cli(t, "approvals", *args).refuses()
    gateway(t, ("fetch", {}), ("read", {}), SEND)
    shown = cli(t, "approvals").exits(0).says("t.send [egress]", "out").says("eve@evil.example", "out")
    shown.says("not vouched: argument `to`: an email is not listed", "out").says("since    untrusted from t.fetch (call 1), sensitive from t.read (call 2)", "out")
    (waiting,) = read(t, "approvals")["approvals"]
    same([(w["effect"], w["tool"], w["ticket"]) for w in waiting["witnesses"]], [("untrusted", "t.fetch", 1), ("sensitive", "t.read", 2)])
    same([(v["argument"], v["why"]) for v in waiting["values"]], [("to", "nothing speaks for it")])


@test
def approvals_are_given_where_the_policy_says(t):
    gateway(t, ("fetch", {}), ("read", {}), SEND, policy=POLICY.replace("expires: 10m", "where: [notification]"))
    (waiting,) = read(t, "approvals")["approvals"]
    cli(t, "approvals").exits(0).says("asked    in the client's own dialogue only", "out")
    cli(t, "approvals", "approve", waiting["id"]).refuses().says("`approvals: where:`")
    same(read(t, "approvals")["approvals"][0]["state"], "asked")
    cli(t, "approvals", "deny", waiting["id"]).exits(0)


@test
def approvals_need_a_ledger_that_may_be_written(t):
    gateway(t, ("fetch", {}), ("read", {}), SEND)
    (waiting,) = read(t, "approvals")["approvals"]
    os.chmod(t / "ledger.db", 0o400)
    cli(t, "approvals", "approve", waiting["id"]).refuses().says("read-only")
    os.chmod(t / "ledger.db", 0o600)


# --- a ledger that goes bad while the gateway runs: every decision is a block of layer fault ------
class Live:
    """A gateway that is spoken to one call at a time."""

    def __init__(self, t, policy=POLICY):
        (t / "ran").write_text("")
        self.t, self.n = t, 1
        self.process = subprocess.Popen(
            [INTERLOCK, "gateway", "--policy", put(t, "policy.yaml", policy), "--name", "t", "--session", "demo", "--ledger", str(t / "ledger.db"), "--",
             sys.executable, put(t, "server.py", SERVER), str(t / "ran")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}})
        self.process.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def ask(self, method, params):
        self.n += 1
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.n, "method": method, "params": params}) + "\n")
        self.process.stdin.flush()
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise Failure("the gateway ended: " + self.process.stderr.read())
            answer = json.loads(line)
            if answer.get("id") == self.n:
                return answer

    def call(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=HANG)


def replaced(path):
    other = path.with_name("other.db")
    other.write_bytes(path.read_bytes())
    os.chmod(other, 0o600)
    os.rename(other, path)


def newer(path):
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 9999")
    db.commit()
    db.close()


RUNNING = {
    "is made read-only": lambda path: os.chmod(path, 0o400),
    "may be written by others": lambda path: os.chmod(path, 0o666),
    "is replaced": replaced,
    "is removed": os.unlink,
    "is cut short": lambda path: os.truncate(path, 4096),
    "is emptied": lambda path: os.truncate(path, 0),
    "becomes newer": newer,
}


def running_ledger(t, damage):
    live = Live(t)
    try:
        if live.call("read").get("isError"):
            raise Failure("the first call must pass")
        damage(t / "ledger.db")
        for _ in range(2):
            denied = live.call("fetch")
            decision = denied.get("_meta", {}).get("interlock/decision", {})
            if not denied.get("isError") or decision.get("action") != "block" or decision.get("layer") != "fault":
                raise Failure(f"want a block of layer fault, got {denied}")
        same((t / "ran").read_text().split(), ["read"])
    finally:
        live.end()


for _name, _damage in RUNNING.items():
    case(f"gateway: a ledger that {_name} while it runs", lambda t, d=_damage: running_ledger(t, d))


@test
def a_session_on_a_machine_of_ones_own_is_read_with_its_policy(t):
    put(t, "m.yaml", (ROOT / "machines/trifecta.yaml").read_text().replace("machine: trifecta", "machine: mine", 1))
    gateway(t, ("fetch", {}), ("read", {}), SEND, policy=POLICY.replace("machine: trifecta", "machine: m.yaml"))
    policy = ["--policy", str(t / "policy.yaml")]
    cli(t, "session", "show", "demo").refuses().says("--policy")
    same(read(t, "session", "show", "demo", *policy)["machine"], "mine")
    same([(s["id"], s["phase"], s["counted"]) for s in read(t, "session")["sessions"]], [("demo", "unknown", ["untrusted", "sensitive"])])
    cli(t, "session").exits(0).says("unknown", "out").says("session show ID --policy POLICY")
    (waiting,) = read(t, "approvals")["approvals"]
    same((waiting["reason"], waiting["tool"]), (None, "t.send"))
    cli(t, "approvals", "approve", waiting["id"]).refuses().says("--policy")
    same(read(t, "approvals", *policy)["approvals"][0]["reason"], "lethal-trifecta")
    cli(t, "approvals", "approve", waiting["id"], *policy).exits(0)
    cli(t, "session", "end", "demo", *policy).exits(0)
    put(t, "policy.yaml", POLICY)
    cli(t, "session", "show", "demo", *policy).refuses().says("another machine")


# --- what a denial and a refusal to go on tell -----------------------------------------------------
@test
def gateway_names_the_session_and_both_policies_when_it_is_bound(t):
    gateway(t, ("fetch", {}))
    other = put(t, "other.yaml", POLICY + "mode: enforce\n")
    theirs, ours = (json.loads(Run("validate", path, "--json").exits(0).out)["fingerprint"][:12] for path in (str(t / "policy.yaml"), other))
    run = Run("gateway", "--policy", other, "--session", "demo", "--ledger", str(t / "ledger.db"), "--", "true").refuses()
    run.says("session `demo` is bound to policy " + theirs).says("this one is " + ours).says("`interlock session end`").says("another id")


@test
def the_model_is_told_why_a_call_counts_as_sending_and_is_final(t):
    server = POLICY.replace("trust: inside", "trust: outside").replace("approvals:", "  - {match: t.note, effects: []}\napprovals:")
    live = Live(t)
    try:
        for tool in ("fetch", "read"):
            live.call(tool)
        text = live.call("post")["content"][0]["text"]
        if "its way out is standing, so no human can release it" not in text or "outside" in text:
            raise Failure(text)
        text = live.call("send")["content"][0]["text"]
        if "standing" in text:
            raise Failure(text)
    finally:
        live.end()
    os.unlink(t / "ledger.db")
    live = Live(t, server)
    try:
        live.call("note")
        text = live.call("read")["content"][0]["text"]
        if "it counts as sending because its server is outside" not in text:
            raise Failure(text)
    finally:
        live.end()


# --- why, show and the list know approvals, and the trail can be read -------------------------------
def nexts(t, *args):
    return [(n["allowed"], n["human"]) for n in read(t, "session", "why", "demo", *args)["next"]][3:]


@test
def session_why_of_a_held_call_says_how_to_release_it(t):
    gateway(t, ("fetch", {}), ("read", {}), SEND)
    (waiting,) = read(t, "approvals")["approvals"]
    why = read(t, "session", "why", "demo")
    same(why["denied"]["request"], {"id": waiting["id"], "state": "waits", "by": None, "expires_ms": waiting["expires_ms"]})
    same((why["denied"]["standing"], nexts(t)), (False, [(False, True), (False, False)]))
    run = cli(t, "session", "why", "demo").exits(0).says(f"request {waiting['id']}: waits for a human until 20", "out")
    run.says(f"\n  to release it once: interlock approvals approve {waiting['id']} --ledger {t / 'ledger.db'}\n", "out")
    run.says("waits for a human (lethal-trifecta)\n", "out").says("denied (lethal-trifecta), final\n", "out")
    cli(t, "approvals", "approve", waiting["id"]).exits(0)
    cli(t, "session", "why", "demo").exits(0).says(f"request {waiting['id']}: approved, not used yet, answered by ", "out")
    gateway(t, SEND)
    same(read(t, "session", "why", "demo")["denied"]["request"]["state"], "used")


@test
def session_why_says_what_the_policy_would_release_only_when_it_is_known(t):
    final = POLICY.replace("approvals: {expires: 10m}\n", "")
    gateway(t, ("fetch", {}), ("read", {}), policy=final)
    policy = str(t / "policy.yaml")
    same(nexts(t), [(False, None), (False, False)])
    cli(t, "session", "why", "demo").exits(0).says("denied (lethal-trifecta), unless the policy's `approvals` let a human release it\n", "out")
    same(nexts(t, "--policy", policy), [(False, False), (False, False)])
    same(nexts(t, "--policy", put(t, "other.yaml", POLICY)), [(False, None), (False, False)])  # another policy than the session's
    gateway(t, SEND, policy=final)
    same(nexts(t), [(False, False), (False, False)])


@test
def session_why_names_a_standing_way_out(t):
    gateway(t, ("fetch", {}), ("read", {}), ("post", {}))
    same(read(t, "session", "why", "demo")["denied"]["standing"], True)
    cli(t, "session", "why", "demo").exits(0).says("its way out is standing", "out")


@test
def session_show_says_who_released_what(t):
    gateway(t, ("fetch", {}), ("read", {}), SEND, ("send", {"to": "x@y.example", "body": ""}))
    first, second = (a["id"] for a in sorted(read(t, "approvals")["approvals"], key=lambda a: a["expires_ms"]))
    cli(t, "approvals", "approve", first).exits(0)
    cli(t, "approvals", "deny", second).exits(0)
    gateway(t, SEND)
    calls = read(t, "session", "show", "demo")["calls"]
    by = calls[2]["request"]["by"]
    if not by:
        raise Failure("nobody is named")
    same([c["request"] for c in calls], [None, None, {"id": first, "state": "used", "by": by}, {"id": second, "state": "denied", "by": by},
                                         {"id": first, "state": "used", "by": by}])
    run = cli(t, "session", "show", "demo").exits(0).says(f"require_approval (machine: lethal-trifecta), request {second} denied by {by}\n", "out")
    run.says(f"allow, request {first} approved by {by}\n", "out")


@test
def session_trail_prints_the_rows_with_their_hashes(t):
    gateway(t, ("fetch", {}), session="other")
    gateway(t, ("fetch", {}), ("read", {}), SEND)
    printed = [json.loads(line) for line in cli(t, "session", "show", "demo", "--trail").exits(0).out.splitlines()]
    db = sqlite3.connect(t / "ledger.db")
    rows = db.execute("select seq, time_ms, kind, ticket, body, lower(hex(hash)) from rows where key = 'demo' order by seq").fetchall()
    db.close()
    same([(r["seq"], r["time_ms"], r["kind"], r["ticket"], r["body"], r["hash"]) for r in printed], [(*r[:4], json.loads(r[4]), r[5]) for r in rows])
    same(({r["session"] for r in printed}, [r["kind"] for r in printed][:2], len({r["hash"] for r in printed}) == len(printed) > 5), ({"demo"}, ["begin", "decision"], True))
    for args in (["show", "nobody"], ["show", ""]):
        cli(t, "session", *args, "--trail").refuses()
    cli(t, "session", "why", "demo", "--trail").refuses().says("`show`")


@test
def session_list_has_a_head_and_shows_ways_out_and_mode(t):
    gateway(t, ("post", {}), session="open")
    gateway(t, ("fetch", {}), session="seen", policy=POLICY + "mode: monitor\n")
    same([(s["id"], s["open"], s["unenforced"]) for s in read(t, "session")["sessions"]], [("seen", False, True), ("open", True, False)])
    lines = cli(t, "session").exits(0).out.splitlines()
    same((lines[0].split()[:4], lines[1].split()[2:], lines[2].split()[2:]),
         (["session", "changed", "state", "mode"], ["live", "monitor", "untrusted"], ["live", "enforce", "egress"]))


@test
def session_end_of_an_ended_session_says_so(t):
    gateway(t)
    cli(t, "session", "end", "demo").exits(0).says("ended demo\n", "out")
    cli(t, "session", "end", "demo").exits(0).says("demo had ended already\n", "out")


# --- a gateway that is killed leaves calls open ----------------------------------------------------
def killed(t, *tools):
    """A gateway dies with these calls open."""
    live = Live(t)
    for i, tool in enumerate(tools):
        live.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": f"hang{i}", "method": "tools/call", "params": {"name": tool, "arguments": {"hang": True}}}) + "\n")
    live.call("read")  # decided after them
    live.process.kill()
    live.process.wait()
    for pipe in (live.process.stdin, live.process.stdout, live.process.stderr):
        pipe.close()


@test
def what_a_killed_gateway_left_open_counts_as_the_worst(t):
    killed(t, "fetch", "fetch")
    same([c["settled"] for c in read(t, "session", "show", "demo")["calls"]], [None, None, "done"])
    live = Live(t)
    try:
        said = ""
        while "died" not in said:
            said = live.process.stderr.readline()
        if "2 calls that a gateway left open when it died count as the worst now" not in said:
            raise Failure(said)
        same([c["settled"] for c in read(t, "session", "show", "demo")["calls"]], ["recovered", "recovered", "done"])
        same([c["settled"] for c in read(t, "session", "why", "demo")["counts"]], ["recovered", "done"])
        cli(t, "session", "show", "demo").exits(0).says("allow (its process died: it counts as the worst)", "out")
        cli(t, "session", "why", "demo").exits(0).says("(its process died: it counts as the worst)", "out")
        if live.call("post").get("isError") is not True:
            raise Failure("the taint of a call that got no answer must hold")
    finally:
        live.end()


@test
def session_end_settles_what_a_dead_gateway_left_and_nothing_of_a_living_one(t):
    killed(t, "fetch")
    cli(t, "session", "end", "demo").exits(0).says("settled 1 call that a dead process had left open, as the worst\nended demo\n", "out")
    os.remove(t / "ledger.db")
    live = Live(t)
    live.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": "hang", "method": "tools/call", "params": {"name": "fetch", "arguments": {"hang": True}}}) + "\n")
    live.call("read")
    try:
        cli(t, "session", "end", "demo").refuses().says("busy")
        same([c["settled"] for c in read(t, "session", "show", "demo")["calls"]], [None, "done"])
    finally:
        live.process.kill()
        live.end()
