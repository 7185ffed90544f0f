# SPDX-License-Identifier: Apache-2.0
"""Google's Agent Development Kit."""

import unittest

import rig_google_adk
from conformance import Conformance


class GoogleADK(Conformance, unittest.TestCase):
    rig = rig_google_adk


if __name__ == "__main__":
    unittest.main()
