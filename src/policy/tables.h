/* SPDX-License-Identifier: Apache-2.0 */
/* Which tables of a database hold what, as a server's `sql` says. */
#pragma once
#include "base/arena.h"
#include "json/node.h"

typedef enum il_tables_class { IL_TABLES_SECRET = 0, IL_TABLES_UNTRUSTED, IL_TABLES_PUBLIC, IL_TABLES_CLASSES } il_tables_class;
bool il_tables_class_find(il_str word, il_tables_class *out);

typedef struct il_tables { /* of one class */
    bool said;             /* false: nothing is said, so any table may be one */
    uint32_t n;
    il_str *patterns; /* as il_sql_meant reads them */
} il_tables;

/* Reads `{ secret: [auth.*, "*_tokens"], untrusted: [...], public: [...] }` into out[IL_TABLES_CLASSES]; NULL: nothing is said. */
IL_NODISCARD il_status il_tables_load(const il_json *v, il_arena *arena, il_tables *out, il_error *err);
