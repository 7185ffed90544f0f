# SPDX-License-Identifier: Apache-2.0
"""An MCP server that answers each call with what stands in the file argv[1]: the result or the error of a step of a session file."""
import json
import pathlib
import sys

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "script", "version": "1"}}
    elif message["method"] == "tools/call":
        step = json.loads(pathlib.Path(sys.argv[1]).read_text())
        value = step.get("result")
        result = {"content": []}
        if step.get("error") is not None:
            result = {"content": [{"type": "text", "text": step["error"]}], "isError": True}
        elif isinstance(value, str):
            result["content"].append({"type": "text", "text": value})
        elif value is not None:  # as servers do: structured, and once more as a text
            result = {"content": [{"type": "text", "text": json.dumps(value)}], "structuredContent": value}
    else:
        result = {}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
