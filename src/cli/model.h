/* SPDX-License-Identifier: Apache-2.0 */
/* What MACHINE-OR-POLICY means on a command line: a machine's file, a shipped machine's name, or a policy and then the machine that it names. */
#pragma once
#include "host/file.h"
#include "machine/model.h"

typedef struct il_named_machine {
    const char *path;  /* in: as it was given; then the machine's own file, once it is known: what messages are about */
    il_json *policy;   /* the policy's document; NULL when none was named */
    il_str shipped;    /* the name of a shipped machine; empty when the machine has a file, which is then `path` */
    il_json *document; /* the machine's */
    il_model *model;
} il_named_machine;

/* Loads all of it into `arena`, which also owns a `path` that changed; positioned errors. `trust` is how the named file is read; a machine's file that
 * a policy names decides what is allowed and is always IL_FILE_TRUSTED. */
IL_NODISCARD il_status il_named_machine_load(il_arena *arena, il_named_machine *m, il_file_trust trust, il_error *err);
/* Of a file that is only looked at, and its model alone. */
IL_NODISCARD il_status il_cli_model(il_arena *arena, const char **path, il_model **out, il_error *err);
