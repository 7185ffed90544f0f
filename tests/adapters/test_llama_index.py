# SPDX-License-Identifier: Apache-2.0
"""LlamaIndex agents."""

import unittest

import rig_llama_index
from conformance import Conformance


class LlamaIndex(Conformance, unittest.TestCase):
    rig = rig_llama_index


if __name__ == "__main__":
    unittest.main()
