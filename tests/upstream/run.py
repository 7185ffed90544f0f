#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The life of the server behind the gateway: its end and its next start, floods, what it leaves behind, signals, a full disk.

Usage: run.py BUILD/interlock [PART-OF-A-NAME]. Ends with `N passed, N failed, N skipped`."""
import base64
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gateway"))
from peer import INTERLOCK, OUTSIDE, SCRATCH, SERVER, WAIT, Gateway, alive, failed, gone, main, patient, rss, words  # noqa: E402


def told(g, method):
    return [m for m in g.lines if m.get("method") == method]


def back(g, n=1):
    return g.until(lambda: g.stderr.count("runs again") == n, "the server's return")


# --- its end and its next start ----------------------------------------------------------------

def test_a_server_that_dies_is_started_again():
    g = Gateway(mode='again:{"2": "waits"}')
    g.start()
    g.ask("tools/list")
    g.ask("resources/subscribe", {"uri": "note://1"})
    silent = g.post("tools/call", {"name": "silent"})
    died = time.monotonic()
    failed(g.call("die"), "MAY have run", "not retried", "status 9")
    failed(g.answer(silent), "MAY have run")
    failed(g.call("echo", meanwhile=1), "is being restarted", "was not run")
    assert g.ask("prompts/list")["error"]["code"] == 4031
    assert g.ask("ping")["result"] == {}
    g.until(lambda: len(g.seen("initialize")) == 2, "its next start")
    assert time.monotonic() - died >= 0.5
    pathlib.Path(f"{g.log}.go").touch()
    back(g)
    assert words(g.call("nth")) == "2"
    first, second = g.seen("initialize")
    assert first["params"] == second["params"] and first["id"] != second["id"], (first, second)
    assert len(g.seen("notifications/initialized")) == 2
    # it was told of listChanged for tools alone; the calls that failed were not sent again
    g.until(lambda: told(g, "notifications/tools/list_changed"), "the notification")
    assert [m["method"] for m in g.lines if "method" in m] == ["notifications/tools/list_changed"], g.lines
    assert [m["params"]["name"] for m in g.seen("tools/call")] == ["silent", "die", "nth"]
    # what the old process gave is nobody's
    assert g.ask("tools/list", {"cursor": "page-2"})["error"]["code"] == -32602
    g.call("raw", text='{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"note://1"}}\n{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}')
    assert not told(g, "notifications/resources/updated")
    g.end()


def test_a_server_that_is_closed_is_started_again():
    g = Gateway(mode="again:{}")
    g.start()
    pid = json.loads(words(g.call("pids")))[0]
    failed(g.call("raw", text="Server is listening"), "MAY have run", "not a message")
    back(g)
    gone(pid)
    assert words(g.call("nth")) == "2"
    g.end()


def test_tries_wait_longer_and_end():
    g = Gateway(mode='again:{"2": "exit", "3": "exit"}', args=["--restart", "2"])
    g.start()
    died = time.monotonic()
    g.call("die")
    g.until(lambda: "from here on" in g.stderr, "the end of the tries")
    assert time.monotonic() - died > 1.5
    assert "in 0.5 s (try 1 of 2)" in g.stderr and "in 1.0 s (try 2 of 2)" in g.stderr and "status 7" in g.stderr, g.stderr
    failed(g.call("echo", a=1), "not there any more", "was not run")
    assert len(g.seen("initialize")) == 1  # the others ended before they read
    g.end(4)


@patient
def test_tries_go_on_after_one_that_fails(slow):
    g = Gateway(mode='again:{"2": "exit", "3": "mute", "4": "chatty"}', args=["--start-timeout", str(slow)])
    g.start()
    g.call("die")
    back(g)
    assert words(g.call("nth")) == "5"
    for part in ("status 7", "did not answer initialize in time", "not a JSON-RPC message", "(try 4 of 5)"):
        assert part in g.stderr, g.stderr
    g.end()


def test_no_restart_at_all():
    g = Gateway(mode="again:{}", args=["--restart", "0"])
    g.start()
    failed(g.call("die"), "MAY have run")
    failed(g.call("echo", a=1), "not there any more")
    g.end(4)
    assert len(g.seen("initialize")) == 1


def test_a_server_that_comes_back_as_another_is_not_used():
    same = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "fake", "version": "2"},
            "capabilities": {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "prompts": {}, "logging": {}}}
    more = {**same["capabilities"], "completions": {}}
    for change, why in (({}, None), ({"capabilities": more}, None), ({"protocolVersion": "2025-06-18"}, "another revision"),
                        ({"capabilities": {"tools": {"listChanged": True}}}, "fewer capabilities"),
                        ({"capabilities": {**same["capabilities"], "tools": {}}}, "fewer capabilities"),
                        ({"capabilities": {**same["capabilities"], "resources": {"subscribe": False}}}, "fewer capabilities")):
        g = Gateway(mode="again:" + json.dumps({"2": "hello:" + json.dumps({"result": {**same, **change}})}))
        g.start()
        g.call("die")
        if why:
            g.until(lambda why=why, g=g: f"came back with {why}; its calls" in g.stderr, why)
            failed(g.call("echo", a=1), "came back with " + why, "was not run")
        else:
            back(g)
            assert words(g.call("nth")) == "2"
            assert g.ask("completion/complete", {"ref": {}, "argument": {}})["error"]["code"] == -32601  # never promised
        g.end(4 if why else 0)


@patient
def test_the_end_while_it_is_being_restarted(_):
    for wait in ("", "mute"):  # before its next start; before its answer
        g = Gateway(mode="again:" + json.dumps({"2": wait}), args=["--start-timeout", "600"])
        g.start()
        g.call("die")
        if wait:
            g.until(lambda g=g: len(g.seen("initialize")) == 2, "the next start")
        g.end(4)


def test_a_server_that_dies_before_the_client_is_ready():
    g = Gateway(mode="again:{}")
    g.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
    g.send({"jsonrpc": "2.0", "id": "d", "method": "tools/call", "params": {"name": "die"}})
    failed(g.answer("d"), "MAY have run")
    g.notify("notifications/initialized")
    back(g)
    assert words(g.call("nth")) == "2"
    assert len(g.seen("notifications/initialized")) == 2
    g.end()


def test_a_restarted_server_is_not_heard_before_its_answer():
    early = [{"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "WRONG"}},
             {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {"message": "WRONG", "requestedSchema": {}}},
             {"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text", "text": "WRONG"}]}},
             {"jsonrpc": "2.0", "id": "p", "method": "ping"}]
    g = Gateway(mode="again:" + json.dumps({"2": "early:" + json.dumps(early)}))
    g.start(capabilities={"elicitation": {}})
    g.call("die")
    back(g)
    assert words(g.call("nth")) == "2"
    assert not any("WRONG" in json.dumps(m) for m in g.lines), g.lines
    assert g.seen()[-1]["method"] == "tools/call" and any(m.get("id") == "p" and m.get("result") == {} for m in g.seen())
    g.end()


# --- what it sends -------------------------------------------------------------------------------

NOTICE = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"flood"}}\n'
FLOODS = (NOTICE, '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}\n', '{"jsonrpc":"2.0","id":424242,"result":{"content":[]}}\n',
          '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}\n', '{"jsonrpc":"2.0","method":"notifications/odd"}\n',
          '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n', '{"jsonrpc":"2.0","id":1,"result":{"a":"\\ud800"}}\n',
          '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":1}}\n')


def test_a_flood_is_cut_and_the_client_served():
    for policy, of in (({}, FLOODS), ({"policy": OUTSIDE.replace("fake.says", "fake.(flood|echo|calm)")}, FLOODS[:5])):
        g = Gateway(**policy)
        g.start()
        g.call("echo", warm=1)
        before = rss(g.process.pid)
        slow = g.post("tools/call", {"name": "slow", "arguments": {"ms": 100_000}, "_meta": {"progressToken": "mine"}}) if not policy else 0
        if slow:
            slow = g.until(lambda g=g: next((m["id"] for m in g.seen("tools/call") if m["params"]["name"] == "slow"), None), "the slow call")
        started = time.monotonic()
        g.call("flood", lines="".join(of).replace("%d", str(slow)))
        for i in range(30):
            answer = g.call("echo", i=i)
            assert words(answer) == json.dumps({"i": i}), answer
            time.sleep(0.03)
        g.call("calm")
        g.logged("nobody asked for")
        notices = [m for m in g.lines if "method" in m]
        changed, lines = told(g, "notifications/tools/list_changed"), g.stderr.splitlines()
        took = time.monotonic() - started  # the slower the machine, the more may pass
        assert len(notices) - len(changed) <= 1000 + 200 * (took + 1) and len(changed) <= 4 * took + 2, (len(notices), len(changed), took)
        assert bool(policy) or len(notices) > 250  # a third of the burst are log lines; the rest is coalesced, or progress that stands still
        assert len(lines) <= 530 + 50 * (took + 1), (len(lines), took)
        assert rss(g.process.pid) - before < 12_000, (before, rss(g.process.pid))
        g.process.kill()


def test_stderr_is_escaped_and_bounded():
    g = Gateway()
    g.start()
    g.call("echo", warm=1)
    before = rss(g.process.pid)
    started = time.monotonic()
    noise = bytes(range(256)) + b"\x1b[2J\x1b]0;title\x07 \xe2\x80\xae WORD\n"
    g.call("noise", base64=base64.b64encode(noise).decode(), n=3000)
    g.call("noise", base64=base64.b64encode(b"x" * 1_000_000).decode(), n=10)  # 10 MB without a line end
    assert words(g.call("echo", a=1)) == '{"a": 1}'
    end = time.monotonic() + WAIT
    while "fake: LAST" not in g.stderr or "left out" not in g.stderr:  # what was left out is said when a line may be written again, by the next one
        assert time.monotonic() < end, g.stderr[-800:]
        g.call("noise", base64=base64.b64encode(b"\nLAST\n").decode(), n=1)
        time.sleep(0.2)
    lines = g.stderr.splitlines()
    assert len(lines) < 700 + 50 * (time.monotonic() - started) and max(map(len, lines)) < 2100, (len(lines), max(map(len, lines)))
    assert all(line.isprintable() for line in lines), next(line for line in lines if not line.isprintable())
    assert any("\\x1b[2J\\x1b]0;title\\x07 \\u202e WORD" in line for line in lines), lines[5:8]
    assert not any("WORD" in json.dumps(m) or "xxxx" in json.dumps(m) for m in g.lines)
    assert rss(g.process.pid) - before < 3000, (before, rss(g.process.pid))
    g.end()


def test_twenty_megabytes_without_a_line_end():
    g = Gateway(mode="again:{}")
    g.start()
    g.call("echo", warm=1)
    before = rss(g.process.pid)
    g.send(b'{"jsonrpc":"2.0","id":"long","method":"ping","params":{"a":"' + b"x" * 20_000_000)
    refusal = g.until(lambda: next((m for m in g.lines if m.get("id", 0) is None), None), "the refusal")
    assert refusal["error"]["code"] == -32600, refusal
    g.send(b"\n")  # what comes before this is the same line
    assert words(g.call("echo", a=1)) == '{"a": 1}'
    half = g.post("tools/call", {"name": "raws", "arguments": {"base64": base64.b64encode(b"x" * 1_000_000).decode(), "n": 20}})
    failed(g.answer(half), "more than the limit")
    assert g.call("raw", text='\n{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}')["result"] == {"content": []}
    assert words(g.call("nth")) == "1"
    assert rss(g.process.pid) - before < 6000, (before, rss(g.process.pid))
    g.end()


def test_bytes_that_are_no_text_close_it():
    g = Gateway(mode="again:{}")
    g.start()
    failed(g.call("raws", base64=base64.b64encode(bytes(range(256)) * 40 + b"\n").decode()), "not a message", "MAY have run")
    back(g)
    assert words(g.call("nth")) == "2"
    g.end()


def test_half_a_line_at_its_end_is_nothing():
    g = Gateway(mode="again:{}")
    g.start()
    half = '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"WRONG"}]}}'  # whole, but for its line end
    failed(g.call("raws", base64=base64.b64encode(half.encode()).decode(), exit=True), "status 0", "MAY have run")
    back(g)
    assert not any("WRONG" in json.dumps(m) for m in g.lines)
    g.end()


def test_bad_envelopes_are_forgiven_with_time():
    bad = '{"jsonrpc":"1.0","method":"notifications/odd"}\n'
    done = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}'
    g = Gateway(mode="again:{}")
    g.start()
    assert g.call("raw", text=bad * 16 + done)["result"] == {"content": []}
    failed(g.call("raw", text=bad + done), "too many messages that are none")
    back(g)
    assert g.call("raw", text=bad * 16 + done)["result"] == {"content": []}
    g.end()


def test_an_end_that_it_closes_is_its_end():
    for fd, why in ((1, "closed its output"), (0, "does not read its input any more")):
        g = Gateway(mode="again:{}")
        g.start()
        pid = json.loads(words(g.call("pids")))[0]
        assert words(g.call("close", fd=fd)) == "ok"
        if fd == 0:  # that is seen when it is written to
            failed(g.call("echo", a=1), "MAY have run")
        back(g)
        assert why in g.stderr, g.stderr
        gone(pid)
        assert words(g.call("nth")) == "2"
        g.end()


def test_signals_that_the_server_gets_as_by_default():
    g = Gateway(server=["/bin/sh", "-c", 'grep SigIgn /proc/$$/status >&2; exec "$@"', "sh", *SERVER, "/dev/null"])
    g.start()
    line = g.until(lambda: next((x for x in g.stderr.splitlines() if "SigIgn" in x), None), "its ignored signals")
    mask = int(line.split("x09")[-1], 16)
    assert not mask & (1 << (signal.SIGPIPE - 1)) and not mask & (1 << (signal.SIGXFSZ - 1)) and not mask & (1 << (signal.SIGTERM - 1)), line
    g.end()


def test_the_server_gets_its_three_descriptors_and_no_other():
    ours, other = os.pipe()  # what the client forgot to close is another server's pipe, perhaps
    g = Gateway(server=["/bin/sh", "-c", 'for f in /proc/$$/fd/*; do [ -e "$f" ] && has="$has $f"; done; echo "has$has" >&2; exec "$@"', "sh", *SERVER, "/dev/null"], pass_fds=(other,))
    g.start()
    assert os.path.exists(f"/proc/{g.process.pid}/fd/{other}")
    line = g.until(lambda: next((x for x in g.stderr.splitlines() if "has /proc" in x), None), "its descriptors")
    assert sorted(int(x.rsplit("/", 1)[1]) for x in line.split() if x.startswith("/proc/")) == [0, 1, 2], line
    g.end()
    os.close(ours)
    os.close(other)


def test_a_client_that_writes_without_end():
    g = Gateway()
    g.start()
    g.call("echo", warm=1)
    before, started, sent = rss(g.process.pid), time.monotonic(), 60_000
    for _ in range(sent // 200):  # half of them cannot be read
        g.send(b'{"jsonrpc":"2.0","id":"p","method":"ping"}\n{"jsonrpc":"2.0","id":"p","method":"ping","method":"ping"}\n' * 200)
    g.until(lambda: len(g.lines) > sent, "the answers")
    assert words(g.call("echo", a=1)) == '{"a": 1}'
    got = len([m for m in g.lines if m.get("id") == "p"])
    assert got >= sent, got
    assert rss(g.process.pid) - before < 6000, (before, rss(g.process.pid))
    assert len(g.stderr.splitlines()) < 700 + 50 * (time.monotonic() - started)
    g.end()


def test_a_client_that_is_gone_while_it_is_answered():
    g = Gateway(quiet=True)
    g.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})
    g.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "big", "arguments": {"n": 3_000_000}}})
    g.process.stdout.read(100)
    g.process.stdout.close()  # EPIPE, and no SIGPIPE
    g.process.stdin.close()
    assert g.process.wait(WAIT) == 0, g.process.returncode


# --- what it leaves behind -----------------------------------------------------------------------

def family(g):
    """Its process, and one that left its parent, its group and its session."""
    return json.loads(words(g.call("pids")))[0], int(words(g.call("daemon")))


def test_a_killed_gateway_takes_all_along():
    wrapped = ["/bin/sh", "-c", 'exec 3<&0; "$@" <&3 3<&- & wait', "sh", *SERVER, "/dev/null", "stubborn"]
    for server in (None, wrapped):
        g = Gateway(mode="stubborn", server=server)
        g.start()
        pids = family(g)
        assert all(map(alive, pids))
        g.process.kill()
        g.process.wait(WAIT)
        for pid in pids:
            gone(pid)


def test_an_ordinary_end_takes_all_along():
    g = Gateway()
    g.start()
    pids = family(g)
    g.end()
    assert not any(map(alive, pids)), pids


def test_the_next_server_finds_nothing_of_the_last():
    g = Gateway(mode="again:{}")
    g.start()
    pids = family(g)
    before = sorted(os.listdir(f"/proc/{g.process.pid}/fd"))
    for n in (1, 2):
        g.call("die")
        back(g, n)
    assert not any(map(alive, pids)), pids
    after = sorted(os.listdir(f"/proc/{g.process.pid}/fd"))
    assert len(after) == len(before), (before, after)
    with open(f"/proc/{g.process.pid}/task/{g.process.pid}/children", encoding="ascii") as children:
        assert len(children.read().split()) == 1  # its keeper, and no dead one
    g.end()


def test_a_daemon_that_holds_its_output():
    g = Gateway(mode="again:{}")
    g.start()
    g.call("daemon_holds", folder=str(g.folder))
    pid = int(g.until(lambda: (g.folder / "pid").exists() and (g.folder / "pid").read_text(), "the daemon"))
    failed(g.call("die"), "status 9")
    back(g)
    gone(pid)
    g.end()


def test_a_killed_keeper_takes_the_server_along():
    g = Gateway(mode="again:{}")
    g.start()
    pid, daemon = family(g)
    keeper = json.loads(words(g.call("pids")))[2]
    os.kill(keeper, signal.SIGKILL)
    gone(pid)
    # who keeps what left the group, if not the keeper: nobody. So the tests above can fail.
    time.sleep(0.1)
    assert alive(daemon)
    os.kill(daemon, signal.SIGKILL)
    back(g)
    assert "signal 9" in g.stderr and words(g.call("nth")) == "2"
    g.end()


def test_the_keeper_is_small():
    g = Gateway()
    g.start()
    keeper = json.loads(words(g.call("pids")))[2]
    with open(f"/proc/{keeper}/smaps_rollup", encoding="ascii") as rollup:
        private = sum(int(line.split()[1]) for line in rollup if line.startswith(("Private_Clean", "Private_Dirty")))
    assert private < 1000 and len(os.listdir(f"/proc/{keeper}/fd")) <= 3, (private, os.listdir(f"/proc/{keeper}/fd"))
    g.end()


# --- signals ---------------------------------------------------------------------------------------

@patient
def test_a_signal_lets_calls_finish(_):
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        g = Gateway()
        g.start()
        slow = [g.post("tools/call", {"name": "slow", "arguments": {"ms": 500}}) for _ in range(3)]
        g.until(lambda g=g: len(g.seen("tools/call")) == 3, "the calls")
        g.process.send_signal(number)
        g.logged("may still finish")
        g.post("tools/call", {"name": "echo", "arguments": {"new": 1}})  # nothing new is taken
        assert [words(g.answer(id_)) for id_ in slow] == ["slow"] * 3
        g.end()
        assert len(g.seen("tools/call")) == 3


@patient
def test_a_signal_while_the_server_is_away(_):
    g = Gateway(mode='again:{"2": "mute"}', args=["--start-timeout", "600"])
    g.start()
    g.call("die")
    g.until(lambda: len(g.seen("initialize")) == 2, "the next start")
    started = time.monotonic()
    g.process.send_signal(signal.SIGTERM)
    g.process.wait(WAIT)
    assert time.monotonic() - started < 4
    g.end(4)


# --- a full disk -----------------------------------------------------------------------------------

def test_a_full_disk_denies():
    g = Gateway(ledger=str(pathlib.Path(SCRATCH) / "full.db"), args=["--session", "full"])
    g.start()
    assert words(g.call("echo", n=0)) == '{"n": 0}'
    sizes = [path.stat().st_size for path in pathlib.Path(SCRATCH).glob("full.db*")]
    # a file that may not grow; SIGXFSZ, which would kill, is ignored
    resource.prlimit(g.process.pid, resource.RLIMIT_FSIZE, (max(sizes), resource.RLIM_INFINITY))
    answers = [g.call("echo", n=n) for n in range(1, 40)]
    ran = [a for a in answers if not a["result"].get("isError")]
    for answer in answers:
        if answer not in ran:
            failed(answer)
            assert "ledger" in json.dumps(answer), answer
    assert len(ran) < 39, "the disk was never full"
    resource.prlimit(g.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert words(g.call("echo", n=40)) == '{"n": 40}'  # and goes on when there is room again
    g.end()
    trail = subprocess.run([INTERLOCK, "session", "show", "full", "--ledger", str(pathlib.Path(SCRATCH) / "full.db"), "--trail"],
                           capture_output=True, timeout=WAIT, check=True).stdout
    rows = [json.loads(line) for line in trail.splitlines()]
    assert len(g.seen("tools/call")) <= len([r for r in rows if r["kind"] == "decision"]), rows
    assert len(ran) + 2 <= len([r for r in rows if r["kind"] == "settle"]), rows  # nothing was released that is not recorded


if __name__ == "__main__":
    sys.exit(main(globals()))
