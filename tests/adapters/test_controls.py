# SPDX-License-Identifier: Apache-2.0
"""The rows of conformance.py can fail: adapters that are wrong do not pass those that say so."""

import types
import unittest
import unittest.mock

import rig_langchain
from conformance import Conformance
from interlock import ApprovalRequired, Denied
from interlock.adapters import seam


def failing(patch):
    """The rows that do not pass while the seam is patched."""

    class Patched(Conformance, unittest.TestCase):
        rig = types.SimpleNamespace(play=rig_langchain.play, play_async=rig_langchain.play_async)

    result = unittest.TestResult()
    with unittest.mock.patch.object(seam.Seam, "acall", patch):
        unittest.defaultTestLoader.loadTestsFromTestCase(Patched).run(result)
    return {getattr(case, "test_case", case).id().rpartition(".test_")[2] for case, _ in result.failures + result.errors}  # of a subtest, its test


class Controls(unittest.TestCase):
    def test_an_adapter_that_asks_nobody(self):
        async def acall(self, tool, args, run, seen, plan=None):
            return await run(dict(args))

        wrong = failing(acall)
        for row in (
            "the_trifecta_is_stopped_before_it_runs", "denied_does_not_run_and_the_model_reads_why", "a_tool_that_no_entry_names", "a_gate_that_is_closed", "a_decision_that_is_none",
            "two_calls_of_one_step_where_the_first_taints", "calls_of_one_step_run_one_after_the_other", "a_result_that_cannot_be_recorded_is_withheld", "a_tool_that_raises_is_recorded",
            "the_text_of_an_error_is_remembered", "odd_arguments", "asked_approved_resumed", "asked_and_refused", "an_approval_is_for_one_call", "only_yes_is_a_yes",
            "a_resolver_is_asked_on_the_spot", "an_agent_within_an_agent", "cancelled_while_it_runs", "cancelled_while_it_waits_for_its_turn", "names_of_the_policy",
        ):
            self.assertIn(row, wrong)
        self.assertNotIn("allowed_runs_once", wrong)

    def test_an_adapter_that_decides_and_does_not_record(self):
        async def acall(self, tool, args, run, seen, plan=None):
            decision = self.gate.decide(self.name(tool), args)
            if decision.run is not True:
                raise ApprovalRequired(decision) if decision.action == "require_approval" else Denied(decision)
            return await run(dict(args))

        wrong = failing(acall)
        for row in ("a_result_that_cannot_be_recorded_is_withheld", "a_tool_that_raises_is_recorded", "the_text_of_an_error_is_remembered", "calls_of_one_step_run_one_after_the_other"):
            self.assertIn(row, wrong)
        self.assertNotIn("denied_does_not_run_and_the_model_reads_why", wrong)

    def test_an_adapter_that_judges_what_it_does_not_run(self):
        real = seam.Seam.acall

        async def acall(self, tool, args, run, seen, plan=None):
            return await real(self, tool, args, lambda judged: run(args), seen, plan)

        self.assertIn("arguments_that_change_after_the_decision", failing(acall))


if __name__ == "__main__":
    unittest.main()
