# SPDX-License-Identifier: Apache-2.0
"""LangChain agents and LangGraph's tool node."""

import unittest

import rig_langchain
from conformance import Conformance


class LangChain(Conformance, unittest.TestCase):
    rig = rig_langchain


if __name__ == "__main__":
    unittest.main()
