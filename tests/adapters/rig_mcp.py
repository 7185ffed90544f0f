# SPDX-License-Identifier: Apache-2.0
"""Plays a script through the MCP SDK's client, against a server of its own in the same process. There is no agent here: each call of a turn is sent at once."""

import asyncio

from interlock.adapters.mcp import guard
from mcp import Client
from mcp.server.mcpserver import MCPServer


def server(functions):
    made = MCPServer("test")
    for name, function in functions.items():
        made.add_tool(function, name=name, structured_output=False)
    return made


def text(result):
    return "".join(getattr(block, "text", "") for block in result.content)


async def play_async(gate, functions, script, *, approve=None, names=None):
    told = {}
    async with Client(server(functions)) as client:
        guard(gate, client, server="test", names={**{name: name for name in functions}, **(names or {})})

        async def one(call):
            asked = set()
            while True:
                result = await client.call_tool(call.tool, call.args)
                told[call.id] = text(result)
                waits = [a for a in gate.approvals() if not a.granted and a.id not in asked and a.id in told[call.id]]
                if not (result.is_error and waits and approve):
                    return
                asked.add(waits[0].id)
                if approve({"name": call.tool, "args": call.args}) is not True:
                    return
                if waits[0].id in {a.id for a in gate.approvals()}:
                    gate.approve(waits[0].id, "grace")

        for turn in script:
            await asyncio.gather(*(one(call) for call in turn))
    return told


def play(gate, functions, script, **more):
    return asyncio.run(play_async(gate, functions, script, **more))
