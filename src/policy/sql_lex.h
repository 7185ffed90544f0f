/* SPDX-License-Identifier: Apache-2.0 */
/* Words and signs of an SQL text, where PostgreSQL, MySQL and SQLite agree on them. */
#pragma once
#include "base/arena.h"

typedef enum il_sql_sort {
    IL_SQL_END = 0,
    IL_SQL_WORD,    /* unquoted: a keyword or a name; `text` in lower case */
    IL_SQL_QUOTED,  /* "a name" or `a name`; without its quotes, in lower case: an unquoted name may mean it */
    IL_SQL_LITERAL, /* a string or number */
    IL_SQL_SIGN,    /* one character */
    IL_SQL_STRANGE  /* cannot be read the same way everywhere; `text` says why */
} il_sql_sort;

typedef struct il_sql_token {
    il_sql_sort sort;
    il_str text;
} il_sql_token;

typedef struct il_sql_lexer {
    il_str text;
    size_t at;
    char *room; /* text.n bytes for the words in lower case and without their quotes, which are no longer */
    size_t used;
} il_sql_lexer;

il_sql_token il_sql_next(il_sql_lexer *l);
