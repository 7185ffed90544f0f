# SPDX-License-Identifier: Apache-2.0
"""A machine through SPIN: stored states, transitions, and whether an assertion failed."""
import os
import re

import common


def promela(path):
    return common.must(common.INTERLOCK, "machine", "export", path, "--promela")


def pan(text, where, *defines):
    """{"states", "transitions", "error"} of one exploration."""
    at = common.folder("spin", where)
    common.write(os.path.join(at, "machine.pml"), text)
    # Without -o1 and -o2 variables that no guard reads are not stored.
    common.must("spin", "-o1", "-o2", "-a", *("-D" + d for d in defines), "machine.pml", cwd=at)
    common.must("gcc", "-O0", "-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c", cwd=at)
    out = common.must("./pan", "-E", "-m2000000", cwd=at)
    states, transitions = re.search(r"^ *([0-9]+) states, stored", out, re.M), re.search(r"^ *([0-9]+) transitions", out, re.M)
    errors = re.search(r"errors: ([0-9]+)", out)
    if "max search depth too small" in out or not states or not transitions or not errors:
        raise SystemExit("pan did not finish:\n" + out)
    return {"states": int(states.group(1)), "transitions": int(transitions.group(1)), "error": int(errors.group(1)) > 0}


def compare(name, path):
    """(text, agrees) of our numbers and verdict beside SPIN's. Without an assertion that fails one run says all; else a second one counts."""
    text = promela(path)
    said = common.ours(path)
    verdict = pan(text, name)
    counts = pan(text, name, "IL_COUNT") if verdict["error"] else verdict
    bad = "fault" in said or bool(said["entered"])
    line = "%d states, %d transitions, %s" % (counts["states"], counts["transitions"], "error" if verdict["error"] else "no error")
    numbers = "fault" in said or (counts["states"], counts["transitions"] - 1) == (said["states"], said["edges"])
    return line, verdict["error"] == bad and numbers, "ours: %s" % said


def gates(name, path):
    """For each gated region: (region, reached in full, reached without its gates)."""
    text = promela(path)
    for region in sorted(set(re.findall(r"IL_SHUT_(\w+)", text))):
        yield (region, pan(text, name, "IL_REACH_" + region)["error"], pan(text, name, "IL_SHUT_" + region)["error"])
