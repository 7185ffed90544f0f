# SPDX-License-Identifier: Apache-2.0
"""The runtime: a policy, where records go, who approves, and the runs that live."""

from __future__ import annotations

import asyncio
import collections
import collections.abc
import contextlib
import contextvars
import inspect
import logging
import os
import sys
import threading
import typing
import weakref

from .. import _core
from ..errors import UsageError
from .ambient import current_run, get_runtime, install
from .decision import Decision
from .errors import ApprovalDenied, InterboltConfigError, InterboltUsageError, PolicyEvaluationError, PolicyViolation
from .guard import AgentHandle
from .names import DEFAULT_AGENT_ID, Action, Mode, agent_name, mode_of
from .policy import Policy, default_policy
from .record import Event, Finding, Record
from .reporter import CompositeReporter, Reporter
from .run import Judged, Run, RunContext

__all__ = ["ApprovalResolver", "Runtime", "auto_deny", "check", "configure", "enforce_decision", "enforce_decision_sync", "get_runtime"]

ApprovalResolver = collections.abc.Callable[[Decision], object]
FINDINGS = 10_000
RUNS = 1_000  # that a program names itself
_log = logging.getLogger("interlock.runtime")
_enforced = logging.getLogger("interlock.enforcement")
_STRICT = {Mode.DRY_RUN: 0, Mode.MONITOR: 1, Mode.ENFORCE: 2}


def auto_deny(decision: Decision) -> bool:
    """Nobody is asked."""
    return False


class Runtime:
    """What `configure` makes. Any thread may use it; several may be there at once, each with its own runs."""

    def __init__(
        self,
        *,
        policy: Policy,
        reporter: Reporter | None = None,
        approval_resolver: ApprovalResolver = auto_deny,
        mode: Mode = Mode.ENFORCE,
        audit: bool = False,
        content: bool = True,
        approval_timeout: float | None = None,
    ) -> None:
        self.policy = policy
        self.reporter = reporter if isinstance(reporter, CompositeReporter) else CompositeReporter([reporter] if reporter is not None else [])
        self.approval_resolver = approval_resolver
        self.mode = mode
        self.audit = audit
        self.content = content
        self.approval_timeout = approval_timeout
        self._findings: collections.deque[Finding] = collections.deque(maxlen=FINDINGS)
        self._live: weakref.WeakValueDictionary[str, Run] = weakref.WeakValueDictionary()
        self._named: dict[str, Run] = {}
        self._agents: set[str] = set()
        self._lock = threading.Lock()
        policy.compiled(mode)
        self.outside = Run(policy, mode, DEFAULT_AGENT_ID, content=content)

    def _agent(self, agent_id: str) -> str:
        """A name that has been looked at need not be again."""
        name = agent_name(agent_id, True)
        if len(self._agents) < RUNS:
            self._agents.add(name)
        return name

    # ---- runs ------------------------------------------------------------------------------------------------

    def _open(self, agent_id: str) -> tuple[Run, contextvars.Token[Run | None]]:
        agent = agent_name(agent_id)
        around = current_run.get()
        parent = around if around is not None and not around.closed and around.policy is self.policy else None
        run = Run(self.policy, self.mode, agent, parent=parent, content=self.content)
        self._live[run.id] = run
        return run, current_run.set(run)

    def _close(self, run: Run, token: contextvars.Token[Run | None]) -> None:
        current_run.reset(token)
        self._live.pop(run.id, None)
        run.end()

    @contextlib.contextmanager
    def agent_context_sync(self, agent_id: str) -> collections.abc.Iterator[RunContext]:
        """A run of an agent. Inside of another it begins with what that one holds, and leaves it what it has come to hold."""
        run, token = self._open(agent_id)
        try:
            yield RunContext(run.id, run.agent)
        finally:
            self._close(run, token)

    @contextlib.asynccontextmanager
    async def agent_context(self, agent_id: str) -> collections.abc.AsyncIterator[RunContext]:
        """The same, with `async with`."""
        run, token = self._open(agent_id)
        try:
            yield RunContext(run.id, run.agent)
        finally:
            self._close(run, token)

    def end_run(self, run_id: str) -> None:
        """Ends a run that the program named itself (`check(run_id=...)`)."""
        with self._lock:
            run = self._named.pop(run_id, None)
        if run is not None:
            run.end()

    def run(self, agent_id: str | None = None, run_id: str | None = None) -> tuple[Run, str]:
        """The run and agent of a call. One without a context is in the run of all such calls, which knows what each run that lives holds: nobody can tell to which it belongs."""
        if run_id is not None:
            return self._by_id(run_id, agent_id or DEFAULT_AGENT_ID), agent_id or DEFAULT_AGENT_ID
        run = current_run.get()
        if run is not None and run.policy is self.policy:
            return run, agent_id or run.agent
        agent = agent_id or DEFAULT_AGENT_ID
        for live in list(self._live.values()):
            if not live.closed:
                self.outside.learn(live, agent)
        return self.outside, agent

    def _by_id(self, run_id: str, agent: str) -> Run:
        run = self._live.get(run_id) or self._named.get(run_id)
        if run is not None:
            return run
        with self._lock:
            if len(self._named) >= RUNS:
                raise InterboltUsageError(f"more than {RUNS} runs are named and live: `runtime.end_run(run_id)` ends one, or use `agent_context`")
            return self._named.setdefault(run_id, Run(self.policy, self.mode, agent, run_id=_run_id(run_id), content=self.content))

    # ---- decisions ---------------------------------------------------------------------------------------------

    def check(
        self, *, tool: str, args: collections.abc.Mapping[str, typing.Any], agent_id: str, run_id: str | None = None, session_id: str | None = None
    ) -> Decision:  # fmt: skip
        """Decides a call and records it. Nothing is enforced: the caller looks at `.action`, or gives the decision to `enforce_decision`.

        PolicyEvaluationError for a call that cannot be judged (a condition that errs, arguments that cannot be read), with the decision, which is a block.
        """
        if type(agent_id) is not str or agent_id not in self._agents:
            agent_id = self._agent(agent_id)
        run = current_run.get() if run_id is None else None
        if run is None or run.policy is not self.policy:
            run, agent_id = self.run(agent_id, run_id)
        return self.judge(run, agent_id, tool, args if type(args) is dict else _members(args), session_id, True)

    def judge(self, run: Run, agent: str, tool: str, args: dict[str, typing.Any], session_id: str | None, at_once: bool) -> Decision:
        core, found, text, before = self.asked(run, agent, tool, args, at_once)
        return self.told(Decision(core, found, run, tool, agent, session_id, before, text))

    def asked(self, run: Run, agent: str, tool: str, args: dict[str, typing.Any], at_once: bool) -> Judged:
        try:
            return run.judge(agent, tool, args, at_once)
        except UsageError as e:
            raise InterboltUsageError(str(e)) from e

    def told(self, decision: Decision) -> Decision:
        """The decision, after those who listen have heard of it. PolicyEvaluationError where the call could not be judged."""
        core = decision._core
        if core.action != "allow":
            _enforced.warning("tool=%s outcome=%s rule=%s mode=%s", decision.tool, decision.outcome.value, decision.matched_rule, decision.mode.value)
        if self.reporter.heard:
            self.reporter.export(Event(decision, self.policy.fingerprint, trace_ids()))
        if self.audit and decision._found:
            self._audit(decision._run, decision)
        if core.layer == "fault":
            raise PolicyEvaluationError(core.message or f"`{decision.tool}` cannot be judged: {core.reason}", decision=decision)
        return decision

    def _audit(self, run: Run, decision: Decision) -> None:
        for path, label, by in decision._found:
            argument = path.split("/")[1].replace("~1", "/").replace("~0", "~")
            for source in label.lineage if label is not None and by == "content" else ():
                key = (source, decision.tool, argument)
                if not self.policy.trusts(source) and key not in run.reported and len(run.reported) < FINDINGS:
                    run.reported.add(key)
                    finding = Finding(decision, source, argument, self.policy.fingerprint, trace_ids())
                    self._findings.append(finding)
                    self.reporter.export(finding)

    def audit_findings(self) -> list[Finding]:
        """The latest findings; none without `configure(audit=True)`."""
        return list(self._findings)

    # ---- enforcing -----------------------------------------------------------------------------------------------

    def enforce_decision_sync(self, decision: Decision) -> None:
        """Returns when the call may run: PolicyViolation, ApprovalDenied."""
        self.released_sync(decision, True)

    async def enforce_decision(self, decision: Decision) -> None:
        """The same; the resolver may be a coroutine function."""
        await self.released(decision, True)

    def released_sync(self, decision: Decision, at_once: bool) -> _core.Decision:
        """The core's decision that lets the call run."""
        if not self._waits(decision):
            return decision.core
        answer = self._asked(decision)
        if inspect.isawaitable(answer):
            if inspect.iscoroutine(answer):
                answer.close()
            self._answered(decision, False, at_once)
            raise InterboltUsageError("the resolver is a coroutine function, and this is a sync call site")
        return self._release(decision, answer, at_once)

    async def released(self, decision: Decision, at_once: bool) -> _core.Decision:
        if not self._waits(decision):
            return decision.core
        answer = self.approval_resolver(decision)
        if inspect.isawaitable(answer):
            try:
                answer = await asyncio.wait_for(answer, self.approval_timeout)
            except (asyncio.TimeoutError, TimeoutError):
                answer = None
        return self._release(decision, answer, at_once)

    def _waits(self, decision: Decision) -> bool:
        if decision.action == Action.ALLOW:
            return False
        if decision.action == Action.REQUIRE_APPROVAL:
            return True
        raise PolicyViolation(f"`{decision.tool}` is blocked by {_named(decision)}", decision=decision)

    def _asked(self, decision: Decision) -> object:
        if self.approval_timeout is None:
            return self.approval_resolver(decision)
        told: list[object] = []
        failed: list[BaseException] = []
        context = contextvars.copy_context()

        def ask() -> None:
            try:
                told.append(context.run(self.approval_resolver, decision))
            except BaseException as e:
                failed.append(e)

        thread = threading.Thread(target=ask, name="interlock-approval", daemon=True)
        thread.start()
        thread.join(self.approval_timeout)
        if failed:
            raise failed[0]
        return told[0] if told else None

    def _release(self, decision: Decision, answer: object, at_once: bool) -> _core.Decision:
        core = self._answered(decision, answer is True, at_once)
        if answer is not True:
            why = "nobody answered in time" if answer is None else "it was refused" if answer is False else f"the resolver said {type(answer).__name__}, and only True is a yes"
            raise ApprovalDenied(f"`{decision.tool}` waits for approval by {_named(decision)}: {why}", decision=decision)
        if not core.run:
            raise ApprovalDenied(f"`{decision.tool}` was approved too late: the request had lapsed, or the run has come to hold more since", decision=decision)
        return core

    def _answered(self, decision: Decision, yes: bool, at_once: bool) -> _core.Decision:
        if not isinstance(decision, Decision) or not decision._core.approval:
            raise ApprovalDenied("this decision is of no call that could be released", decision=decision)
        if decision._used:
            raise ApprovalDenied("this decision was answered before: one answer is for one call", decision=decision)
        decision._used = True
        return decision._run.answer(decision, yes, "resolver", at_once)

    # ---- the rest ----------------------------------------------------------------------------------------------------

    def agent(self, agent_id: str) -> AgentHandle:
        """A handle whose calls are this agent's, whatever the context says."""
        return AgentHandle(agent_id, runtime_resolver=lambda: self)

    def add_reporter(self, reporter: Reporter) -> None:
        self.reporter.add(reporter)

    def export(self, record: Record) -> None:
        self.reporter.export(record)


def _named(decision: Decision) -> str:
    rule = decision.matched_rule
    return f"rule `{rule}`" if rule is not None else f"`{decision.core.reason}`" if decision.core.layer == "machine" else "the default sink action"


def _members(args: typing.Any) -> dict[str, typing.Any]:
    if isinstance(args, dict):
        return args
    if not isinstance(args, collections.abc.Mapping):
        raise InterboltUsageError(f"args is a mapping, not {type(args).__name__}")
    return dict(args)


def _run_id(run_id: str) -> str:
    if not isinstance(run_id, str) or not 0 < len(run_id) <= 100 or not all(c.isalnum() and c.isascii() or c in "._:-" for c in run_id):
        raise InterboltConfigError("a run_id has 1 to 100 letters, digits and `. _ : -`")
    return run_id


def trace_ids() -> tuple[str | None, str | None]:
    """Of the current span, when OpenTelemetry is there and in use."""
    trace = sys.modules.get("opentelemetry.trace")
    context = trace.get_current_span().get_span_context() if trace is not None else None
    return (f"{context.trace_id:032x}", f"{context.span_id:016x}") if context is not None and context.is_valid else (None, None)


def _mode(policy: Policy, mode: object) -> Mode:
    wanted = mode_of(mode, "mode")
    resolved = policy.fail_mode or wanted
    said = os.environ.get("INTERLOCK_MODE") or os.environ.get("INTERBOLT_MODE")
    if said is not None:
        asked = mode_of(said, "INTERLOCK_MODE")
        if _STRICT[asked] > _STRICT[resolved]:
            _log.warning("INTERLOCK_MODE=%s instead of %s", asked.value, resolved.value)
            return asked
        if asked is not resolved:
            _log.warning("INTERLOCK_MODE=%s would loosen %s, and is not taken", asked.value, resolved.value)
    return resolved


def configure(
    *,
    policy: Policy | None = None,
    reporter: Reporter | None = None,
    approval_resolver: ApprovalResolver = auto_deny,
    mode: Mode | str = Mode.ENFORCE,
    audit: bool = False,
    content: bool = True,
    approval_timeout: float | None = None,
) -> Runtime:
    """Makes the runtime that `check`, `guard` and `taint` use from now on, in all threads.

    `approval_resolver` is asked for calls that wait for a human: only True is a yes. `content=False`: values whose label was lost are not found again. `audit`: such a value is a Finding as
    well. `approval_timeout`: seconds after which no answer is a no (a resolver that is no coroutine function then runs in a thread of its own).

        configure(policy=Policy.from_file("policy.yaml"), reporter=JsonlReporter("calls.jsonl"))
    """
    if policy is None:
        _log.warning("no policy: every call waits for a human (write one: `interlock init`)")
        policy = default_policy()
    runtime = Runtime(
        policy=policy, reporter=reporter, approval_resolver=approval_resolver, mode=_mode(policy, mode), audit=audit, content=content, approval_timeout=approval_timeout
    )  # fmt: skip
    _log.info("mode=%s policy_source=%s audit=%s", runtime.mode.value, policy.source or "programmatic (no file)", audit)
    install(runtime)
    return runtime


def check(*, tool: str, args: collections.abc.Mapping[str, typing.Any], agent_id: str, run_id: str | None = None, session_id: str | None = None) -> Decision:
    """As Runtime.check, of the current runtime; the agent must not be `default`."""
    return get_runtime().check(tool=tool, args=args, agent_id=agent_name(agent_id), run_id=run_id, session_id=session_id)


def enforce_decision_sync(decision: Decision) -> None:
    """As Runtime.enforce_decision_sync."""
    get_runtime().enforce_decision_sync(decision)


async def enforce_decision(decision: Decision) -> None:
    """As Runtime.enforce_decision."""
    await get_runtime().enforce_decision(decision)
