# SPDX-License-Identifier: Apache-2.0
"""The OpenAI Agents SDK."""

import unittest

import rig_openai_agents
from conformance import Conformance


class OpenAIAgents(Conformance, unittest.TestCase):
    rig = rig_openai_agents


if __name__ == "__main__":
    unittest.main()
