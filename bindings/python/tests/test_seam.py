# SPDX-License-Identifier: Apache-2.0
"""The piece that the adapters share: one call of a session at a time, from threads, tasks, loops and agents within agents."""

import asyncio
import gc
import threading
import time
import unittest
import weakref

from interlock import Denied, Gate, Withheld
from interlock.adapters.seam import Seam, ToolFailure, read

POLICY = {
    "interlock": 1,
    "machine": "standard",
    "tools": [{"match": "note", "effects": []}, {"match": "web.fetch", "effects": ["untrusted"]}, {"match": "outer", "effects": []}],
}


def same(value):
    return value


class Turns(unittest.TestCase):
    def setUp(self):
        self.gate = Gate(POLICY)
        self.addCleanup(self.gate.close)
        self.seam = Seam(self.gate)
        self.inside = 0
        self.most = 0
        self.ran = 0

    def enter(self):
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.ran += 1

    def now(self, args):
        self.enter()
        time.sleep(0.0005)
        self.inside -= 1
        return "x"

    async def later(self, args):
        self.enter()
        await asyncio.sleep(0.0005)
        self.inside -= 1
        return "x"

    def test_threads_and_tasks_of_several_loops(self):
        async def tasks():
            await asyncio.gather(*(Seam(self.gate).acall("note", {"n": i}, self.later, same) for i in range(20)))

        def calls():
            for i in range(20):
                Seam(self.gate).call("note", {"n": i}, self.now, same)

        threads = [threading.Thread(target=calls) for _ in range(4)] + [threading.Thread(target=asyncio.run, args=(tasks(),)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual((self.ran, self.most), (160, 1))

    def test_two_sessions_do_not_wait_for_each_other(self):
        other = Seam(self.gate.session())

        async def go():
            met = asyncio.Barrier(2)

            async def meet(args):
                await met.wait()
                return "x"

            await asyncio.wait_for(asyncio.gather(self.seam.acall("note", {}, meet, same), other.acall("note", {}, meet, same)), 10)

        asyncio.run(go())

    def test_an_agent_within_an_agent(self):
        """Its calls run one after the other, too, and nobody waits for himself."""

        async def go():
            async def outer(args):
                await asyncio.gather(*(self.seam.acall("note", {"n": i}, self.later, same) for i in range(10)))
                return "x"

            await asyncio.gather(*(self.seam.acall("outer", {}, outer, same) for _ in range(3)))

        asyncio.run(asyncio.wait_for(go(), 20))
        self.assertEqual((self.ran, self.most), (30, 1))

    def test_what_a_call_leaves_behind_waits_like_everybody(self):
        async def go():
            left = []

            async def outer(args):
                left.append(asyncio.create_task(behind()))
                return "x"

            async def behind():
                await asyncio.sleep(0.01)  # until the call is over
                await self.seam.acall("note", {}, self.later, same)

            await self.seam.acall("outer", {}, outer, same)
            await asyncio.gather(*left, *(self.seam.acall("note", {"n": i}, self.later, same) for i in range(30)))

        asyncio.run(asyncio.wait_for(go(), 20))
        self.assertEqual(self.most, 1)

    def test_who_is_cancelled_while_he_waits(self):
        async def go():
            door = asyncio.Event()

            async def hold(args):
                await door.wait()
                return "x"

            first = asyncio.create_task(self.seam.acall("note", {}, hold, same))
            await asyncio.sleep(0)
            waiting = [asyncio.create_task(self.seam.acall("note", {"n": i}, self.later, same)) for i in range(5)]
            await asyncio.sleep(0.01)
            for task in waiting[::2]:
                task.cancel()
            door.set()
            await asyncio.gather(first, *waiting, return_exceptions=True)
            await self.seam.acall("note", {}, self.later, same)

        asyncio.run(asyncio.wait_for(go(), 20))
        self.assertEqual(self.ran, 3)

    def test_who_waits_too_long_does_not_run(self):
        with Gate(POLICY, deadline=0.05) as gate:
            seam = Seam(gate)

            async def go():
                door = asyncio.Event()

                async def hold(args):
                    await door.wait()
                    return "x"

                first = asyncio.create_task(seam.acall("note", {}, hold, same))
                await asyncio.sleep(0.01)
                with self.assertRaises(Denied) as caught:
                    await seam.acall("note", {}, self.later, same)
                self.assertEqual(caught.exception.decision.reason, "busy")
                with self.assertRaises(Denied):
                    await asyncio.to_thread(seam.call, "note", {}, self.now, same)
                door.set()
                with self.assertRaises(Withheld):
                    await first  # past its own deadline
                await seam.acall("note", {}, self.later, same)

            asyncio.run(asyncio.wait_for(go(), 20))
        self.assertEqual(self.ran, 1)

    def test_a_gate_that_is_gone_leaves_nothing(self):
        gate = Gate(POLICY)
        Seam(gate).call("note", {}, self.now, same)
        gate.close()
        seen = weakref.ref(gate)
        del gate
        gc.collect()
        self.assertIsNone(seen())


class Overlap(unittest.TestCase):
    """Calls that go on after their turn: what each brings is held from its decision on."""

    TOOLS = {
        "interlock": 1,
        "machine": "trifecta",
        "tools": [
            {"match": "note", "effects": []},
            {"match": "fetch", "effects": ["untrusted"]},
            {"match": "read", "effects": ["sensitive"]},
            {"match": "send", "effects": ["egress"], "sink": "once", "to": {"email": "to"}, "reads": ["body"]},
        ],
    }

    def setUp(self):
        self.gate = Gate(self.TOOLS, deadline=30)
        self.addCleanup(self.gate.close)
        self.seam = Seam(self.gate)
        self.ran = []

    def slow(self, tool, args, door, here=None):
        async def run(judged):
            self.ran.append(tool)
            if here is not None:
                here.set()
            await door.wait()
            return tool

        return asyncio.create_task(self.seam.acall(tool, args, run, same, overlap=True))

    def go(self, play):
        asyncio.run(asyncio.wait_for(play(), 20))

    def test_two_slow_calls_overlap(self):
        async def play():
            doors, here = [asyncio.Event(), asyncio.Event()], [asyncio.Event(), asyncio.Event()]
            calls = [self.slow("note", {"n": i}, doors[i], here[i]) for i in range(2)]
            await asyncio.gather(*(h.wait() for h in here))  # both are in the middle; one after the other would never get here
            doors[1].set()
            self.assertEqual(await calls[1], "note")
            self.assertFalse(calls[0].done())
            doors[0].set()
            await calls[0]

        self.go(play)

    def test_the_pair_that_must_not_meet_is_denied_while_both_would_be_under_way(self):
        async def play():
            doors, here = [asyncio.Event() for _ in range(3)], [asyncio.Event() for _ in range(3)]
            calls = [self.slow(tool, {}, doors[i], here[i]) for i, tool in enumerate(("fetch", "read"))]
            await asyncio.gather(here[0].wait(), here[1].wait())
            third = self.slow("send", {"to": "eve@evil.example", "body": "x"}, doors[2])
            await asyncio.sleep(0.05)
            self.assertEqual((third.done(), self.ran), (False, ["fetch", "read"]), "it waits for what may be lowered, and has not run")
            for door in doors:
                door.set()
            with self.assertRaises(Denied):
                await third
            await asyncio.gather(*calls)

        self.go(play)
        self.assertEqual(self.ran, ["fetch", "read"])

    def test_one_that_is_blocked_for_what_is_under_way_runs_after_it(self):
        async def play():
            self.gate.call("fetch", {}, lambda: "a page")
            doors, here = [asyncio.Event(), asyncio.Event()], asyncio.Event()
            doors[1].set()
            first = self.slow("send", {"to": "eve@evil.example", "body": "x"}, doors[0], here)  # a way out while it is under way, and not after it
            await here.wait()
            second = self.slow("read", {}, doors[1])
            await asyncio.sleep(0.05)
            self.assertEqual(self.ran, ["send"])
            doors[0].set()
            await asyncio.gather(first, second)

        self.go(play)
        self.assertEqual(self.ran, ["send", "read"])

    def test_others_wait_until_nothing_is_under_way(self):
        async def play():
            doors, here = [asyncio.Event(), asyncio.Event()], asyncio.Event()
            first = self.slow("note", {}, doors[0], here)
            await here.wait()
            alone = asyncio.create_task(self.seam.acall("note", {"n": 2}, self.later, same))
            thread = asyncio.create_task(asyncio.to_thread(self.seam.call, "note", {"n": 3}, lambda args: self.ran.append("thread"), same))
            await asyncio.sleep(0.05)
            self.assertEqual(self.ran, ["note"])
            doors[0].set()
            await asyncio.gather(first, alone, thread)

        self.go(play)
        self.assertEqual(sorted(self.ran), ["later", "note", "thread"])

    async def later(self, args):
        self.ran.append("later")
        return "x"

    def test_who_is_cancelled_frees_what_he_held(self):
        async def play():
            door, here = asyncio.Event(), asyncio.Event()
            door_of_others = asyncio.Event()
            door_of_others.set()
            self.gate.call("fetch", {}, lambda: "a page")
            first = self.slow("send", {"to": "eve@evil.example", "body": "x"}, door, here)
            await here.wait()
            waiting = self.slow("read", {}, door_of_others)
            await asyncio.sleep(0.02)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            self.assertFalse(first.done(), "who waits for a call and gives up does not end it")
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            await self.seam.acall("note", {}, self.later, same)
            await self.slow("note", {}, door_of_others)

        self.go(play)
        self.assertEqual(self.ran, ["send", "later", "note"])

    def test_many(self):
        async def tasks(n):
            async def run(args):
                await asyncio.sleep(0)
                self.ran.append(args)
                return "x"

            await asyncio.gather(*(Seam(self.gate).acall("note", {"n": n, "i": i}, run, same, overlap=i % 3 != 0) for i in range(60)))

        threads = [threading.Thread(target=asyncio.run, args=(tasks(n),)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(len(self.ran), 240)


class Calls(unittest.TestCase):
    def test_only_a_gate(self):
        for wrong in (None, True, "policy.yaml", Gate):
            with self.assertRaises(TypeError):
                Seam(wrong)

    def test_names(self):
        with Gate(POLICY) as gate:
            Seam(gate, {"fetch": "web.fetch"}).call("fetch", {}, lambda args: "x", same)
            self.assertIn("web.fetch", gate.trail()[-1].body)

    def test_a_result_that_says_that_it_failed(self):
        def seen(result):
            raise ToolFailure("no luck")

        with Gate(POLICY) as gate:
            self.assertEqual(Seam(gate).call("note", {}, lambda args: "x", seen), "x")
            self.assertIn('"failed"', gate.trail()[-1].body)

            async def later(args):
                return "y"

            self.assertEqual(asyncio.run(Seam(gate).acall("note", {}, later, seen)), "y")

    def test_a_result_that_cannot_be_shown_is_withheld(self):
        def seen(result):
            raise RuntimeError("no")

        with Gate(POLICY) as gate, self.assertRaises(RuntimeError):
            Seam(gate).call("note", {}, lambda args: "x", seen)

    def test_plans(self):
        async def go():
            with Gate(POLICY) as gate:
                seam = Seam(gate)
                ran = []

                async def run(args):
                    ran.append(args)
                    return "x"

                plan = await seam.plan("note", {"n": 1})
                self.assertEqual(await seam.acall("note", {"n": 1}, run, same, plan), "x")
                rows = len(gate.trail())
                plan = await seam.plan("note", {"n": 2})
                await seam.acall("note", {"n": 3}, run, same, plan)
                self.assertEqual(ran, [{"n": 1}, {"n": 3}])
                self.assertEqual(len(gate.trail()) - rows, 4, "the plan is settled, and what ran was decided")
                seam.drop(await seam.plan("note", {}))
                with self.assertRaises(Denied):
                    await seam.plan("nobody_knows_it", {})
                with self.assertRaises(Denied):
                    await seam.plan("note", {"n": float("nan")})

        asyncio.run(go())

    def test_texts(self):
        self.assertEqual(read('{"a": [1]}'), {"a": [1]})
        for text in ("", "hello", '{"a": 1, "a": 2}', "NaN", "[" * 100_000, '{"a": Infinity}'):
            self.assertEqual(read(text), text)
        with Gate(POLICY) as gate:
            seam = Seam(gate)
            self.assertEqual(seam.arguments("note", ""), {})
            self.assertEqual(seam.arguments("note", '{"n": 1}'), {"n": 1})
            for text in ("[]", "1", "{", '{"a": 1, "a": 2}', "[" * 100_000, "null"):
                with self.assertRaises(Denied):
                    seam.arguments("note", text)


if __name__ == "__main__":
    unittest.main()
