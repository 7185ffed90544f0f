# SPDX-License-Identifier: Apache-2.0
"""An MCP server with the tools of the guard's tests: any of them answers its own name, `slow` when a file appears, `hang` never."""
import json
import os
import sys
import threading
import time


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def text(id_, value):
    send({"jsonrpc": "2.0", "id": id_, "result": {"content": [{"type": "text", "text": value}]}})


def wait(id_, path):
    while not os.path.exists(path):
        time.sleep(0.02)
    text(id_, "a late result")


for line in sys.stdin:
    m = json.loads(line)
    name = (m.get("params") or {}).get("name")
    if m.get("method") == "initialize":
        send({"jsonrpc": "2.0", "id": m["id"], "result": {"protocolVersion": "2025-11-25", "serverInfo": {"name": "fake", "version": "1"}, "capabilities": {"tools": {}}}})
    elif name == "slow":
        threading.Thread(target=wait, args=(m["id"], m["params"]["arguments"]["file"]), daemon=True).start()
    elif name and name != "hang":
        text(m["id"], name)
    elif m.get("method") == "tools/list":
        send({"jsonrpc": "2.0", "id": m["id"], "result": {"tools": []}})
