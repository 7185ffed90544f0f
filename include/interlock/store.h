/* SPDX-License-Identifier: Apache-2.0 */
/* Where sessions and the audit trail live: load, and compare-and-commit. The monitor is written against this; the host's library brings a
 * memory and a SQLite store (ledger.h), and anybody may bring another.
 *
 * A store holds objects by (space, key), each with a version, and an append-only trail of rows. A commit is one transaction over any
 * number of objects, durable before it returns IL_OK: either all of it is there or nothing is.
 * Both functions may be called from several threads at once when the monitor is. */
#pragma once
#include "interlock/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IL_SPACE_SESSION "session"
/* What sessions know (docs/formats.md: episodes): objects that are made once and never changed, of up to 64 MiB. */
#define IL_SPACE_MEMORY "memory"
/* Labels of the places to which sessions wrote (docs/policy.md: stores). */
#define IL_SPACE_STORE "store"
/* The largest session, in bytes. */
#define IL_SESSION_STATE_MAX 16384

typedef struct il_store_row { /* one line of the audit trail; borrowed */
    il_str
        kind; /* `begin`, `decision`, `settle`, `request`, `approve`, `refuse`, `lapse`, `quarantine`, `join`, `say`, `notice`, `endorse`, `labels`, `laundering`, `end` */
    uint64_t ticket; /* 0: none */
    il_str body;     /* canonical JSON object, see docs/schemas */
} il_store_row;

typedef struct il_store_change {
    il_str space, key; /* key: 1 to 128 bytes */
    uint64_t expect;   /* version that was loaded; 0: the object must not exist */
    bool moves;        /* false: keep bytes and version, only check `expect` and add the rows */
    il_str state;
    const il_store_row *rows; /* about this object */
    size_t nrows;
} il_store_change;

typedef struct il_store {
    size_t size; /* sizeof(il_store) */
    void *ctx;
    /* Copies the object's bytes into buf and says its version (from 1). *n gets the bytes needed, also with IL_E_LIMIT when cap is too small.
     * IL_E_NOT_FOUND when there is no such object. */
    il_status (*load)(void *ctx, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version, il_error *err);
    /* IL_E_CONFLICT when a stored version is not the expected one (nothing was written). `now_ms`: wall clock for the rows. */
    il_status (*commit)(void *ctx, const il_store_change *changes, size_t n, uint64_t now_ms, il_error *err);
    /* Both or neither, may be NULL. Called by the same thread around a load and the commit that follows it, so that threads which work on one object go
     * one after the other instead of losing to each other. Only for speed: a store must compare versions all the same. What the monitor asks its host in between
     * (clock, randomness, `gone`) must not work on a session: that could wait for a turn of its own. */
    void (*take_turn)(void *ctx, il_str space, il_str key);
    void (*end_turn)(void *ctx, il_str space, il_str key);
} il_store;

#ifdef __cplusplus
}
#endif
