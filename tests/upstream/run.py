#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The life of the server behind the gateway: its end and its next start, floods, what it leaves behind, signals, a full disk.

Usage: run.py BUILD/interlock [PART-OF-A-NAME]. Ends with `N passed, N failed, N skipped`."""
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gateway"))
from peer import WAIT, Gateway, failed, gone, main, words  # noqa: E402


def told(g, method):
    return [m for m in g.lines if m.get("method") == method]


def back(g, n=1):
    return g.until(lambda: g.stderr.count("runs again") == n, "the server's return")


# --- its end and its next start ----------------------------------------------------------------

def test_a_server_that_dies_is_started_again():
    g = Gateway(mode="again:{}")
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
    back(g)
    assert 0.5 <= time.monotonic() - died < 5
    assert words(g.call("nth")) == "2"
    first, second = g.seen("initialize")
    assert first["params"] == second["params"] and first["id"] != second["id"], (first, second)
    assert len(g.seen("notifications/initialized")) == 2
    # it was told of listChanged for tools alone; the calls that failed were not sent again
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


def test_tries_go_on_after_one_that_fails():
    g = Gateway(mode='again:{"2": "exit", "3": "mute", "4": "chatty"}', args=["--start-timeout", "1"])
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


def test_the_end_while_it_is_being_restarted():
    for wait in ("", "mute"):  # before its next start; before its answer
        g = Gateway(mode="again:" + json.dumps({"2": wait}))
        g.start()
        g.call("die")
        if wait:
            g.until(lambda g=g: len(g.seen("initialize")) == 2, "the next start")
        started = time.monotonic()
        g.end(4)
        assert time.monotonic() - started < 5


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


if __name__ == "__main__":
    sys.exit(main(globals()))
