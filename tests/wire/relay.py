# SPDX-License-Identifier: Apache-2.0
"""A gateway that mediates nothing: bytes go both ways as they came. argv[1] gets a copy of what went to the server `argv[2:]`.

The suite's negative control stands it in the gateway's place; and it records what the gateway sends to a server that cannot record."""
import os
import subprocess
import sys
import threading

seen = open(sys.argv[1], "ab", buffering=0)
server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE)  # its stdout is ours
threading.Thread(target=lambda: os._exit(server.wait()), daemon=True).start()
try:
    for line in sys.stdin.buffer:
        seen.write(line)
        server.stdin.write(line)
        server.stdin.flush()
    server.stdin.close()
except BrokenPipeError:
    pass
sys.exit(server.wait())
