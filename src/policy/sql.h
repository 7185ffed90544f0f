/* SPDX-License-Identifier: Apache-2.0 */
/* What an SQL text does, read without a parser for any one dialect: which tables it reads and writes. It is made to err on one side: a text that PostgreSQL, MySQL
 * and SQLite could read in different ways, and anything that is not known to be harmless (a function, a verb, a kind of quoting), is not understood, which is the worst
 * case for every question. Tables may be named that are none (an alias, a column in `extract(day from x)`), never the other way round. */
#pragma once
#include "base/arena.h"
#include "base/error.h"

#define IL_SQL_BYTES_MAX ((size_t)1 << 20)
#define IL_SQL_TABLES_MAX 256u

typedef struct il_sql_table {
    il_str schema, name; /* lower case, without quotes; schema is empty when none was said */
    bool read, written;
} il_sql_table;

typedef struct il_sql {
    bool understood;            /* false: it may do anything; nothing else is filled */
    char why[96];               /* for people, when it is not */
    const il_sql_table *tables; /* each once, in the order in which they came; in the arena */
    size_t ntables;
} il_sql;
/* IL_E_MEMORY, IL_E_LIMIT (the arena); a text that is too long is not understood. */
IL_NODISCARD il_status il_sql_read(il_str text, il_arena *arena, il_sql *out, il_error *err);

/* Whether a table is meant by a pattern: `users` in any schema, `auth.*`, `*_tokens`, `public.users`. Letter case does not count; `*` stands for any run of characters. The catalogues
 * that hold passwords (pg_authid, pg_shadow, mysql.user) are meant by no pattern but count as secret: il_sql_catalogue. */
bool il_sql_meant(const il_sql_table *table, il_str pattern);
bool il_sql_catalogue(const il_sql_table *table);
