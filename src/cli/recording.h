/* SPDX-License-Identifier: Apache-2.0 */
/* Session files: NDJSON, one recorded session a line (docs/cli.md: check, replay). Unknown members are ignored. */
#pragma once
#include <stdio.h>

#include "cli/recording_label.h"
#include "json/node.h"

/* The longest line. */
#define IL_RECORDING_BYTES_MAX ((size_t)64 << 20)

typedef struct il_recording_step {
    il_str tool;           /* as it stands in the file; server and name are split at the first dot */
    const il_json *args;   /* NULL when absent */
    const il_json *result; /* text that is itself JSON was read; NULL when absent or null */
    bool failed;           /* `error` is there */
    il_str error;          /* its text, or its JSON when it is none */
    bool approved;         /* a human approves it once */
    uint32_t nlabels;      /* of `args` and what is in them */
    il_recording_label *labels;
    uint32_t strange_col;
    const char *strange; /* a member that is ignored and looks like a misspelt `args` or `tool`; NULL: none */
} il_recording_step;

typedef struct il_recording { /* borrowed from the arena that it was read into */
    uint32_t line;
    il_str id, parent;      /* parent: empty when there is none */
    il_str prompt;          /* what the user typed; empty: nothing */
    il_str agent;           /* whose session it is; empty: nobody's in particular */
    const il_json *id_node; /* as it is to be printed: a string or a number */
    uint32_t parent_line;   /* where the parent stands in this file; 0 when there is none */
    uint32_t nsteps;
    il_recording_step *steps;
} il_recording;

typedef struct il_recordings {
    FILE *from;
    bool owned;
    uint32_t line; /* of the latest that was read */
    char *buffer;  /* one line */
    size_t cap;
    il_arena arena; /* of the ids */
    il_json *ids;   /* id -> line */
    bool warned;    /* of a strange member, once a file */
} il_recordings;

/* `path` may be `-`: standard input. Close it in any case. */
IL_NODISCARD il_status il_recordings_open(const char *path, il_recordings *out, il_error *err);
void il_recordings_close(il_recordings *r);
/* Reads the next session into `arena`; *more is false at the end. Blank lines are skipped, but counted. Errors carry the position in the file:
 * IL_E_SYNTAX, IL_E_INVALID (a missing or mistyped member, an id that is there already, a parent that is not), IL_E_LIMIT, IL_E_IO. */
IL_NODISCARD il_status il_recordings_next(il_recordings *r, il_arena *arena, il_recording *out, bool *more, il_error *err);
