# SPDX-License-Identifier: Apache-2.0
"""The contract of docs/carriers.md, a test a row."""

import asyncio
import collections
import copy
import dataclasses
import gc
import io
import json as plain_json
import pathlib
import pickle
import re as plain_re
import sys
import unittest

from interlock import _core
from interlock.carrier import Carrier, Label, LabeledValue, Tainted, TaintedBytes, TaintedDict, TaintedList, TaintedTuple, json, label_of, mark, plain, re

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs/carriers.md"
WEB, KB = Label("web", "ana"), Label("kb", "bob")


def names(value):
    return value.label.lineage if isinstance(value, Carrier) else None


class Contract(unittest.TestCase):
    def setUp(self):
        self.t, self.u = Tainted("Hello  World", WEB), Tainted("kb", KB)

    def own(self, value, same):
        self.assertEqual((value, names(value)), (same, ("web",)))
        self.assertNotEqual(type(value), type(same))

    def both(self, value, same):
        self.assertEqual((value, names(value)), (same, ("web", "kb")))

    def test_concatenation(self):
        self.both(self.t + self.u, "Hello  Worldkb")
        self.own(self.t + "x", "Hello  Worldx")
        self.own("x" + self.t, "xHello  World")
        self.own(b"x" + TaintedBytes(b"y", WEB), b"xy")
        total = Tainted("", WEB)
        total += "x"
        self.own(total, "x")
        for other in (1, None, b"x"):
            with self.assertRaises(TypeError):
                self.t + other
            with self.assertRaises(TypeError):
                other + self.t

    def test_repetition(self):
        self.own(Tainted("ab", WEB) * 2, "abab")
        self.own(2 * Tainted("ab", WEB), "abab")
        self.own(2 * TaintedBytes(b"ab", WEB), b"abab")

    def test_slices_and_iteration(self):
        t = Tainted("abc", WEB)
        self.own(t[0], "a")
        self.own(t[-1], "c")
        self.own(t[:2], "ab")
        self.own(t[:], "abc")
        self.own(t[::-1], "cba")
        for c, same in zip(t, "abc"):
            self.own(c, same)
        for c, same in zip(reversed(t), "cba"):
            self.own(c, same)
        with self.assertRaises(IndexError):
            t[3]

    def test_percent(self):
        self.own("%s!" % self.u.__class__("x", WEB), "x!")
        self.both(Tainted("%s", WEB) % self.u, "kb")
        self.both(Tainted("%s %d", WEB) % ([self.u], 1), "['kb'] 1")
        self.both(Tainted("%(k)s", WEB) % {"k": {"deep": self.u}}, "{'deep': 'kb'}")
        self.both(TaintedBytes(b"%s", WEB) % TaintedBytes(b"kb", KB), b"kb")

    def test_format(self):
        self.both(Tainted("{} {x}", WEB).format(1, x=[self.u]), "1 ['kb']")
        self.both(Tainted("{}{}", WEB).format(self.u, 1), "kb1")
        self.both(Tainted("{k}", WEB).format_map({"k": self.u}), "kb")

    def test_formatted_alone(self):
        t = Tainted("ab", WEB)
        for value, same in ((f"{t}", "ab"), (f"{t:>4}", "  ab"), (format(t, ""), "ab"), (str(t), "ab"), (f"{t!s}", "ab"), (repr(t), "'ab'"), ("%s" % t, "ab")):
            self.own(value, same)

    def test_methods_of_one(self):
        for text in ("  héllo\tWORLD  ", "x", ""):
            t = Tainted(text, WEB)
            for name in "upper lower casefold capitalize title swapcase strip lstrip rstrip expandtabs".split():
                self.own(getattr(t, name)(), getattr(text, name)())
        self.own(Tainted("xaby", WEB).removeprefix("x"), "aby")
        self.own(Tainted("xaby", WEB).removesuffix("y"), "xab")
        self.own(Tainted("7", WEB).zfill(3), "007")
        self.own(Tainted("xxax", WEB).strip("x"), "a")
        self.own(Tainted("a\tb", WEB).expandtabs(tabsize=2), "a b")

    def test_methods_that_fill(self):
        t = Tainted("a", WEB)
        for name in ("center", "ljust", "rjust"):
            self.own(getattr(t, name)(3, "-"), getattr("a", name)(3, "-"))
            self.both(getattr(t, name)(3, Tainted("-", KB)), getattr("a", name)(3, "-"))
        self.both(t.replace("a", self.u), "kb")
        self.own(t.replace(Tainted("a", KB), "b"), "b")
        self.own(t.replace("a", "b", 1), "b")
        self.own(t.translate({97: "b"}), "b")
        self.both(t.translate({97: self.u}), "kb")
        with self.assertRaises(TypeError):
            t.replace("a")

    def test_parts(self):
        for name, args, text in (("split", (), "a b c"), ("split", (" ", 1), "a b c"), ("rsplit", (None, 1), "a b c"), ("splitlines", (True,), "a\nb\r\nc"), ("partition", (" ",), "a b"),
                                 ("partition", ("x",), "a b"), ("rpartition", (" ",), "a b c")):
            made = getattr(Tainted(text, WEB), name)(*args)
            same = getattr(text, name)(*args)
            self.assertIs(type(made), type(same))
            self.assertEqual(len(made), len(same))
            for one, other in zip(made, same):
                self.own(one, other)
        self.assertEqual([str(x) for x in Tainted("a,b", WEB).split(sep=",", maxsplit=1)], ["a", "b"])

    def test_join(self):
        self.both(Tainted(",", WEB).join(["a", self.u]), "a,kb")
        self.both(Tainted(",", WEB).join(x for x in ("a", self.u)), "a,kb")
        self.own(Tainted(",", WEB).join([]), "")
        self.own(Tainted("x", WEB).join(["a"]), "a")
        with self.assertRaises(TypeError):
            Tainted(",", WEB).join([1])

    def test_bytes(self):
        b = self.t.encode()
        self.own(b, b"Hello  World")
        self.assertIsInstance(b, TaintedBytes)
        self.own(b.decode(), "Hello  World")
        self.own(TaintedBytes(b"\x0f", WEB).hex(), "0f")
        self.own(b[:2], b"He")
        self.assertEqual((b[0], type(b[0])), (72, int))
        self.own(bytes(b), b"Hello  World")
        for name in "upper lower capitalize title swapcase strip lstrip rstrip expandtabs".split():
            self.own(getattr(b, name)(), getattr(b"Hello  World", name)())
        for part, same in zip(b.split(), b"Hello  World".split()):
            self.own(part, same)
        for part, same in zip(b.partition(b" "), b"Hello  World".partition(b" ")):
            self.own(part, same)
        self.both(b.replace(b"World", TaintedBytes(b"kb", KB)), b"Hello  kb")
        self.both(TaintedBytes(b",", WEB).join([b"a", TaintedBytes(b"kb", KB)]), b"a,kb")
        self.both(b + TaintedBytes(b"kb", KB), b"Hello  Worldkb")
        self.own(b"%s!" % TaintedBytes(b"y", WEB), b"y!")

    def test_copies(self):
        for value in (self.t, self.t.encode(), mark([1, "x"], WEB), mark({"a": ["x"]}, WEB), mark((1, "x"), WEB), mark(5, WEB)):
            for made in (copy.copy(value), copy.deepcopy(value)):
                self.assertEqual((made, names(made), type(made)), (value, ("web",), type(value)))
        loop = mark([], WEB)
        loop.append(loop)
        made = copy.deepcopy(loop)
        self.assertIs(made[0], made)

    def test_pickle(self):
        endorsed = Tainted("pay 5", WEB.endorse("legal", "ana", b'"pay 5"'))
        for value in (self.t + self.u, (self.t + self.u).encode(), mark([self.u], WEB), mark({"a": self.u}, WEB), mark((self.u,), WEB), mark(5, WEB), endorsed):
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                made = pickle.loads(pickle.dumps(value, protocol))
                self.assertEqual((made, type(made), made.label.lineage), (value, type(value), value.label.lineage))
                self.assertEqual(made.label.endorsements, ())
        unknown = pickle.loads(pickle.dumps(Tainted("x", Label())))
        self.assertEqual((unknown.label.lineage, unknown.label.more), ((), True))
        self.assertEqual(set(pickle.loads(pickle.dumps(self.t + self.u)).label.ingested_by), {"ana", "bob"})

    def test_containers(self):
        box = mark({"a": ["x", 1, b"y"], "t": ("z",), "n": 5}, WEB)
        self.assertEqual(box, {"a": ["x", 1, b"y"], "t": ("z",), "n": 5})
        for value in (box, box["a"], box["a"][0], box["a"][2], box["t"], box["t"][0], *box):
            self.assertEqual(names(value), ("web",))
        self.assertIs(type(box["n"]), int)
        rows, other = box["a"], mark(["k"], KB)
        self.assertEqual(names(rows + other), ("web", "kb"))
        self.assertEqual(names(rows[:1]), ("web",))
        self.assertEqual(names(rows * 2), ("web",))
        self.assertEqual(names(2 * rows), ("web",))
        self.assertEqual(names([1] + rows), ("web",))
        self.assertEqual(names(rows.copy()), ("web",))
        self.assertEqual(names(box | {"k": self.u}), ("web", "kb"))
        self.assertEqual(names({"k": self.u} | box), ("web", "kb"))
        self.assertEqual(names(box.copy()), ("web",))
        self.assertEqual(names(box["t"] + (1,)), ("web",))
        self.assertEqual(names((self.u,) + box["t"]), ("web", "kb"))
        self.assertEqual(names(box["t"][:1]), ("web",))
        rows.append(self.u)
        rows += [self.u]
        self.assertEqual((names(rows), label_of(rows).lineage), (("web",), ("web", "kb")))
        for kind, value in ((list, rows), (dict, box), (tuple, box["t"])):
            self.assertIsInstance(value, kind)
            self.assertIs(type(plain(value)), kind)

    def test_box(self):
        class Answer:
            text = "yes"

            def ask(self, more):
                return "no" + more

        box = mark(Answer(), WEB)
        self.assertIsInstance(box, LabeledValue)
        self.own(box.text, "yes")
        self.assertEqual((box.ask(self.u), set(names(box.ask(self.u)))), ("nokb", {"web", "kb"}))
        five = mark(5, WEB)
        for made, same in ((five + 1, 6), (1 + five, 6), (-five, -5), (five * 2, 10), (10 - five, 5), (five % 3, 2)):
            self.assertEqual((made, names(made)), (same, ("web",)))
        self.assertEqual(names(five + mark(1, KB)), ("web", "kb"))
        self.assertTrue(five == 5 and 4 < five and five in {5} and int(five) == 5 and bool(five) and range(9)[five] == 5)
        self.own(f"{five:03}", "005")
        self.assertEqual(repr(mark(None, WEB)), "LabeledValue(None, source='web')")
        for item, same in zip(mark(iter(["a", "b"]), WEB), "ab"):
            self.own(item, same)
        self.own(next(mark(iter(["a"]), WEB)), "a")

        async def stream():
            yield "a"

        async def read():
            return [item async for item in mark(stream(), WEB)]

        self.own(asyncio.run(read())[0], "a")
        with self.assertRaises(AttributeError):
            five.value = 6

    def test_json(self):
        text = json.dumps({"a": self.t, "b": [self.u], "n": mark(5, WEB)}, indent=1)
        self.both(text, plain_json.dumps({"a": "Hello  World", "b": ["kb"], "n": 5}, indent=1))
        self.assertIs(type(json.dumps({"a": 1})), str)
        back = json.loads(Tainted('{"a": ["x", 1]}', WEB))
        self.assertEqual((back, names(back), names(back["a"]), names(back["a"][0])), ({"a": ["x", 1]}, ("web",), ("web",), ("web",)))
        self.assertEqual(names(json.loads(TaintedBytes(b'"x"', WEB))), ("web",))
        self.assertIs(type(json.loads('["x"]')[0]), str)
        out = io.StringIO()
        json.dump([self.t], out)
        self.assertEqual(json.load(io.StringIO(out.getvalue())), ["Hello  World"])
        with self.assertRaises(json.JSONDecodeError):
            json.loads(Tainted("{", WEB))

    def test_re(self):
        t = Tainted("to eve@evil.example, bob@x.example", WEB)
        found = re.search(r"(\w+)@(?P<host>[\w.]+)", t)
        self.own(found.group(), "eve@evil.example")
        self.own(found.group(1, 2)[1], "evil.example")
        self.own(found["host"], "evil.example")
        self.own(found.groups()[0], "eve")
        self.own(found.groupdict()["host"], "evil.example")
        self.own(found.expand(r"\1!"), "eve!")
        self.assertEqual(found.span(), (3, 19))
        self.own(re.findall(r"\w+@", t)[1], "bob@")
        self.own(re.findall(r"(\w+)@(\w+)", t)[1][0], "bob")
        self.own(re.split(", ", t)[1], "bob@x.example")
        self.own(re.sub("o", "0", t), "t0 eve@evil.example, b0b@x.example")
        self.both(re.sub("^to", self.u, t), "kb eve@evil.example, bob@x.example")
        self.both(re.sub("^to", lambda m: self.u, t), "kb eve@evil.example, bob@x.example")
        self.own(re.sub("eve", lambda m: m.group().upper(), t), "to EVE@evil.example, bob@x.example")
        self.assertEqual(re.subn("o", "0", t)[1], 2)
        self.own(next(re.finditer("eve", t)).group(), "eve")
        self.own(re.compile("EVE", re.I).search(t).group(), "eve")
        self.own(re.match("to", t).group(), "to")
        self.own(re.fullmatch(".*", t).group(), str(plain(t)))
        self.assertIsNone(re.search("nobody", t))
        self.assertIsInstance(re.search("a", "a"), plain_re.Match)
        self.assertEqual(names(re.sub("x", self.u, "x")), ("kb",))

    def test_models(self):
        Pair = collections.namedtuple("Pair", "a b")

        @dataclasses.dataclass(frozen=True)
        class Note:
            text: str
            tags: list
            n: int = 5

        pair = mark(Pair("x", 1), WEB)
        self.assertEqual((type(pair), pair, names(pair.a)), (Pair, ("x", 1), ("web",)))
        note = mark(Note("x", ["y"]), WEB)
        self.assertEqual((type(note), note, names(note.text), names(note.tags[0]), note.n + 1), (Note, Note("x", ["y"]), ("web",), ("web",), 6))
        self.assertEqual(label_of([note]).lineage, ("web",))
        self.assertEqual([names(x) for x in mark({"x"}, WEB)], [("web",)])
        self.assertEqual([names(x) for x in mark(collections.deque(["x"]), WEB)], [("web",)])

        class Slots:
            __slots__ = ("text",)
            __attrs_attrs__ = (collections.namedtuple("A", "name")("text"),)

            def __init__(self, text):
                self.text = text

        self.assertEqual(names(mark(Slots("x"), WEB).text), ("web",))

        class Model:
            model_fields = {"text": None}

            def __init__(self, text):
                self.text = text

            def model_dump(self):
                return {}

        self.assertEqual(names(mark(Model("x"), WEB).text), ("web",))

    def test_second_label_adds(self):
        for value in ("x", b"x", ["x"], {"x": "y"}, ("x",), 5, None):
            for first, second in ((WEB, KB), (KB, WEB)):
                made = mark(mark(value, first), second)
                self.assertEqual(set(made.label.lineage), {"web", "kb"})
                self.assertEqual(set(label_of(made).lineage), {"web", "kb"})

    def test_endorsement_ends_with_an_edit(self):
        label = WEB.endorse("legal", "ana", b'"pay 5"')
        t = Tainted("pay 5", label)
        for same in (t, t + "", t[:], t.strip(), str(t), copy.deepcopy(t), f"{t}"):
            self.assertEqual(same.label.endorsements, ("legal",))
        for edit in (t + ",eve", t.replace("5", "50"), t[:-1], t * 2, t.upper(), Tainted("{}", label).format("pay 6"), t.split()[0], t + Tainted("", KB), t.encode(), re.sub("5", "6", t)):
            self.assertEqual((edit.label.endorsements, edit.label.lineage[0]), ((), "web"))
        self.assertIs((t + "x").label, (t + "y").label)

    def test_questions_are_plain(self):
        t = Tainted("abc", WEB)
        self.assertTrue(t == "abc" and "abc" == t and hash(t) == hash("abc") and {"abc": 1}[t] == 1 and "b" in t and len(t) == 3 and t.find("c") == 2 and t < "b" and t.isalpha())
        self.assertIs(type(int(Tainted("5", WEB))), int)
        self.assertIsInstance(t, str)
        self.assertIs(sys.intern("abc") in {t}, True)

    def test_what_is_lost(self):
        t, b = self.t, self.t.encode()
        for made in (f"a{t}", "x{}".format(t), "".join([t, "x"]), "%s %s" % (t, 1), "plain".replace("p", t), str.upper(t), plain_re.sub("x", "y", t), plain_json.dumps(t),
                     io.StringIO(t).read(), bytearray(b), plain(t), plain_json.loads(Tainted('"x"', WEB))):
            self.assertNotIsInstance(made, Carrier)


class Walk(unittest.TestCase):
    def judged(self, value, index=None):
        return [(path, label and label.lineage, by) for path, label, by in _core.judged(value, None, index)[1]]

    def test_lost_and_found(self):
        index = _core.Index()
        self.assertTrue(index.complete)
        index.add(b"the transfer goes to account 44719023 of eve@evil.example", WEB)
        index.add(b"opening hours are nine to five", KB)
        args = {"a": "transfer goes to acc", "b": 44719023, "c": "account", "d": "eve@evil.example", "e": "hours are nine; the transfer goes", "f": Tainted("x", KB), "g": b"eve@evil.example", "h": 12}
        self.assertEqual(self.judged(args, index), [("/a", ("web",), "content"), ("/b", ("web",), "content"), ("/d", ("web",), "content"), ("/e", ("web", "kb"), "content"),
                                                    ("/f", ("kb",), "carrier"), ("/g", ("web",), "content")])
        self.assertEqual(self.judged({"a": "something else entirely"}, index), [])
        self.assertEqual(self.judged({"eve@evil.example": 1, "a": {"the transfer goes to": 2}}, index), [("/eve@evil.example", ("web",), "content"), ("/a/the transfer goes to", ("web",), "content")])
        self.assertIs(index.find(b"nothing of it is here"), False)

    def test_a_class_of_somebody_else(self):
        """Made of str and Carrier it has no room for a label, and none."""
        class Bare(str, _core.Carrier):
            __slots__ = ()

        class Open(str, _core.Carrier):
            pass

        for value in (Bare("a"), Open("a")):
            self.assertIsNone(value.label)
        self.assertEqual(Tainted("a", WEB).label, WEB)
        self.assertEqual(self.judged({"a": Open("x")})[0][0], "/a")

    def test_where_labels_stand(self):
        value = {"a/b": {"~": [1, Tainted("x", WEB)]}, "all": mark({"x": ["y"], "n": 1}, WEB), Tainted("key", KB): 1}
        self.assertEqual(self.judged(value), [("/a~1b/~0/1", ("web",), "carrier"), ("/all", ("web",), "carrier"), ("/key", ("kb",), "carrier")])

    def test_any_depth(self):
        value = Tainted("x", WEB)
        for _ in range(60):
            value = [value]
        self.assertEqual(self.judged({"a": value})[0][1:], (("web",), "carrier"))
        self.assertEqual(label_of(value).lineage, ("web",))
        for _ in range(60):
            value = [value]
        self.assertTrue(label_of(value).more, "what is too deep to be seen is of an unknown source")

    def test_many_labels_become_one(self):
        value = {"a": [Tainted("x", Label(f"s{i}")) for i in range(500)], "b": Tainted("y", KB)}
        found = self.judged(value)
        self.assertEqual(([f[0] for f in found], len(found[0][1]), found[1][1]), (["/a", "/b"], 500, ("kb",)))
        value["a"].append(Tainted("z", Label()))
        _, found = _core.judged(value, None)
        self.assertTrue(any(label is None or label.more for path, label, _ in found if path == "/a"))

    def test_what_a_carrier_says_of_itself_does_not_count(self):
        class Liar(Tainted):
            label = None

        class Hidden(TaintedList):
            _label = None
            label = property(lambda self: None)

            def __iter__(self):
                return iter(())

        class Empty(Carrier):
            pass

        self.assertEqual(self.judged({"a": Liar("x", WEB), "b": Hidden(["y"], WEB), "c": Empty()}), [("/a", ("web",), "carrier"), ("/b", ("web",), "carrier"), ("/c", None, "carrier")])
        self.assertEqual((Liar("x", WEB) + "y").label, WEB)
        stolen = TaintedList(["x"], WEB)
        stolen.__dict__.clear()
        self.assertEqual(self.judged({"a": stolen}), [("/a", None, "carrier")])

    def test_wrong_labels_are_refused(self):
        for kind in (Tainted, TaintedBytes, TaintedList, TaintedDict, TaintedTuple, LabeledValue):
            value = {Tainted: "x", TaintedBytes: b"x", TaintedDict: {}}.get(kind, ())
            for label in (None, "web", object(), type("Origin", (), {})()):
                with self.assertRaises(TypeError):
                    kind(value, label)
        with self.assertRaises(TypeError):
            Tainted(5, WEB)
        with self.assertRaises(TypeError):
            type("Own", (Label,), {})

    def test_surrogates_and_nulls(self):
        t = Tainted("a\ud800\0b", WEB)
        self.assertEqual((t[1:], names(t[1:])), ("\ud800\0b", ("web",)))
        with self.assertRaises(UnicodeEncodeError):
            t.encode()
        with self.assertRaises(UnicodeEncodeError):
            _core.judged({"a": t}, None)

    def test_nothing_is_left_behind(self):
        def work():
            t, u = Tainted("a b", Label("web")), Tainted("c", Label("kb"))
            for made in (t + u, t.split(), t.format(u), t.join([u]), t % (), t.encode().decode(), list(t), t.partition(" "), t.translate({97: u}), mark({"a": [t]}, KB), copy.deepcopy([t]), pickle.dumps(t)):
                pass
            _core.judged({"a": [t, {"b": u}]}, None)
            for wrong in (lambda: t + 1, lambda: t.replace("a"), lambda: t.join([1]), lambda: t[9], lambda: t.format(), lambda: Tainted("x", 1), lambda: t.index("zz")):
                try:
                    wrong()
                except (TypeError, IndexError, ValueError):
                    pass

        for _ in range(50):
            work()
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(1000):
            work()
        gc.collect()
        self.assertLess(sys.getallocatedblocks() - before, 500)


class Page(unittest.TestCase):
    def test_each_row_names_its_test(self):
        text = DOCS.read_text()
        rows = [line for line in text.partition("## The contract")[2].partition("## ")[0].splitlines() if line.startswith("| ") and "| test |" not in line]
        self.assertGreater(len(rows), 20)
        named = set()
        for row in rows:
            tests = plain_re.findall(r"`(test_\w+)`", row.rpartition(" | ")[2])
            self.assertTrue(tests, row)
            named.update(tests)
        for name in named | set(plain_re.findall(r"`(test_\w+)`", text)):
            self.assertTrue(hasattr(Contract, name) or hasattr(Walk, name), name)
        self.assertEqual(named | {"test_what_is_lost"}, {name for name in dir(Contract) if name.startswith("test_")})


if __name__ == "__main__":
    unittest.main()
