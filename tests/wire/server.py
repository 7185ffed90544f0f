# SPDX-License-Identifier: Apache-2.0
"""A server that records: argv[1] gets the exact bytes of each line that arrives. argv[2] may be a JSON object: {"result of a method": …}
under the method's name, or under `METHOD CURSOR`. The tool `raw` writes the bytes of `hex`, with $ID for the id of its call."""
import json
import sys

seen = open(sys.argv[1], "ab", buffering=0)
results = json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}
held = []  # ids of calls that are not answered yet


def write(data):
    sys.stdout.buffer.write(data + b"\n")
    sys.stdout.buffer.flush()


def send(**message):
    write(json.dumps({"jsonrpc": "2.0", **message}).encode())


def text(id_, value):
    send(id=id_, result={"content": [{"type": "text", "text": value}]})


def call(id_, name, args):
    if name == "raw":
        write(bytes.fromhex(args["hex"]).replace(b"$ID", str(id_).encode()))
    elif name == "stderr":
        sys.stderr.buffer.write(bytes.fromhex(args["hex"]))
        sys.stderr.flush()
        text(id_, "ok")
    elif name == "big":
        write(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%s"}]}}' % (id_, args["of"].encode() * args["n"]))
    elif name == "hold":
        held.append(id_)
    elif name == "held":  # bytes with $0, $1 … for the ids that are held
        data = bytes.fromhex(args["hex"]).replace(b"$ID", str(id_).encode())
        for i, one in enumerate(held):
            data = data.replace(b"$%d$" % i, str(one).encode())
        write(data)
    else:
        text(id_, json.dumps(args))


def handle(message):
    method, id_, params = message.get("method"), message.get("id"), message.get("params") or {}
    if id_ is None or method is None:
        return
    key = f"{method} {params['cursor']}" if "cursor" in params else method
    if method == "initialize":
        send(id=id_, result={"protocolVersion": params["protocolVersion"], "serverInfo": {"name": "recorder", "version": "1"}, "capabilities": {
            "tools": {"listChanged": True}, "resources": {"subscribe": True}, "prompts": {}, "logging": {}, "completions": {}}, **results.get("initialize", {})})
    elif key in results:
        send(id=id_, result=results[key])
    elif method == "tools/call":
        call(id_, params["name"], params.get("arguments"))
    elif method == "ping" or method.startswith(("resources/", "logging/", "prompts/", "completion/", "tools/")):
        send(id=id_, result={})
    else:
        send(id=id_, error={"code": -32601, "message": "Method not found"})


for line in sys.stdin.buffer:
    seen.write(line)
    try:
        parsed = json.loads(line)
    except ValueError:
        continue
    for each in parsed if isinstance(parsed, list) else [parsed]:
        if isinstance(each, dict):
            handle(each)
