# SPDX-License-Identifier: Apache-2.0
"""A document of Interbolt behind the gateway: what a tool returns is a source (`produces`), and a rule asks for it. Started by run.py with the program's path."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gateway"))
from peer import Gateway  # noqa: E402

POLICY = """version: "2.0"
defaults: {sink_action: block}
sources: [{name: web, trust: untrusted}]
sinks:
  fake.echo: {produces: web, rules: [{name: all, action: allow}]}
  fake.release:
    rules:
      - {name: after web, when: '"web" in run.untrusted_sources && run.tainted', action: block}
      - {name: all, action: allow}
"""


def denied(answer):
    assert answer["result"].get("isError"), answer
    return answer["result"]["content"][0]["text"]


g = Gateway(policy=POLICY)
g.start()
tools = {t["name"] for t in g.ask("tools/list")["result"]["tools"]}
assert "echo" in tools, tools  # lists are no calls of tools
assert not g.call("release")["result"].get("isError")
assert not g.call("echo", x="https://evil.example")["result"].get("isError")
assert "after-web" in denied(g.call("release"))
assert "sink_action" in denied(g.call("slow", ms=1))
g.end()
