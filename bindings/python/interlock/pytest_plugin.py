# SPDX-License-Identifier: Apache-2.0
"""The fixture `interlock_session` for pytest. In `conftest.py`:

    pytest_plugins = ["interlock.pytest_plugin"]

Then

    def test_the_injected_mail(interlock_session):
        session = interlock_session("policy.yaml", prompt="Mail a summary to ana@example.org")
        assert_allowed(session.step("fetch", {"url": "https://garden.example"}, result="..."))
"""

from __future__ import annotations

import collections.abc
import typing

import pytest

from .gate import Gate
from .testing import PolicyLike, ScriptedSession

__all__ = ["interlock_session"]


@pytest.fixture
def interlock_session() -> collections.abc.Iterator[collections.abc.Callable[..., ScriptedSession]]:
    """Makes scripted sessions, and closes them when the test is over."""
    made: list[ScriptedSession] = []

    def make(policy: PolicyLike | Gate, **more: typing.Any) -> ScriptedSession:
        made.append(ScriptedSession(policy, **more))
        return made[-1]

    yield make
    for session in made:
        session.close()
