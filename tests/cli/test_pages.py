# SPDX-License-Identifier: Apache-2.0
"""What is written about the commands agrees with what they take."""
import os
import re
import shutil
import subprocess

from run import COMMANDS, Failure, HANG, INTERLOCK, ROOT, Run, test

MAN = ROOT / "docs/interlock.1"


def names(text, option):
    return re.search(re.escape(option) + r"(?![a-z0-9-])", text)


def manual_of(manual, command):
    """The section of docs/cli.md that is about a command, and what stands there of all of them."""
    head, *sections = re.split(r"^## ", manual, flags=re.M)
    mine = [s for s in sections if command in re.split(r", ", s.splitlines()[0])]
    if len(mine) != 1:
        raise Failure(f"docs/cli.md has {len(mine)} sections about {command}")
    return head + mine[0]


@test
def the_man_page_and_the_manual_name_every_option(_):
    man = MAN.read_text().replace("\\-", "-")
    manual = (ROOT / "docs/cli.md").read_text()
    for command in COMMANDS:
        help_text = Run(command, "--help").exits(0).out
        if f"interlock {command}" not in man or command not in manual:
            raise Failure(f"`{command}` is not described")
        section = manual_of(manual, command)
        for option in set(re.findall(r"--[a-z][a-z0-9-]*", help_text)):
            if not names(man, option):
                raise Failure(f"docs/interlock.1 does not name {option} of {command}")
            if not names(section, option):
                raise Failure(f"docs/cli.md does not name {option} where it is about {command}")


@test
def every_option_that_the_program_reads_is_in_a_help(_):
    helps = "".join(Run(command, "--help").exits(0).out for command in COMMANDS)
    source = "".join(path.read_text() for path in (ROOT / "src/cli").glob("*.[ch]"))
    options = set(re.findall(r'\.name = "([a-z][a-z0-9-]*)"', source))
    if len(options) < 40:
        raise Failure(f"found only {sorted(options)} in src/cli; adapt this test")
    missing = [option for option in sorted(options) if not names(helps, "--" + option)]
    if missing:
        raise Failure(f"no help names {missing}")


@test
def the_program_lists_the_commands_that_are_tested(_):
    listed = re.findall(r"^  ([a-z]+) ", Run("--help").exits(0).out, re.M)
    if sorted(listed) != sorted(COMMANDS):
        raise Failure(f"--help lists {listed}")
    readme = (ROOT / "README.md").read_text()
    for command in set(COMMANDS) - {"init", "validate", "gateway"}:  # those are in what the README walks through
        if not re.search(rf"^\| .*(interlock |`){command}\b", readme, re.M):
            raise Failure(f"the table of README.md has no row for {command}")


@test
def the_man_page_is_well_formed(_):
    if not shutil.which("groff"):
        return
    done = subprocess.run(["groff", "-man", "-t", "-ww", "-Tutf8", "-z", str(MAN)], capture_output=True, text=True, check=False, timeout=HANG)
    if done.returncode or done.stderr:
        raise Failure(done.stderr)


@test
def every_help_shows_an_example_that_begins_with_the_command(_):
    for command in COMMANDS:
        help_text = Run(command, "--help").exits(0).out
        if f"\nexample:\n  interlock {command} " not in help_text:
            raise Failure(f"`{command} --help` has no example")
        if Run("help", command).exits(0).out != help_text or Run(command, "-h").exits(0).out != help_text:
            raise Failure(f"help differs for {command}")


@test
def commands_ask_for_the_policy_in_the_same_words(_):
    for args in (["check"], ["gateway", "--", "true"], ["replay"]):
        Run(*args).refuses().says("which policy? name it with --policy")
    Run("validate").refuses().says("which policy?")


@test
def the_id_in_the_help_of_approvals_looks_like_one(_):
    if not re.search(r"approvals approve [0-9a-f]{20}\n", Run("approvals", "--help").exits(0).out):
        raise Failure("an id has 20 digits")


@test
def the_ledger_is_found_by_flag_environment_and_default(t):
    def where(*args, **environment):
        done = subprocess.run([INTERLOCK, "session", *args], env={"PATH": os.environ["PATH"], **environment}, capture_output=True, text=True, check=False,
                              timeout=HANG, cwd=t)
        if done.returncode != 3:
            raise Failure(f"exit {done.returncode}: {done.stderr}")
        return done.stderr

    for said, args, environment in (
            ("`/x/flag.db`", ["--ledger", "/x/flag.db"], {"INTERLOCK_LEDGER": "/x/env.db", "XDG_STATE_HOME": "/x/state", "HOME": "/x/home"}),
            ("`/x/env.db`", [], {"INTERLOCK_LEDGER": "/x/env.db", "XDG_STATE_HOME": "/x/state", "HOME": "/x/home"}),
            ("`/x/state/interlock/ledger.db`", [], {"XDG_STATE_HOME": "/x/state", "HOME": "/x/home"}),
            ("`/x/home/.local/state/interlock/ledger.db`", [], {"XDG_STATE_HOME": "relative", "HOME": "/x/home"}),
            ("--ledger", [], {})):
        if said not in where(*args, **environment):
            raise Failure(f"want {said}, got {where(*args, **environment)}")
