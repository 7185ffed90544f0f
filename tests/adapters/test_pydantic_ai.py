# SPDX-License-Identifier: Apache-2.0
"""Pydantic AI agents."""

import unittest

import rig_pydantic_ai
from conformance import Conformance


class PydanticAI(Conformance, unittest.TestCase):
    rig = rig_pydantic_ai


if __name__ == "__main__":
    unittest.main()
