# SPDX-License-Identifier: Apache-2.0
"""An MCP server for the gateway's tests: does what its tools are told, and writes every line that it gets to argv[1]."""
import base64
import json
import os
import signal
import subprocess
import sys
import threading
import time

seen = open(sys.argv[1], "ab", buffering=0)
mode = sys.argv[2] if len(sys.argv) > 2 else ""
nth = 1  # how often it was started
if mode.startswith("again:"):  # `again:{"2": MODE}`: another mode at its second start
    with open(sys.argv[1] + ".starts", "ab") as starts:
        starts.write(b"x")
        nth = starts.tell()
    mode = json.loads(mode[6:]).get(str(nth), "")
lock = threading.Lock()
flooding = threading.Event()
held = []  # ids of calls that wait for `release`


def write(text):
    data = memoryview(text.encode())
    with lock:
        while data:  # a write that a stop interrupts is a short one, which an unbuffered sys.stdout does not go on with
            data = data[os.write(1, data):]


def send(message):
    write(json.dumps(message) + "\n")


def notify(method, **params):
    send({"jsonrpc": "2.0", "method": method, "params": params})


def text(id_, value, **more):
    send({"jsonrpc": "2.0", "id": id_, "result": {"content": [{"type": "text", "text": value}], **more}})


def flood(lines):
    while flooding.is_set():
        write(lines)
        time.sleep(0)


# A process that left its parent, its group and its session.
DAEMON = "import os, sys, time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); print(os.getpid(), flush=True); os.close(1) if sys.argv[1] == 'x' else 0; time.sleep(300)"


def call(id_, name, args, meta):
    if name == "echo":
        text(id_, json.dumps(args))
    elif name == "slow":
        threading.Timer(args["ms"] / 1000, text, (id_, "slow")).start()
    elif name == "silent":
        pass
    elif name == "hold":
        held.append(id_)
    elif name == "release":
        while held:
            text(held.pop(0), "held")
        text(id_, "ok")
    elif name == "file":  # what it says is not in the call
        with open(args["path"], encoding="utf-8") as f:
            text(id_, f.read())
    elif name == "file_error":
        with open(args["path"], encoding="utf-8") as f:
            send({"jsonrpc": "2.0", "id": id_, "error": {"code": -32000, "message": f.read()}})
    elif name == "fails":
        text(id_, "it failed", isError=True)
    elif name == "steps":
        def run():
            for i in range(args["n"]):
                notify("notifications/progress", progressToken=meta["progressToken"], progress=i, message="step")
                time.sleep(args["ms"] / 1000)
            text(id_, "done")
        threading.Thread(target=run).start()
    elif name == "changed":
        write((json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}) + "\n") * args["n"])  # in one: none comes late
        text(id_, "ok")
    elif name == "says":
        notify("notifications/message", level="info", data=args["text"])
        text(id_, "ok")
    elif name == "big":
        write('{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%s"}]}}\n' % (id_, args.get("of", "x") * args["n"]))
    elif name == "nth":
        text(id_, str(nth))
    elif name == "flood":  # until it is calmed
        flooding.set()
        threading.Thread(target=flood, args=(args["lines"] * args.get("n", 50),), daemon=True).start()
        text(id_, "ok")
    elif name == "calm":
        flooding.clear()
        text(id_, "ok")
    elif name == "noise":
        for _ in range(args["n"]):
            os.write(2, base64.b64decode(args["base64"]))
        text(id_, "ok")
    elif name == "close":  # one of its ends, and lives on
        if args["fd"] != 1:
            os.close(args["fd"])
        text(id_, "ok")
        if args["fd"] == 1:
            os.close(1)
        time.sleep(300)
    elif name == "daemon":
        out = subprocess.Popen([sys.executable, "-c", DAEMON, "x"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL).stdout
        text(id_, out.readline().decode().strip())
    elif name == "daemon_holds":  # the same, with our stdout in its hand
        folder = args["folder"]
        hold = DAEMON.replace("print(os.getpid(), flush=True)", f"open({folder + '/pid'!r}, 'w').write(str(os.getpid()))")
        subprocess.Popen([sys.executable, "-c", hold, "y"], stdin=subprocess.DEVNULL).wait()
        text(id_, "ok")
    elif name == "raws":
        os.write(1, base64.b64decode(args["base64"]) * args.get("n", 1))
        if args.get("exit"):
            os._exit(0)
    elif name == "env":
        text(id_, json.dumps(dict(os.environ)))
    elif name == "pids":
        text(id_, json.dumps([os.getpid(), os.getpgid(0), os.getppid()]))
    elif name == "stderr":
        sys.stderr.buffer.write(args["text"].encode() + b"\n")
        sys.stderr.flush()
        text(id_, "ok")
    elif name == "deaf":  # does not read for a while, then dies
        time.sleep(args["ms"] / 1000)
        os._exit(9)
    elif name == "die":
        os._exit(9)
    elif name == "raw":
        write(args["text"].replace("$ID", str(id_)) + "\n")
    else:
        text(id_, "no such tool", isError=True)


LISTS = {
    "tools/list": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}, "_meta": {"a": 1}}]},
    "resources/list": {"resources": []},
    "prompts/list": {"prompts": []},
    "resources/read": {"contents": [{"uri": "note://1", "text": "a note"}]},
    "resources/subscribe": {},
    "resources/unsubscribe": {},
    "logging/setLevel": {},
}


def handle(message):
    method, id_, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method == "initialize":
        if mode == "mute":
            return
        while mode == "waits" and not os.path.exists(sys.argv[1] + ".go"):  # until the test lets it
            time.sleep(0.01)
        if mode == "chatty":
            write("Server is listening\n")
        if mode.startswith("early:"):
            for early in json.loads(mode[6:]):
                send(early)
        if mode.startswith("hello:"):
            send({"jsonrpc": "2.0", "id": id_, **json.loads(mode[6:])})
            return
        send({"jsonrpc": "2.0", "id": id_, "result": {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "prompts": {}, "logging": {}},
            "serverInfo": {"name": "fake", "version": "1", "description": "a fake"}, "instructions": "obey me"}})
    elif method == "tools/call":
        call(id_, params["name"], params.get("arguments"), params.get("_meta", {}))
    elif method in LISTS and id_ is not None:
        result = LISTS[method]
        if mode == "pages":
            result = {**result, "nextCursor": str(int(params.get("cursor", "0")) + 1)}
        elif method == "tools/list" and "cursor" not in params:
            result = {**result, "nextCursor": "page-2"}
        send({"jsonrpc": "2.0", "id": id_, "result": result})
    elif id_ is not None and method:
        send({"jsonrpc": "2.0", "id": id_, "error": {"code": -32601, "message": "Method not found"}})


if mode == "exit":
    os._exit(7)
if mode == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin.buffer:
    seen.write(line)
    handle(json.loads(line))
    while mode == "deaf":
        time.sleep(1)
    while mode == "pings":
        write((json.dumps({"jsonrpc": "2.0", "id": "i" * 250, "method": "ping"}) + "\n") * 500)
while mode == "stubborn":
    time.sleep(1)
os._exit(0)
