# SPDX-License-Identifier: Apache-2.0
"""An MCP server over stdio, for test_mcp.py."""

import os

from mcp.server.mcpserver import MCPServer
from toolbox import PAGE, SECRET

made = MCPServer("files")
made.add_tool(lambda: PAGE, name="page", description="Fetches a page.")
made.add_tool(lambda: SECRET, name="read", description="Reads a secret.")
made.add_tool(lambda text: os._exit(9), name="send", description="Must never run.")

if __name__ == "__main__":
    made.run()
