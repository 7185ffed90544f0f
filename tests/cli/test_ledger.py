# SPDX-License-Identifier: Apache-2.0
"""ledger verify and session prune, on ledgers that a real gateway wrote and somebody then edited."""
import json
import shutil
import sqlite3

import schema
from run import Failure, ROOT, Run, put, test
from test_session import SEND, Live, cli, gateway, read, same


def sql(t, text, *args):
    db = sqlite3.connect(t / "ledger.db", isolation_level=None)
    rows = db.execute(text, args).fetchall()
    db.close()
    return rows


def age(t, days, session="%"):
    """As if the sessions had last been used so long ago."""
    sql(t, "update objects set changed_ms = changed_ms - ? where key like ?", days * 86_400_000, session)


def old(t):
    """The ledger of version 1 that is kept with the tests."""
    db = sqlite3.connect(t / "ledger.db")
    db.execute("pragma journal_mode = wal")
    db.executescript((ROOT / "tests/data/ledger/version-1.sql").read_text())
    db.close()
    (t / "ledger.db").chmod(0o600)


@test
def ledger_verify_says_whole_and_the_head(t):
    gateway(t, ("fetch", {}), ("read", {}), SEND, ("post", {}))
    report = read(t, "ledger", "verify")
    schema.against("verify.schema.json", report)
    (last, head), = sql(t, "select seq, lower(hex(hash)) from rows order by seq desc limit 1")
    same((report["whole"], report["findings"], report["last"], report["head"], report["version"], report["sessions"]), (True, [], last, head, 2, 1))
    cli(t, "ledger", "verify").exits(0).says(f"head {last}:{head}", "out")
    cli(t, "ledger", "verify", "--head", f"{last}:{head}").exits(0)


@test
def ledger_verify_finds_edits(t):
    gateway(t, ("fetch", {}), ("read", {}), ("post", {}))
    whole = t / "whole.db"
    shutil.copy(t / "ledger.db", whole)
    for edit, what in (("update rows set body = replace(body, 'block', 'allow') where kind = 'decision' and ticket = 0", "row-body"),
                       ("delete from rows where seq = 3", "row-missing"),
                       ("update rows set kind = 'settle' where seq = 2", "row-hash"),
                       ("delete from rows where seq >= 3", "object-"),
                       ("update objects set state = zeroblob(9)", "object-damaged")):
        shutil.copy(whole, t / "ledger.db")
        sql(t, edit)
        run = cli(t, "ledger", "verify", "--json").exits(1)
        report = json.loads(run.out)
        schema.against("verify.schema.json", report)
        if report["whole"] or not any(f["what"].startswith(what) for f in report["findings"]) or report["nfindings"] != len(report["findings"]):
            run.fail(f"`{edit}` is not found as {what}")
        cli(t, "ledger", "verify").exits(1).says(what, "out").says("ledger.db", "out")


@test
def ledger_verify_with_a_head_sees_a_trail_cut_at_its_end(t):
    gateway(t, ("fetch", {}), ("nothing", {}), ("nothing", {}))
    head = read(t, "ledger", "verify")
    note = f"{head['last']}:{head['head']}"
    gateway(t, ("fetch", {}))
    cli(t, "ledger", "verify", "--head", note).exits(0)
    sql(t, "delete from rows where seq > ?", head["last"] - 1)
    cli(t, "ledger", "verify", "--head", note).exits(1).says(": head:", "out")
    for bad in ("x", "1:x", "x:" + head["head"], ":" + head["head"], "0:" + head["head"], "1:" + head["head"].upper(), "1:" + "g" * 64):
        cli(t, "ledger", "verify", "--head", bad).refuses().says("--head")


@test
def ledger_verify_refuses_what_is_no_ledger(t):
    cli(t, "ledger", "verify").refuses().says("ledger.db")
    put(t, "ledger.db", "x" * 5000)
    cli(t, "ledger", "verify").refuses().says("not a ledger")
    for args in ([], ["nonsense"], ["verify", "more"]):
        cli(t, "ledger", *args).refuses()


@test
def ledger_of_version_1_is_read_verified_and_upgraded(t):
    old(t)
    same(read(t, "ledger", "verify")["version"], 1)
    note = read(t, "ledger", "verify")
    same(sorted(s["id"] for s in read(t, "session")["sessions"]), ["demo", "other", "over"])
    same(read(t, "session", "show", "over")["counted"], ["untrusted"])
    same(sql(t, "pragma user_version"), [(1,)])
    cli(t, "session", "end", "other").exits(0)
    same(sql(t, "pragma user_version"), [(2,)])
    after = read(t, "ledger", "verify", "--head", f"{note['last']}:{note['head']}")  # a head of the old chain still counts
    same((after["whole"], after["version"]), (True, 2))
    audit = json.loads((schema.SCHEMAS / "audit.schema.json").read_text())
    ((body,),) = sql(t, "select body from rows where kind = 'upgrade'")
    schema.check(json.loads(body), audit["$defs"]["upgrade"], audit)


@test
def session_prune_erases_what_is_over_and_old(t):
    for session in ("young", "over", "open"):
        gateway(t, ("fetch", {}), session=session)
    cli(t, "session", "end", "over").exits(0)
    cli(t, "session", "end", "young").exits(0)
    age(t, 40, "o%")
    want = {"dry_run": True, "ended": [], "pruned": [{"id": "over", "rows": 4}], "rows": 4, "skipped": []}
    dry = read(t, "session", "prune", "--older-than", "30d", "--dry-run")
    schema.against("prune.schema.json", dry)
    same({k: dry[k] for k in want}, want)
    same(sql(t, "select count(*) from rows where body is null"), [(0,)])
    done = read(t, "session", "prune", "--older-than", "30d")
    schema.against("prune.schema.json", done)
    same({k: done[k] for k in want}, want | {"dry_run": False})
    same(sql(t, "select distinct key from rows where body is null"), [("over",)])
    same(read(t, "ledger", "verify")["erased"], 4)
    cli(t, "session", "prune", "--older-than", "30d").exits(0).says("erased 0 rows", "out")
    cli(t, "session", "show", "over").exits(0).says("pruned", "out")
    same([json.loads(line)["body"] for line in cli(t, "session", "show", "over", "--trail").exits(0).out.splitlines()], [None] * 4)
    audit = json.loads((schema.SCHEMAS / "audit.schema.json").read_text())
    ((body,),) = sql(t, "select body from rows where kind = 'prune'")
    schema.check(json.loads(body), audit["$defs"]["prune"], audit)
    # the id is not reborn
    Run("gateway", "--policy", str(t / "policy.yaml"), "--name", "t", "--session", "over", "--ledger", str(t / "ledger.db"), "--", "true").refuses().says("ended")
    # nor may its state be changed
    sql(t, "update objects set state = (select state from objects where key = 'open') where key = 'over'")
    cli(t, "ledger", "verify").exits(1).says("object-state", "out")


@test
def session_prune_idle_ends_first(t):
    gateway(t, ("fetch", {}), session="idle")
    gateway(t, ("fetch", {}), session="busy")
    age(t, 2, "idle")
    same(read(t, "session", "prune", "--older-than", "24h")["pruned"], [])
    dry = read(t, "session", "prune", "--older-than", "1d", "--idle", "--dry-run")
    same((dry["ended"], [p["id"] for p in dry["pruned"]]), ([{"id": "idle"}], ["idle"]))
    same({s["id"]: s["phase"] for s in read(t, "session")["sessions"]}, {"idle": "live", "busy": "live"})
    done = read(t, "session", "prune", "--older-than", "1d", "--idle")
    same((done["ended"], [p["id"] for p in done["pruned"]]), ([{"id": "idle"}], ["idle"]))
    same({s["id"]: s["phase"] for s in read(t, "session")["sessions"]}, {"idle": "ended", "busy": "live"})
    gateway(t, ("read", {}), session="busy")  # verifies


@test
def session_prune_deletes_a_beginning_that_is_all_erased(t):
    for round in range(3):
        for session in ("a", "b", "c"):
            gateway(t, ("fetch", {}), session=f"{session}{round}")
        age(t, 10)
        cli(t, "session", "prune", "--older-than", "9d", "--idle").exits(0)
        report = read(t, "ledger", "verify")
        same((report["whole"], report["sessions"]), (True, 3 * (round + 1)))
        if report["rows"] > 4:
            raise Failure(f"{report['rows']} rows stay")
    # who takes the anchor away, or what tells of it, is found
    sql(t, "delete from rows where seq = (select min(seq) from rows)")
    cli(t, "ledger", "verify").exits(1).says("row-missing", "out")


@test
def session_prune_skips_what_it_cannot_read(t):
    gateway(t, ("fetch", {}), session="good")
    gateway(t, ("fetch", {}), session="bad")
    age(t, 10)
    sql(t, "update objects set state = zeroblob(9) where key = 'bad'")
    run = cli(t, "session", "prune", "--older-than", "1d", "--idle").exits(0).says("bad")
    if "of 1 session;" not in run.out:
        run.fail("the other one was not pruned")


@test
def session_prune_idle_did_not_end_what_it_skips(t):
    live = Live(t)
    live.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": "hang", "method": "tools/call", "params": {"name": "fetch", "arguments": {"hang": True}}}) + "\n")
    live.call("read")
    try:
        age(t, 10)
        for dry in (["--dry-run"], []):  # which does not promise more
            done = read(t, "session", "prune", "--older-than", "1d", "--idle", *dry)
            same((done["ended"], done["pruned"], done["skipped"]), ([], [], [{"id": "demo", "why": "busy: a call is not settled yet"}]))
        cli(t, "session", "prune", "--older-than", "1d", "--idle").exits(0).says("ended 0, skipped 1", "out")
    finally:
        live.process.kill()
        live.end()
    # its process is gone: the call no longer keeps the session
    same(read(t, "session", "prune", "--older-than", "1d", "--idle", "--dry-run")["ended"], [{"id": "demo"}])
    same(read(t, "session", "prune", "--older-than", "1d", "--idle")["ended"], [{"id": "demo"}])


@test
def ledger_verify_prints_row_numbers_as_they_stand_there(t):
    gateway(t, ("fetch", {}))
    sql(t, "update rows set seq = -5 where seq = 2")
    run = cli(t, "ledger", "verify").exits(1).says("row -5", "out")
    if "1844674407" in run.out:
        run.fail("a row has a number that it has not")
    found = [f["row"] for f in json.loads(cli(t, "ledger", "verify", "--json").exits(1).out)["findings"]]
    if -5 not in found:
        raise Failure(f"rows {found}")


@test
def ledger_with_a_second_name_is_not_written(t):
    gateway(t, ("fetch", {}))
    (t / "other.db").hardlink_to(t / "ledger.db")
    for name in ("ledger.db", "other.db"):
        Run("session", "end", "demo", "--ledger", str(t / name)).refuses().says("second name")
        Run("ledger", "verify", "--ledger", str(t / name)).exits(0)
    (t / "other.db").unlink()
    cli(t, "session", "end", "demo").exits(0)


@test
def session_prune_usage(t):
    gateway(t)
    for text in ("d", "0d", "-1d", "30", "30x", "1.5d", "99999999d", "30d ", "1e3d"):
        cli(t, "session", "prune", "--older-than", text).refuses().says("30d")
    cli(t, "session", "prune").refuses().says("--older-than")
    cli(t, "session", "prune", "demo", "--older-than", "1d").refuses()
    cli(t, "session", "list", "--idle").refuses().says("prune")
    Run("session", "prune", "--older-than", "1d", "--ledger", str(t / "none.db")).refuses().says("none.db")
