# SPDX-License-Identifier: Apache-2.0
# For suites written in bash: source it, call ok/not_ok/skip/check, end with `finish`.
# A suite is tests/<name>/run (or run.py, run.mjs), started in the source root with BUILD naming the build
# folder; its last line is "N passed, N failed, N skipped" and its exit status 0 when none failed.
suite_passed=0 suite_failed=0 suite_skipped=0
BUILD=${BUILD:-build}

ok() { suite_passed=$((suite_passed + 1)); echo "ok: $1"; }
not_ok() { suite_failed=$((suite_failed + 1)); echo "FAILED: $1"; }
skip() { suite_skipped=$((suite_skipped + 1)); echo "skipped: $1"; }

# check NAME COMMAND…: the command must succeed; its output is shown when it does not.
check() {
  local name=$1 out
  shift
  if out=$("$@" 2>&1); then ok "$name"; else not_ok "$name"; printf '%s\n' "$out" | sed 's/^/    /'; fi
}

finish() {
  echo "$suite_passed passed, $suite_failed failed, $suite_skipped skipped"
  [ "$suite_failed" = 0 ]
}
