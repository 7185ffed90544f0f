/* SPDX-License-Identifier: Apache-2.0 */
/* A walk over the tokens with one level a pair of parentheses. A table stands behind FROM, JOIN, INTO, UPDATE, USING, TABLE and, at the level of a FROM, behind a comma. That
 * is all of the grammar that is needed to name every table, given that everything which could name one elsewhere (functions, other verbs) is not understood. */
#include "policy/sql.h"

#include "base/buf.h"
#include "policy/glob.h"
#include "policy/sql_lex.h"

#define IL_SQL_DEPTH_MAX 64u

typedef struct il_sql_level {
    bool from;    /* in a FROM list: a comma, or an opening parenthesis in a table's place, goes on with a table */
    bool wants;   /* a table comes next */
    bool written; /* and it is written */
    bool update;  /* the list of an UPDATE: each of its tables may be written */
    bool removes; /* the list of a DELETE FROM: MySQL removes rows of each of its tables */
    bool lone;    /* behind a word that some databases take for an alias: a comma would go on with tables there */
} il_sql_level;

typedef struct il_sql_walk {
    il_sql_lexer lexer;
    il_sql_token before, now, next; /* one ahead */
    il_sql_level levels[IL_SQL_DEPTH_MAX];
    uint32_t depth;
    bool begins; /* a statement begins here */
    bool shown;  /* what is written is read too: by RETURNING, or from one table of an UPDATE into another */
    il_sql_table *tables;
    size_t ntables;
    const char *why; /* not understood */
} il_sql_walk;

static bool il_sql_is(il_sql_token t, const char *word) { return t.sort == IL_SQL_WORD && il_str_eq(t.text, il_str_of(word)); }
static bool il_sql_sign(il_sql_token t, char c) { return t.sort == IL_SQL_SIGN && t.text.p[0] == c; }

static bool il_sql_among(il_sql_token t, const char *const *words) {
    for (; *words != NULL; words++) {
        if (il_sql_is(t, *words)) {
            return true;
        }
    }
    return false;
}

/* What a statement may begin with. */
static const char *const il_sql_verbs[] = {"select", "with", "values", "insert", "update", "delete", "table", NULL};
/* They end a FROM list. */
static const char *const il_sql_clauses[] = {"where", "group",     "having", "order", "limit",     "offset", "fetch", "window",
                                             "union", "intersect", "except", "set",   "returning", "values", "on",    NULL};
/* They may stand before a parenthesis without being a function. */
static const char *const il_sql_words[] = {
    "select",  "distinct",  "all",       "any",       "some",      "exists",       "in",        "not",    "and",      "or",
    "from",    "join",      "lateral",   "where",     "having",    "by",           "on",        "using",  "as",       "values",
    "into",    "over",      "filter",    "within",    "group",     "union",        "intersect", "except", "when",     "then",
    "else",    "case",      "between",   "like",      "ilike",     "is",           "limit",     "offset", "interval", "array",
    "row",     "partition", "order",     "with",      "recursive", "materialized", "returning", "set",    "default",  "end",
    "only",    "conflict",  "do",        "key",       "index",     "fetch",        "first",     "next",   "numeric",  "decimal",
    "varchar", "char",      "character", "timestamp", "time",      "bit",          "varying",   "float",  NULL};
/* Functions that compute from their arguments alone. */
static const char *const il_sql_functions[] = {"abs",
                                               "avg",
                                               "bit_length",
                                               "bool_and",
                                               "bool_or",
                                               "btrim",
                                               "cast",
                                               "ceil",
                                               "ceiling",
                                               "char_length",
                                               "character_length",
                                               "coalesce",
                                               "concat",
                                               "concat_ws",
                                               "count",
                                               "cume_dist",
                                               "date",
                                               "date_part",
                                               "date_trunc",
                                               "datetime",
                                               "dense_rank",
                                               "every",
                                               "exp",
                                               "extract",
                                               "first_value",
                                               "floor",
                                               "format",
                                               "generate_series",
                                               "greatest",
                                               "group_concat",
                                               "ifnull",
                                               "iif",
                                               "initcap",
                                               "instr",
                                               "json_agg",
                                               "json_array_length",
                                               "json_build_object",
                                               "json_extract",
                                               "json_group_array",
                                               "json_object",
                                               "jsonb_agg",
                                               "jsonb_array_length",
                                               "jsonb_build_object",
                                               "julianday",
                                               "lag",
                                               "last_value",
                                               "lead",
                                               "least",
                                               "left",
                                               "length",
                                               "ln",
                                               "log",
                                               "lower",
                                               "lpad",
                                               "ltrim",
                                               "max",
                                               "min",
                                               "mod",
                                               "now",
                                               "nth_value",
                                               "ntile",
                                               "nullif",
                                               "octet_length",
                                               "percent_rank",
                                               "percentile_cont",
                                               "percentile_disc",
                                               "position",
                                               "power",
                                               "printf",
                                               "rank",
                                               "regexp_replace",
                                               "repeat",
                                               "replace",
                                               "reverse",
                                               "right",
                                               "round",
                                               "row_number",
                                               "rpad",
                                               "rtrim",
                                               "sign",
                                               "split_part",
                                               "sqrt",
                                               "stddev",
                                               "string_agg",
                                               "strftime",
                                               "strpos",
                                               "substr",
                                               "substring",
                                               "sum",
                                               "to_char",
                                               "to_date",
                                               "to_number",
                                               "to_timestamp",
                                               "total",
                                               "trim",
                                               "trunc",
                                               "typeof",
                                               "unnest",
                                               "upper",
                                               "variance",
                                               "year",
                                               "month",
                                               "day",
                                               "hour",
                                               "minute",
                                               "array_agg",
                                               "age",
                                               "make_date",
                                               NULL};

static void il_sql_stop(il_sql_walk *w, const char *why) {
    if (w->why == NULL) {
        w->why = why;
    }
}

static void il_sql_step(il_sql_walk *w) {
    w->before = w->now;
    w->now = w->next;
    w->next = il_sql_next(&w->lexer);
    if (w->now.sort == IL_SQL_STRANGE) {
        il_sql_stop(w, w->now.text.p);
    }
}

static void il_sql_add(il_sql_walk *w, il_str schema, il_str name, bool written) {
    for (size_t i = 0; i < w->ntables; i++) {
        if (il_str_eq(w->tables[i].schema, schema) && il_str_eq(w->tables[i].name, name)) {
            w->tables[i].written = w->tables[i].written || written;
            w->tables[i].read = w->tables[i].read || !written;
            return;
        }
    }
    if (w->ntables == IL_SQL_TABLES_MAX) {
        il_sql_stop(w, "more tables than are looked at");
        return;
    }
    w->tables[w->ntables++] = (il_sql_table){.schema = schema, .name = name, .read = !written, .written = written};
}

static bool il_sql_name(il_sql_token t) { return t.sort == IL_SQL_WORD || t.sort == IL_SQL_QUOTED; }

/* A table's name stands at `now`: name, schema.name, or database.schema.name. */
static void il_sql_table_at(il_sql_walk *w, il_sql_level *l) {
    il_str parts[3] = {{0}};
    size_t n = 0;
    const bool written = l->written;
    l->wants = false;
    for (;;) {
        if (!il_sql_name(w->now) || n == 3) {
            il_sql_stop(w, "a table's name that cannot be read");
            return;
        }
        parts[n++] = w->now.text;
        if (!il_sql_sign(w->next, '.')) {
            break;
        }
        il_sql_step(w);
        il_sql_step(w);
    }
    if (n == 3) {
        il_sql_stop(w, "a table of another database");
        return;
    }
    if (il_sql_sign(w->next, '(') && !written) {
        il_sql_token name = {IL_SQL_WORD, parts[n - 1]};
        if (n > 1 || !il_sql_among(name, il_sql_functions)) {
            il_sql_stop(w, "a function in a table's place");
        }
        return;
    }
    il_sql_add(w, n == 2 ? parts[0] : (il_str){0}, parts[n - 1], written);
}

static void il_sql_want(il_sql_level *l, bool from, bool written) {
    l->wants = true;
    l->from = from;
    l->written = written || l->update;
}

/* Words that end a list of tables in one database and name a column or an alias in another, where the list goes on. */
static bool il_sql_doubtful(const il_sql_walk *w, const il_sql_level *l) {
    static const char *const hints[] = {"force", "ignore", "indexed", "not", NULL};
    const il_sql_token t = w->now;
    if (il_sql_sign(w->before, '.') || il_sql_is(w->before, "as")) {
        return true;
    }
    if (!l->from || (l->wants && !il_sql_is(t, "insert"))) {
        return false;
    }
    if (il_sql_is(t, "set")) {
        return !l->update && !il_sql_is(w->before, "update");
    }
    if (il_sql_is(t, "returning")) {
        return il_sql_sign(w->next, ',') || il_sql_among(w->next, hints);
    }
    return il_sql_is(t, "insert") || il_sql_is(t, "into") || il_sql_is(t, "values") || il_sql_is(t, "window");
}

static void il_sql_keyword(il_sql_walk *w, il_sql_level *l) {
    static const char *const lone[] = {"offset", "fetch", "union", "intersect", "except", NULL};
    const il_sql_token t = w->now;
    if (il_sql_doubtful(w, l)) {
        il_sql_stop(w, "a keyword that is a name in some databases");
        return;
    }
    l->lone = il_sql_among(t, lone);
    w->shown = w->shown || il_sql_is(t, "returning");
    if (il_sql_is(t, "from")) {
        l->removes = l->written && l->wants && il_sql_is(w->before, "delete");
        il_sql_want(l, true, l->removes); /* DELETE FROM */
    } else if (il_sql_is(t, "join") || il_sql_is(t, "using")) {
        l->removes = false;
        w->shown = w->shown || l->update;
        if (il_sql_is(t, "join") || !il_sql_sign(w->next, '(')) {
            il_sql_want(l, true, false); /* USING (columns) is no table; DELETE ... USING t is */
        }
    } else if (il_sql_is(t, "straight_join")) {
        il_sql_want(l, true, false);
    } else if (il_sql_is(t, "into")) {
        il_sql_want(l, false, true);
        if (il_sql_is(w->next, "outfile") || il_sql_is(w->next, "dumpfile") || il_sql_sign(w->next, '@')) {
            il_sql_stop(w, "a file is written");
        }
    } else if (il_sql_is(t, "update")) {
        /* FOR UPDATE locks, DO UPDATE SET has its table from INSERT */
        if (il_sql_is(w->next, "set")) {
            l->wants = false;
        } else if (il_sql_name(w->next)) {
            l->update = true;
            il_sql_want(l, true, true);
        }
    } else if (il_sql_is(t, "delete")) {
        il_sql_want(l, false, true);
        if (!il_sql_is(w->next, "from")) {
            il_sql_stop(w, "a delete without from"); /* MySQL: of several tables */
        }
    } else if (il_sql_is(t, "insert")) {
        il_sql_want(l, false, true); /* INTO comes, or (MySQL) a table */
    } else if (il_sql_is(t, "table")) {
        il_sql_want(l, true, false);
    } else if (il_sql_is(t, "select")) {
        l->from = l->wants = l->update = false;
    } else if (il_sql_among(t, il_sql_clauses)) {
        if (l->wants && !il_sql_is(t, "values")) {
            il_sql_stop(w, "a table's name that cannot be read");
        }
        if (!il_sql_is(t, "on")) {
            l->from = l->update = false;
        }
        l->wants = false;
    }
}

static const char *const il_sql_tables_before[] = {"only",   "lateral", "low_priority",  "quick",
                                                   "ignore", "delayed", "high_priority", NULL};
static const char *const il_sql_steering[] = {"from",   "join",   "using", "straight_join", "into", "update",
                                              "delete", "insert", "table", "select",        NULL};
/* In SQLite and MySQL statements of their own or parts that do more; in any place they end the understanding. */
static const char *const il_sql_never[] = {
    "attach",     "detach",   "pragma",  "vacuum",  "load",    "load_extension", "call",     "execute",  "exec",  "prepare",
    "deallocate", "copy",     "grant",   "revoke",  "alter",   "create",         "drop",     "truncate", "merge", "rename",
    "listen",     "notify",   "declare", "lock",    "handler", "kill",           "shutdown", "flush",    "reset", "procedure",
    "outfile",    "dumpfile", "program", "explain", "analyze", "describe",       "show",     "use",      NULL};

static void il_sql_open(il_sql_walk *w, il_sql_level *l) {
    if (w->depth + 1 == IL_SQL_DEPTH_MAX) {
        il_sql_stop(w, "parentheses too deep");
        return;
    }
    const bool tables = l->wants && !l->written; /* FROM (a JOIN b), FROM (SELECT ...) */
    const bool columns = l->wants && l->written;
    l->wants = false;
    if (columns) {
        il_sql_stop(w, "a table's name that cannot be read");
        return;
    }
    w->levels[++w->depth] = (il_sql_level){.from = tables, .wants = tables};
}

static void il_sql_one(il_sql_walk *w) {
    il_sql_level *l = &w->levels[w->depth];
    const il_sql_token t = w->now;
    if (w->begins) {
        w->begins = false;
        if (!il_sql_among(t, il_sql_verbs) && !il_sql_sign(t, '(')) {
            il_sql_stop(w, "a statement that is none of select, with, values, insert, update, delete and table");
            return;
        }
    }
    if (il_sql_sign(t, ';')) {
        if (w->depth > 0) {
            il_sql_stop(w, "a statement that ends inside parentheses");
        }
        w->levels[0] = (il_sql_level){0};
        w->begins = true;
    } else if (il_sql_sign(t, '(')) {
        il_sql_open(w, l);
    } else if (l->wants && (il_sql_sign(t, ';') || il_sql_sign(t, ')') || il_sql_sign(t, ','))) {
        il_sql_stop(w, "a table's name that cannot be read");
    } else if (il_sql_sign(t, ')')) {
        if (w->depth == 0) {
            il_sql_stop(w, "a parenthesis that was not opened");
        } else {
            w->depth--;
        }
    } else if (il_sql_sign(t, ',')) {
        if (l->lone) {
            il_sql_stop(w, "a keyword that is a name in some databases");
        }
        w->shown = w->shown || l->update;
        l->wants = l->from;
        l->written = l->update || l->removes;
    } else if (t.sort == IL_SQL_WORD && il_sql_among(t, il_sql_never)) {
        il_sql_stop(w, "a word that does more than read and write rows");
    } else if (t.sort == IL_SQL_WORD && il_sql_among(t, il_sql_steering)) {
        il_sql_keyword(w, l);
    } else if (l->wants && t.sort == IL_SQL_WORD && il_sql_among(t, il_sql_tables_before)) {
        /* still wanted */
    } else if (l->wants && il_sql_name(t) && !(t.sort == IL_SQL_WORD && il_sql_among(t, il_sql_clauses))) {
        il_sql_table_at(w, l);
    } else if (l->wants && t.sort != IL_SQL_WORD) {
        il_sql_stop(w, "a table's name that cannot be read");
    } else if (t.sort == IL_SQL_WORD && il_sql_among(t, il_sql_clauses)) {
        il_sql_keyword(w, l);
    } else if (il_sql_name(t) && il_sql_sign(w->next, '(')) {
        /* a function, a list of columns behind a name (insert into t (a)), the columns of a common table (with x (a) as) */
        if (!(t.sort == IL_SQL_WORD && (il_sql_among(t, il_sql_functions) || il_sql_among(t, il_sql_words)))) {
            il_sql_stop(w, "a function that is not known to be harmless");
        }
    }
}

il_status il_sql_read(il_str text, il_arena *arena, il_sql *out, il_error *err) {
    *out = (il_sql){0};
    if (text.n > IL_SQL_BYTES_MAX) {
        (void)il_format(out->why, sizeof out->why, "longer than %zu bytes", IL_SQL_BYTES_MAX);
        return IL_OK;
    }
    il_sql_walk *w = IL_NEW(arena, il_sql_walk);
    if (w == NULL) {
        return il_arena_fail(arena, err);
    }
    w->tables = IL_NEW_ARRAY(arena, il_sql_table, IL_SQL_TABLES_MAX);
    char *room = il_arena_bytes(arena, text.n + 1);
    if (w->tables == NULL || room == NULL) {
        return il_arena_fail(arena, err);
    }
    w->lexer = (il_sql_lexer){.text = text, .room = room};
    w->begins = true;
    il_sql_step(w);
    for (il_sql_step(w); w->now.sort != IL_SQL_END && w->why == NULL; il_sql_step(w)) {
        il_sql_one(w);
    }
    if (w->why == NULL && w->depth > 0) {
        il_sql_stop(w, "a parenthesis that does not end");
    }
    if (w->why == NULL && w->levels[0].wants) {
        il_sql_stop(w, "it ends where a table's name should come");
    }
    if (w->why != NULL) {
        (void)il_format(out->why, sizeof out->why, "%s", w->why);
        return IL_OK;
    }
    for (size_t i = 0; i < w->ntables && w->shown; i++) {
        w->tables[i].read = true;
    }
    out->understood = true;
    out->tables = w->tables;
    out->ntables = w->ntables;
    return IL_OK;
}

bool il_sql_meant(const il_sql_table *table, il_str pattern) {
    const size_t dot = il_str_find(pattern, IL_STR("."), 0);
    if (dot == SIZE_MAX) {
        return il_stars_match(pattern, table->name, true);
    }
    /* a table without a schema is looked for in those that the server searches, `public` as a rule */
    const il_str schema = table->schema.n > 0 ? table->schema : IL_STR("public");
    return il_stars_match(il_str_part(pattern, 0, dot), schema, true) &&
           il_stars_match(il_str_part(pattern, dot + 1, pattern.n), table->name, true);
}

bool il_sql_catalogue(const il_sql_table *table) {
    static const char *const names[] = {"pg_authid", "pg_shadow", "pg_user_mapping", "pg_user_mappings", "pg_largeobject",
                                        "pg_file_settings", "pg_hba_file_rules", "pg_subscription",
                                        /* samples of tables' rows, and statements of others */
                                        "pg_stats", "pg_stats_ext", "pg_stats_ext_exprs", "pg_statistic", "pg_statistic_ext_data",
                                        "pg_stat_activity", "pg_stat_statements", "user_mapping_options", "_pg_user_mappings",
                                        "pg_db_role_setting", "column_statistics", "processlist", "sqlite_stat3", "sqlite_stat4",
                                        NULL};
    for (const char *const *n = names; *n != NULL; n++) {
        if (il_str_eq(table->name, il_str_of(*n))) {
            return true;
        }
    }
    return il_str_eq(table->schema, IL_STR("mysql")) || il_str_eq(table->schema, IL_STR("performance_schema"));
}
