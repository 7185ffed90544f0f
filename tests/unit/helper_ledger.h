/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the ledger share. */
#pragma once
#include "base/error.h"
#include "base/str.h"
#include "interlock/host.h"

#define LEDGER_TEST_PATH 256

/* A fresh folder under $TMPDIR or /tmp; `name` in it goes to `path`. */
void ledger_test_path(char path[LEDGER_TEST_PATH], const char *name);
/* Removes the folder and what is in it. */
void ledger_test_clean(const char *path);

/* Opens, and fails the test when that does not work. NULL options: the defaults. */
il_ledger *ledger_test_open(const char *path, const il_ledger_options *options);

/* One session `key` from version `expect` to `state`, with one row of `kind` when kind is not NULL. */
il_status ledger_test_commit(il_ledger *l, const char *key, uint64_t expect, const char *state, const char *kind, il_error *err);
/* The session's state as text and its version; fails the test when it is not there. */
uint64_t ledger_test_load(il_ledger *l, const char *key, char *state, size_t cap);
/* Rows of the ledger (of `session` unless it is empty). Their chain is verified from zeros when session is empty. */
size_t ledger_test_rows(il_ledger *l, const char *session, bool *chained);

/* The behaviour that every store has; run by the tests of each kind. */
void ledger_test_store(il_ledger *l);

/* The file as SQL sees it, beside the ledger. */
void ledger_test_sql(const char *path, const char *sql);
int64_t ledger_test_number(const char *path, const char *sql);
/* Makes the ledger of version 1 that tests/data/ledger has. Tests run from the source root. */
void ledger_test_version_1(const char *path);
