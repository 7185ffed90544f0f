# SPDX-License-Identifier: Apache-2.0
"""What the pages show is so: the smallest usable machine of docs/machine.md is proven, judges sessions, and is caught when its guard is
broken; docs/harden.md explains every check and finding; policies and configurations that are shown are good."""
import json
import os
import pathlib
import re
import shutil
import subprocess

from run import HANG, HELLO, INTERLOCK, SERVER, Failure, ROOT, Run, put, test

SMALLEST = (ROOT / "tests/machines/smallest.yaml").read_text()
PAGE = (ROOT / "docs/machine.md").read_text()
BLOCKS = [block.lstrip("\n") for block in re.split(r"^```.*$", PAGE, flags=re.M)[1::2]]
POLICY = """interlock: 1
machine: smallest.yaml
servers: {files: {trust: inside}, web: {trust: inside}}
tools:
  - {match: files.read, effects: [sensitive]}
  - {match: web.send, effects: [egress], sink: once, to: {email: to}, reads: [body]}
"""
SESSION = {"id": "a", "steps": [{"tool": "files.read", "args": {}, "result": "x"}, {"tool": "web.send", "args": {"to": "a@b.example", "body": "x"}}]}


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.S | re.M)


def broken():
    text = SMALLEST.replace("&& (next.flight || next.open)", "&& next.open")
    if text == SMALLEST:
        raise Failure("the guard of tests/machines/smallest.yaml was not found; adapt this test")
    return text


@test
def the_smallest_machine_is_proven_and_the_page_shows_it(t):
    Run("harden", put(t, "m.yaml", SMALLEST)).exits(0).says("FULLY MEDIATED (given: labels, vouching, ledger; unmediated: nothing)", "out")
    if not any(block and SMALLEST.endswith(block) for block in BLOCKS):
        raise Failure("docs/machine.md does not show tests/machines/smallest.yaml as it is")


@test
def a_policy_with_the_smallest_machine_is_judged_by_its_rule(t):
    put(t, "smallest.yaml", SMALLEST)
    policy = put(t, "policy.yaml", POLICY)
    Run("validate", policy).exits(0).says("machine smallest", "out")
    run = Run("check", "--policy", policy, "--json", stdin=json.dumps(SESSION) + "\n").exits(1)
    decided = [(d["action"], d["reason"]) for d in json.loads(run.out.splitlines()[0])["decisions"]]
    if decided != [("allow", None), ("block", "no-leak")]:
        run.fail(f"decided {decided}")
    SESSION["steps"].reverse()
    Run("check", "--policy", policy, stdin=json.dumps(SESSION) + "\n").exits(0)  # sent before anything private was read
    SESSION["steps"].reverse()


@test
def the_smallest_machine_without_its_guard_fails_as_the_page_says(t):
    run = Run("harden", put(t, "smallest.yaml", broken())).exits(1)
    block = next(b for b in BLOCKS if "REACHED" in b)
    for line in block.splitlines():
        if line != "...":
            run.says(line, "out")
    put(t, "smallest.yaml", broken())
    Run("validate", put(t, "policy.yaml", POLICY)).refuses(True).says("not fully mediated")


@test
def what_the_monitor_misses_in_a_machine_is_named(t):
    for word, other in (("flight", "flies"), ("settle", "setle")):
        put(t, "smallest.yaml", re.sub(rf"\b{word}\b", other, SMALLEST))
        Run("harden", str(t / "smallest.yaml")).says("FULLY MEDIATED", "out")  # the rule is proven; no session can be kept with it
        Run("validate", put(t, "policy.yaml", POLICY)).refuses(True).says(word)


@test
def a_session_that_has_ended_stays_ended_whatever_the_machine_says(t):
    over = '      - {as: over, if: "pre.phase != \'live\'%s"}\n      - {as: no-leak, if'
    text = SMALLEST.replace("    live: true\n", "").replace("busy, quarantined, ended]", "busy, over]")
    benign = text.replace("      - {as: no-leak, if", over % " && (call.egress != 'none' || call.untrusted || call.sensitive)")
    frozen = text.replace("      - {as: no-leak, if", over % "").replace("live, quarantined, ended]", "live, frozen, ended]").replace("'quarantined'", "'frozen'")
    for machine, why in ((benign, "live: true"), (frozen, "no word `quarantined`")):
        put(t, "smallest.yaml", machine)
        Run("harden", str(t / "smallest.yaml")).exits(0).says("NOT USABLE by the monitor", "out").says(why, "out")
        Run("validate", put(t, "policy.yaml", POLICY)).refuses(True).says(why)


@test
def laundering_without_a_word_for_a_way_out_is_vacuous(t):
    text = re.sub(r", egress: \[none, once, standing\]", "", SMALLEST)
    text = text.replace("pre.flight || call.egress == 'once'", "pre.flight").replace("pre.open || call.egress == 'standing'", "pre.open")
    run = Run("harden", put(t, "m.yaml", text), "--json").exits(2)
    checks = {c["id"]: c for c in json.loads(run.out)["checks"]}
    if (checks["laundering"]["verdict"], checks["laundering"]["finding"]) != ("VACUOUS", "NOTHING_BROUGHT"):
        run.fail(f"laundering said {checks['laundering']}")


@test
def a_rule_on_commits_is_an_edge_region_as_the_page_says(t):
    text = SMALLEST.replace("sensitive: bool, egress", "sensitive: bool, commit: bool, egress")
    text = re.sub(r'no-leak, if: "[^"]*"', "no-commit, if: \"next.untrusted == 'held' && call.commit\"", text)
    text = re.sub(r'no-leak: \{never: "[^"]*"', "no-commit: {never: \"next.untrusted == 'held' && call.commit\", edge: [admit]", text)
    text = text.replace("no-leak", "no-commit")
    Run("harden", put(t, "m.yaml", text)).exits(0).says("FULLY MEDIATED", "out")
    # and an update that forgets what was brought is found
    lost = text.replace("\"call.untrusted ? 'held'", "\"call.untrusted && !call.sensitive ? 'held'")
    Run("harden", put(t, "m.yaml", lost)).exits(1).says("LAUNDERED", "out")


@test
def every_check_and_finding_is_explained(_):
    page = "".join((ROOT / f"docs/{name}.md").read_text() for name in ("harden", "fleet", "diagnose"))
    sources = {path: path.read_text() for path in (ROOT / "src/check").glob("*.c")}
    codes, checks = set(), set()
    for path, text in sources.items():
        if path.name in ("report.c", "report_text.c", "fleet_object.c", "widening_object.c", "drawing.c") or path.name.startswith("export"):
            continue  # they only print what the others found, or write for other tools
        codes |= set(re.findall(r'"([A-Z]+(?:_[A-Z]+)*)"', text))
        checks |= set(re.findall(r'il_check_add\(h, (?:[^,"]*\? )?"([a-z-]+)"(?: : "[a-z-]+")?', text))
        checks |= set(re.findall(r'il_check_add\(h, [^,]*: "([a-z-]+)"', text))
    if len(codes) < 25 or len(checks) < 10:
        raise Failure(f"found only {sorted(codes)} and {sorted(checks)} in src/check; adapt this test")
    for word in sorted(codes | checks):
        if f"| `{word}` |" not in page:
            raise Failure(f"neither docs/harden.md nor docs/fleet.md nor docs/diagnose.md has a row for `{word}`")
    for line in re.findall(r'"\\n([A-Z][A-Z ]+)[:(]', sources[ROOT / "src/check/report_text.c"]):
        if line.strip() not in page:
            raise Failure(f"docs/harden.md does not have the closing line `{line.strip()}`")

@test
def the_guides_configurations_start_a_gateway(t):
    """Every client's snippet is JSON of that client's shape, and its options, with only the paths and the server replaced, serve."""
    page = (ROOT / "docs/guide.md").read_text()
    snippets = [json.loads(block) for block in blocks(page, "json") if '"hooks"' not in block]
    if len(snippets) != 4 or sum("servers" in snippet for snippet in snippets) != 1:
        raise Failure(f"docs/guide.md shows {len(snippets)} configurations; adapt this test")
    heads = [server["args"] for snippet in snippets for server in (snippet.get("mcpServers") or snippet["servers"]).values()]
    typed = re.search(r"^claude mcp add .*?^```", page, re.S | re.M).group(0).replace("\\\n", " ").split()
    heads.append(typed[typed.index("/usr/local/bin/interlock") + 1:])
    put(t, "smallest.yaml", SMALLEST)
    policy, server = put(t, "policy.yaml", POLICY), put(t, "server.py", SERVER)
    for args in heads:
        head = args[:args.index("--")]
        head[head.index("--policy") + 1] = policy
        Run(*head, "--", "python3", server, stdin=HELLO).exits(0).says('"serverInfo"', "out")


@test
def what_the_pages_show_as_a_policy_or_a_configuration_is_one(t):
    page = (ROOT / "docs/policy.md").read_text()
    Run("validate", put(t, "policy.yaml", re.search(r"^```yaml\n(.*?)^```", page, re.S | re.M).group(1))).exits(0)
    readme = (ROOT / "README.md").read_text()
    servers = json.loads(re.search(r"^```json\n(.*?)^```", readme, re.S | re.M).group(1))["mcpServers"]
    for name, server in servers.items():
        head = server["args"][:server["args"].index("--")]
        if head[head.index("--name") + 1] != name or not server["command"].startswith("/") or not head[head.index("--policy") + 1].startswith("/"):
            raise Failure(f"the configuration of `{name}` in README.md: its name, or a path that is not absolute")
    if len({server["args"][server["args"].index("--session") + 1] for server in servers.values()}) != 1:
        raise Failure("the servers of README.md's configuration are not one session")
    for folder in (p for p in (ROOT / "tests/scenarios").iterdir() if p.is_dir() and not p.name.startswith("__")):
        if f"| `{folder.name}` |" not in (ROOT / "tests/scenarios/README.md").read_text():
            raise Failure(f"tests/scenarios/README.md has no row for {folder.name}")


def answers(t, page):
    """Each command that the page shows with its answer, on the page's own policy and sessions: what differs."""
    commands = [block.split("\n", 1) for block in blocks(page, "console")]
    for command, shown in commands:
        args = command.removeprefix("$ interlock ").split()
        put(t, next(a for a in args if a.endswith(".yaml")), blocks(page, "yaml")[0])
        put(t, "sessions.jsonl", blocks(page, "jsonl")[0])
        run = Run(*args, cwd=t)
        if run.out != shown:
            yield f"{command}: the program says\n{run.out}\n{run.err}"
    if not commands:
        yield "no command is shown"


@test
def the_sessions_that_pages_show_are_decided_as_they_say(t):
    for name, count in (("guide", 1), ("from-interbolt", 2)):
        page = (ROOT / f"docs/{name}.md").read_text()
        problems = list(answers(t, page))
        if problems:
            raise Failure(f"docs/{name}.md: {problems[0]}")
        if len(blocks(page, "console")) != count:
            raise Failure(f"docs/{name}.md shows another number of commands; adapt this test")
    guide = (ROOT / "docs/guide.md").read_text()
    changed = blocks(guide, "yaml")[0].replace(", audience: addressed", "")  # the page says that the first session is then stopped as well
    Run("check", "--policy", put(t, "policy.yaml", changed), put(t, "sessions.jsonl", blocks(guide, "jsonl")[0])).exits(1).says("asked: 2 steps, 1 not allowed", "out")
    if not list(answers(t, guide.replace(", audience: addressed,", ","))):
        raise Failure("control: another policy gave the same answers")


def hooks():
    """The hook of docs/guide.md, and that of docs/gateway.md with the script that it calls, as they are shown."""
    guide, gateway = ((ROOT / f"docs/{name}.md").read_text() for name in ("guide", "gateway"))
    mine = next(block for block in blocks(guide, "sh") if block.startswith("#!"))
    recipe = next(block for block in blocks(gateway, "sh") if "gated-say <<" in block)
    said, hook = re.findall(r"^cat >\S+ <<'EOF'\n(.*?)^EOF\n", recipe, re.S | re.M)
    for page, place in ((guide, "~/.claude/settings.json"), (gateway, "/home/ana/.claude/settings.json")):
        command = next(json.loads(block) for block in blocks(page, "json") if '"hooks"' in block)["hooks"]["UserPromptSubmit"][0]["hooks"][0]
        if command["type"] != "command" or not command["command"].endswith("/say-to-interlock") or place not in page:
            raise Failure(f"the hook's configuration: {command}")
    return mine, said, hook


@test
def the_hooks_that_are_shown_hand_over_what_was_typed(t):
    if not shutil.which("jq"):
        raise Failure("jq is missing, which the hooks use; `scripts/setup test` installs it")
    policy, server, ledger = put(t, "policy.yaml", POLICY.replace("smallest.yaml", "trifecta")), put(t, "server.py", SERVER), t / "state/interlock/ledger.db"
    environment = {"PATH": os.environ["PATH"], "HOME": str(t), "XDG_STATE_HOME": str(t / "state")}
    mine, said, hook = hooks()
    program = str(pathlib.Path(INTERLOCK).parent)

    def script(name, text):
        path = put(t, name, text.replace("/usr/local/bin", program).replace("/var/lib/interlock/ledger.db", str(ledger)))
        os.chmod(path, 0o755)
        return path

    gated = script("gated-say", said)
    scripts = [script("mine", mine), script("hook", hook.replace("sudo -n -u interlock /usr/local/sbin/gated-say", gated))]

    def typed(path, prompt):
        return subprocess.run([path], input=json.dumps({"session_id": "x", "prompt": prompt}), capture_output=True, text=True, env=environment, timeout=HANG, check=False)

    def begin():
        Run("gateway", "--policy", policy, "--name", "web", "--join", "--", "python3", server, stdin=HELLO, env=environment).exits(0)

    def heard(session):
        return len(json.loads(Run("session", "show", session, "--json", env=environment).exits(0).out)["said"])

    if not all(typed(path, "mail bo@x.example").returncode for path in scripts):
        raise Failure("a hook is content where no session is")
    me = f"join:uid:{os.getuid()}"
    begin()
    for n, path in enumerate(scripts):
        done = typed(path, f"mail bo@x.example {n}")
        if done.returncode or done.stdout or heard(me) != n + 1:
            raise Failure(f"{path}: exit {done.returncode}, {done.stdout!r} {done.stderr!r}, heard {heard(me)}")
    Run("session", "end", me, env=environment).exits(0)
    begin()
    if typed(scripts[0], "mail cy@x.example").returncode or (heard(me), heard(me + ".2")) != (2, 1):
        raise Failure(f"after the session was ended: {heard(me)} and {heard(me + '.2')}")


def anchor(heading):
    """The name that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()).replace(" ", "-")


def astray(path, text):
    """Links of a page to a file that is not there, or to a heading that the file does not have."""
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)):
        name, _, wanted = target.partition("#")
        if re.match(r"[a-z]+:", name):
            continue
        other = (path.parent / name).resolve() if name else path
        if not other.exists():
            yield target
        elif wanted and wanted not in map(anchor, re.findall(r"^#+ (.*)$", text if other == path else other.read_text(), re.M)):
            yield target


@test
def links_between_pages_lead_somewhere(_):
    pages = [p for p in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")] if p.is_file()]
    wrong = [f"{path.name}: {target}" for path in pages for target in astray(path, path.read_text())]
    if wrong:
        raise Failure("links that lead nowhere: " + ", ".join(wrong))
    if list(astray(ROOT / "docs/guide.md", "# A b\n[x](cli.md#session) [x](#a-b)")) or len(list(astray(ROOT / "docs/guide.md", "[x](nothing.md) [x](cli.md#nothing) [x](#a-b)"))) != 3:
        raise Failure("control: links that are wrong are not told from right ones")
