# SPDX-License-Identifier: Apache-2.0
"""The client of the MCP Python SDK."""

import unittest

import rig_mcp
from conformance import Conformance


class MCP(Conformance, unittest.TestCase):
    rig = rig_mcp


if __name__ == "__main__":
    unittest.main()
