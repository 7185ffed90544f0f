# SPDX-License-Identifier: Apache-2.0
"""`interlock cel`, and docs/cel.md: what stands behind an arrow is what is printed, what a command is shown to print it prints, and the program
in C is the one that tests/install compiles and runs."""
import json
import os
import re
import shlex
import threading

from run import Failure, ROOT, Run, put, test

PAGE = (ROOT / "docs/cel.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.S | re.M)
VARS = next(body for kind, body in BLOCKS if kind == "json")
EXIT = {"error": 1, "refused": 3}


def blocks(kind):
    return [body for k, body in BLOCKS if k == kind]


def example(t, line):
    """One line of a block `cel`: `EXPR  ->  VALUE`, `VALUE : TYPE`, `error: MESSAGE` or `refused: MESSAGE`; `…` at its end stands for more."""
    expr, arrow, want = line.rpartition("  ->  ")
    if not arrow or not expr:
        raise Failure(f"no example: {line}")
    run = Run("cel", "--type", "--vars", put(t, "vars.json", VARS), "--", expr.strip())
    how = want.split(":")[0]
    if how in EXIT:
        run.exits(EXIT[how])
        got = f"{how}: " + re.sub(r"^EXPR:\d+:\d+: error: ", "", run.err.splitlines()[0])
    else:
        run.exits(0)
        got = run.out.rstrip("\n")
    more = want.endswith("…") and len(want) > len("refused: …") and got.startswith(want[:-1])
    if not more and want not in (got, got.rpartition(" : ")[0]):
        raise Failure(f"{expr}\n  the page says   {want}\n  it is           {got}")


def commands(block):
    """(what is typed, what is printed) of a block `console`."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        lines = part.splitlines(keepends=True)
        for n in range(1, len(lines) + 1):
            try:
                yield shlex.split("".join(lines[:n])), "".join(lines[n:])
                break
            except ValueError:  # a quotation mark is open: the next line belongs to it
                continue
        else:
            raise Failure(f"no command: {part}")


@test
def cel_the_page_says_what_expressions_give(t):
    lines = [line for block in blocks("cel") for line in block.splitlines()]
    if len(lines) < 60:
        raise Failure(f"docs/cel.md has {len(lines)} examples; adapt this test")
    for line in lines:
        example(t, line)


@test
def cel_an_example_that_is_wrong_is_found(t):
    for line in ("1 + 1  ->  3", "1 + 1  ->  2 : uint", "1 / 0  ->  1", "1 / 0  ->  error: overflow", "1 / 0  ->  refused: division by zero", "1 +  ->  error: x", "1 / 0  ->  error: by…", "1 / 0  ->  error: …", "1 + 1"):
        try:
            example(t, line)
        except Failure:
            continue
        raise Failure(f"not found: {line}")
    example(t, "1 + 1  ->  2 : int")


@test
def cel_the_page_shows_what_is_printed(_):
    shown = [c for block in blocks("console") for c in commands(block)]
    if len(shown) < 2:
        raise Failure("docs/cel.md shows no commands; adapt this test")
    for (program, *args), printed in shown:
        run = Run(*args)
        if program != "interlock" or run.out + run.err != printed:
            run.fail(f"the page shows\n{printed}")


@test
def cel_the_page_shows_the_program_in_c(_):
    source = (ROOT / "tests/install/cel.c").read_text()
    if not any(block and source.endswith("\n" + block) for block in blocks("c")):
        raise Failure("docs/cel.md does not show tests/install/cel.c as it is")
    printed = re.search(r"^cel_expected='(.*?)'$", (ROOT / "tests/install/run").read_text(), re.S | re.M).group(1)
    if printed + "\n" not in blocks(""):
        raise Failure("docs/cel.md does not show what tests/install/run expects of it")


@test
def cel_limits_in_the_header_and_on_the_page_are_those_of_the_code(_):
    code = (ROOT / "src/cel/ast.h").read_text()
    header = (ROOT / "include/interlock/cel.h").read_text()
    for name, said in (("SOURCE_BYTES", "16 KiB"), ("DEPTH", "64"), ("NODES", "4,096"), ("COST", "10,000,000"), ("TEXT_GUESS", "65,536"),
                       ("LIST_GUESS", "1,024"), ("DEPTH_MAX", "512"), ("LOCALS", "32")):
        value = int(re.search(rf"#define IL_CEL_{name} (\d+)u", code).group(1))
        if f"{value:,}" not in PAGE:
            raise Failure(f"docs/cel.md does not have {name} {value:,}")
        if name != "LOCALS" and (said if "KiB" in said else f"{value:,}") not in header:
            raise Failure(f"cel.h does not have {name} {value:,}")


@test
def cel_a_spent_budget_is_forgotten_by_nothing(t):
    """Two texts far longer than the static bound assumes, compared again and again."""
    variables = put(t, "vars.json", json.dumps({"a": "x" * 2_000_000, "b": "x" * 2_000_000}))
    many = "[" + ",".join(map(str, range(400))) + "]"
    for expr in (f"{many}.all(i, a == b)", f"{many}.all(i, a == b) || true", f"{many}.all(i, a == b) && false"):
        Run("cel", expr, "--vars", variables).exits(1).says("more steps or memory than it may")
    Run("cel", "a == b", "--vars", variables).exits(0).says("true", "out")


@test
def cel_guards_have_all_of_it_but_zones_by_name_and_patterns_that_are_made(t):
    machine = (ROOT / "tests/machines/smallest.yaml").read_text()

    def harden(clause):
        text = machine.replace('busy, if: "pre.flight"', f'busy, if: "pre.flight && {clause}"')
        if text == machine:
            raise Failure("the clause of tests/machines/smallest.yaml was not found; adapt this test")
        return Run("harden", put(t, "m.yaml", text))

    harden("{'a': pre.phase}.a.matches('^(live|quarantined|ended)$') && timestamp(0).getHours('+01:00') == 1").exits(0).says("FULLY MEDIATED", "out")
    harden("timestamp(0).getHours('Europe/Vienna') == 1").refuses(True).says("names of zones are not available here")
    harden("'a'.matches(pre.phase)").refuses(True).says("must be a literal")
    harden("pre == next").refuses(True).says("no overload `pre == next`")


@test
def cel_variables_that_are_none(t):
    Run("cel", "1", "--vars", put(t, "v.json", "[1]")).refuses(True).says("variables are an object")
    Run("cel", "1", "--vars", put(t, "v.json", '{"a": 1, "a": 2}')).refuses(True).says("duplicate key")
    Run("cel", "1", "--vars", str(t / "none.json")).refuses().says("none.json")
    for name in ("a b", "1a", "in", "true", "a.", ".a", "a..b", "", "ä", "a.for"):
        Run("cel", "1", "--vars", put(t, "v.json", json.dumps({"fine": 1, name: 1}))).refuses(True).says(f"`{name}` is no name")
    Run("cel", "a.b + _c1", "--vars", put(t, "v.json", '{"a.b": 1, "_c1": 2}')).exits(0).says("3", "out")
    Run("cel").refuses().says("an expression is missing")
    Run("cel", "1", "2").refuses().says("quote it")


@test
def cel_json_has_value_and_type(_):
    if json.loads(Run("cel", "--json", "[1u, 2u]").exits(0).out) != {"value": "[1u, 2u]", "type": "list(uint)"}:
        raise Failure("not the value and its type")


@test
def cel_json_has_the_error_and_the_same_exit_code(t):
    for expr, code, want in (("1 / 0", 1, {"line": 1, "col": 3, "span": 1, "message": "division by zero"}),
                             ("1 +\n 'a'", 3, {"line": 1, "col": 3, "span": 1, "message": "no overload `int + string`; did you mean `string(1)`?"})):
        run = Run("cel", "--json", expr).exits(code)
        if json.loads(run.out) != {"error": want} or want["message"] not in run.err:
            run.fail(f"not {want}")
    path = put(t, "v.json", "[1]")
    if json.loads(Run("cel", "--json", "1", "--vars", path).exits(3).out)["error"]["file"] != str(path):
        raise Failure("the error of the variables does not name the file")


@test
def cel_an_expression_may_begin_with_a_minus_sign(_):
    for expr, value in (("-1 + 2", "1"), ("-(1)", "-1"), ("- 1", "-1"), ("-.5", "-0.5")):
        Run("cel", expr).exits(0).says(value, "out")
    Run("cel", "-x").refuses().says("stands behind `--`")


@test
def cel_variables_through_a_pipe(t):
    """Also one that is written slowly; one that nobody writes is not waited for."""
    fifo = t / "vars"
    os.mkfifo(fifo)
    keep = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)  # what is written stays, however late it is read
    hold = os.open(fifo, os.O_WRONLY)
    try:
        os.write(hold, b'{"x": ')
        writer = threading.Timer(0.3, lambda: (os.write(hold, b'20}'), os.close(hold)))
        writer.start()
        Run("cel", "x + 1", "--vars", str(fifo)).exits(0).says("21", "out")
    finally:
        writer.join()
        os.close(keep)
    Run("cel", "1", "--vars", str(fifo)).refuses(True).says("empty")
    Run("cel", "1", "--vars", str(t)).refuses().says("a folder")


@test
def cel_nothing_is_underlined_where_there_is_nothing(_):
    for expr in ("", "  "):
        run = Run("cel", expr).exits(3)
        if run.err != "EXPR:1:1: error: an empty expression\n":
            run.fail("not one line")
