# SPDX-License-Identifier: Apache-2.0
"""What is written about the commands agrees with what they take."""
import os
import re
import shutil
import subprocess

from run import COMMANDS, Failure, INTERLOCK, ROOT, Run, test

MAN = ROOT / "docs/interlock.1"


@test
def the_man_page_and_the_manual_name_every_option(_):
    man = MAN.read_text().replace("\\-", "-")
    manual = (ROOT / "docs/cli.md").read_text()
    for command in COMMANDS:
        help_text = Run(command, "--help").exits(0).out
        if f"interlock {command}" not in man or command not in manual:
            raise Failure(f"`{command}` is not described")
        for option in set(re.findall(r"--[a-z][a-z-]+", help_text)):
            if not re.search(re.escape(option) + r"(?![a-z-])", man):
                raise Failure(f"docs/interlock.1 does not name {option} of {command}")


@test
def the_man_page_is_well_formed(_):
    if not shutil.which("groff"):
        return
    done = subprocess.run(["groff", "-man", "-t", "-ww", "-Tutf8", "-z", str(MAN)], capture_output=True, text=True, check=False, timeout=30)
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
                              timeout=30, cwd=t)
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
