/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/rpc.h"

static size_t rpc_allocations, rpc_fail;

static void *rpc_get(void *ctx, size_t n) {
    (void)ctx;
    return ++rpc_allocations == rpc_fail ? NULL : malloc(n);
}

static void rpc_give(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

static const il_alloc rpc_alloc = {rpc_get, rpc_give, NULL};

typedef struct rpc_read {
    il_arena arena;
    il_rpc rpc;
    il_error err;
    il_status st;
} rpc_read;

static void rpc_parse(rpc_read *r, const char *text) {
    il_json *root = NULL;
    *r = (rpc_read){0};
    il_arena_init(&r->arena, &rpc_alloc, 1u << 20);
    assert_int_equal(il_json_parse(&r->arena, il_str_of(text), NULL, &root, &r->err), IL_OK);
    r->st = il_rpc_read(root, &r->rpc, &r->err);
}

static void rpc_envelopes(void **state) {
    (void)state;
    /* id: NULL when none was readable; a string's with its quotes */
    static const struct {
        const char *text;
        il_rpc_kind kind;
        const char *id;
        bool asks;
    } rows[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", IL_RPC_REQUEST, "1", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"m\",\"params\":{}}", IL_RPC_REQUEST, "\"1\"", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"m\"}", IL_RPC_REQUEST, "\"\"", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":-7,\"method\":\"m\"}", IL_RPC_REQUEST, "-7", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":9007199254740991,\"method\":\"m\"}", IL_RPC_REQUEST, "9007199254740991", true},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"m\"}", IL_RPC_NOTIFICATION, NULL, true},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", IL_RPC_RESULT, "1", false},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}", IL_RPC_RESULT, "1", false},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":\"\"}}", IL_RPC_ERROR, "1", false},
        /* refused */
        {"{\"jsonrpc\":\"2.0\",\"id\":8.0,\"method\":\"m\"}", IL_RPC_BAD, NULL, true},
        {"{\"jsonrpc\":\"2.0\",\"id\":8e0,\"method\":\"m\"}", IL_RPC_BAD, NULL, true},
        {"{\"jsonrpc\":\"2.0\",\"id\":-0,\"method\":\"m\"}", IL_RPC_BAD, NULL, true},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", IL_RPC_BAD, NULL, true},
        {"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"m\"}", IL_RPC_BAD, NULL, true},
        {"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"m\"}", IL_RPC_BAD, NULL, true},
        {"{\"jsonrpc\":\"2.0\",\"id\":9007199254740992,\"method\":\"m\"}", IL_RPC_BAD, NULL, true},
        {"{\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"method\":\"m\"}", IL_RPC_BAD, NULL, true},
        {"{\"jsonrpc\":\"2.0\",\"id\":-9007199254740992,\"method\":\"m\"}", IL_RPC_BAD, NULL, true},
        {"{\"jsonrpc\":\"2.0\",\"id\":123456789012345678901234567890,\"method\":\"m\"}", IL_RPC_BAD, NULL, true},
        {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}", IL_RPC_BAD, "1", true},
        {"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"m\"}", IL_RPC_BAD, "1", true},
        {"{\"id\":1,\"method\":\"m\"}", IL_RPC_BAD, "1", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"extra\":1}", IL_RPC_BAD, "1", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"Method\":\"m\"}", IL_RPC_BAD, "1", false},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"result\":{}}", IL_RPC_BAD, "1", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"error\":{\"code\":1,\"message\":\"\"}}", IL_RPC_BAD, "1", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", IL_RPC_BAD, "1", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":null}", IL_RPC_BAD, "1", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[]}", IL_RPC_BAD, "1", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":null}", IL_RPC_BAD, "1", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"params\":{},\"result\":{}}", IL_RPC_BAD, "1", false},
        {"{\"jsonrpc\":\"2.0\",\"id\":1}", IL_RPC_BAD, "1", false},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{\"code\":1,\"message\":\"\"}}", IL_RPC_BAD, "1", false},
        {"{\"jsonrpc\":\"2.0\",\"result\":{}}", IL_RPC_BAD, NULL, false},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"x\"}", IL_RPC_BAD, "1", false},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":\"1\",\"message\":\"\"}}", IL_RPC_BAD, "1", false},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1.5,\"message\":\"\"}}", IL_RPC_BAD, "1", false},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1}}", IL_RPC_BAD, "1", false},
        {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}]", IL_RPC_BAD, NULL, false},
        {"[]", IL_RPC_BAD, NULL, false},
        {"7", IL_RPC_BAD, NULL, false},
        {"null", IL_RPC_BAD, NULL, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rpc_read r;
        char id[64] = "";
        rpc_parse(&r, rows[i].text);
        if (r.rpc.kind != rows[i].kind || r.rpc.asks != rows[i].asks || (r.st == IL_OK) != (rows[i].kind != IL_RPC_BAD)) {
            fail_msg("%s: kind %d, asks %d, %s", rows[i].text, (int)r.rpc.kind, r.rpc.asks, r.err.msg);
        }
        if (r.rpc.id.present) {
            (void)il_format(id, sizeof id, r.rpc.id.string ? "\"%.*s\"" : "%.*s", IL_STR_ARG(r.rpc.id.text));
        }
        assert_int_equal(r.rpc.id.present, rows[i].id != NULL);
        assert_string_equal(id, rows[i].id != NULL ? rows[i].id : "");
        if (r.st != IL_OK) {
            assert_true(r.err.msg[0] != '\0' && r.err.line == 1);
        }
        il_arena_free(&r.arena);
    }
}

static void rpc_long_id_is_refused(void **state) {
    (void)state;
    char text[400];
    for (int n = IL_RPC_ID_BYTES; n <= IL_RPC_ID_BYTES + 1; n++) {
        rpc_read r;
        size_t at = il_format(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":\"");
        memset(text + at, 'k', (size_t)n);
        (void)il_format(text + at + (size_t)n, sizeof text - at - (size_t)n, "\",\"method\":\"m\"}");
        rpc_parse(&r, text);
        assert_int_equal(r.rpc.kind, n == IL_RPC_ID_BYTES ? IL_RPC_REQUEST : IL_RPC_BAD);
        il_arena_free(&r.arena);
    }
}

static void rpc_ids_are_typed(void **state) {
    (void)state;
    const il_rpc_id one = {.present = true, .text = IL_STR("1")}, text = {.present = true, .string = true, .text = IL_STR("1")},
                    none = {0};
    assert_true(il_rpc_id_eq(&one, &one));
    assert_false(il_rpc_id_eq(&one, &text));
    assert_false(il_rpc_id_eq(&one, &none));
}

static void rpc_salvaged(void **state) {
    (void)state;
    static const struct {
        const char *line, *id;
        bool asks, answers;
    } rows[] = {
        {"{\"id\":7,\"method\":\"m\",\"params\":{\"a\":1,\"a\":2}}", "7", true, false},
        {" {\"method\" : \"m\" , \"id\" : \"x\" , ", "\"x\"", true, false},
        {"{\"result\":{\"id\":3,\"a\":\"\\ud800\"},\"id\":9}", "9", false, true},
        {"{\"id\":9,\"error\":{\"result\":1,", "9", false, true},
        {"{\"result\":{},\"method\":\"m\",\"id\":9,", "9", true, true},
        {"{\"params\":[{\"id\":1,\"method\":1,\"result\":1}],\"id\":2}", "2", false, false},
        {"{\"a\":\"\\\"id\\\":4\",\"id\":5}", "5", false, false},
        {"{\"id\":7,\"id\":8}", NULL, false, false},       /* which? */
        {"{\"id\":7,\"i\\u0064\":8}", NULL, false, false}, /* the same in disguise */
        {"{\"method\":\"m\",\"id\":7,\"id\":8}", NULL, true, false},
        {"{\"id\":7.0}", NULL, false, false},
        {"{\"id\":07}", NULL, false, false},
        {"{\"id\":-7}", NULL, false, false},
        {"{\"id\":7", NULL, false, false}, /* more digits might have followed */
        {"{\"id\":\"a\\n\"}", NULL, false, false},
        {"{\"id\":null}", NULL, false, false},
        {"{\"id\":99999999999999999999}", NULL, false, false},
        {"[{\"id\":7}]", NULL, false, false},
        {"{\"a\":{\"id\":7}}", NULL, false, false},
        {"{\"a\":\"id\":7}", NULL, false, false},
        {"}{\"id\":7}", NULL, false, false},
        {"", NULL, false, false},
        {"{\"id", NULL, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        il_rpc rpc = {.kind = IL_RPC_REQUEST, .asks = true, .answers = true};
        char text[32] = "";
        il_rpc_salvage(il_str_of(rows[i].line), &rpc);
        if (rpc.id.present != (rows[i].id != NULL) || rpc.asks != rows[i].asks || rpc.answers != rows[i].answers) {
            fail_msg("%s: id %d, asks %d, answers %d", rows[i].line, rpc.id.present, rpc.asks, rpc.answers);
        }
        assert_int_equal(rpc.kind, IL_RPC_BAD);
        if (rpc.id.present) {
            (void)il_format(text, sizeof text, rpc.id.string ? "\"%.*s\"" : "%.*s", IL_STR_ARG(rpc.id.text));
            assert_string_equal(text, rows[i].id);
        }
    }
}

/* Every builder, as one text; NULL when memory ran out. */
static const char *rpc_build(il_arena *a, char *out, size_t cap) {
    const il_rpc_id number = {.present = true, .text = IL_STR("12")},
                    string = {.present = true, .string = true, .text = IL_STR("\"\n")}, none = {0};
    il_json *params = il_json_make(a, IL_JSON_OBJECT);
    (void)il_json_set(params, IL_STR("k"), il_json_boolean(a, true));
    const il_json *messages[] = {
        il_rpc_request(a, 3, IL_STR("m"), NULL),           params == NULL ? NULL : il_rpc_request(a, 3, IL_STR("m"), params),
        il_rpc_notification(a, IL_STR("n"), NULL),         il_rpc_result(a, &number, NULL),
        il_rpc_error(a, &string, -5, IL_STR("why"), NULL), params == NULL ? NULL : il_rpc_error(a, &none, 1, IL_STR("w"), params),
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        il_str line;
        if (il_rpc_line(a, messages[i], 4096, &line, NULL) != IL_OK) {
            return NULL;
        }
        n += il_format(out + n, cap - n, "%.*s", IL_STR_ARG(il_str_part(line, 0, line.n - 1)));
        assert_int_equal(line.p[line.n - 1], '\n');
    }
    return out;
}

static const char rpc_built[] =
    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"m\"}{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"m\",\"params\":{\"k\":true}}"
    "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}{\"jsonrpc\":\"2.0\",\"id\":12,\"result\":{}}"
    "{\"jsonrpc\":\"2.0\",\"id\":\"\\\"\\n\",\"error\":{\"code\":-5,\"message\":\"why\"}}"
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"w\",\"data\":{\"k\":true}}}";

static void rpc_builders(void **state) {
    (void)state;
    il_arena a;
    char out[1024];
    il_arena_init(&a, &rpc_alloc, 1u << 20);
    assert_string_equal(rpc_build(&a, out, sizeof out), rpc_built);
    il_arena_free(&a);
}

/* With too little memory a message is whole or not there. */
static void rpc_builders_without_memory(void **state) {
    (void)state;
    size_t refused = 0;
    for (size_t cap = 0; cap < 20000; cap += 16) {
        il_arena a;
        char out[1024];
        il_arena_init(&a, &rpc_alloc, cap);
        const char *got = rpc_build(&a, out, sizeof out);
        refused += got == NULL;
        if (got != NULL) {
            assert_string_equal(got, rpc_built);
        }
        il_arena_free(&a);
    }
    assert_true(refused > 10);
}

static void rpc_line_is_bounded(void **state) {
    (void)state;
    il_arena a;
    il_str line;
    il_error err = {0};
    il_arena_init(&a, &rpc_alloc, 1u << 20);
    const il_json *m = il_rpc_notification(&a, IL_STR("0123456789"), NULL);
    assert_int_equal(il_rpc_line(&a, m, 20, &line, &err), IL_E_LIMIT);
    assert_int_equal(line.n, 0);
    il_arena_free(&a);
}

/* JSON takes a carriage return for white space, and some readers of lines take it for an end. */
static void rpc_carriage_returns(void **state) {
    (void)state;
    static const char *const bad[] = {"{\r}", "{}\r", "\r{}", "{\"a\":\"\r\"}"};
    il_arena a;
    il_json *out = NULL;
    il_error err = {0};
    il_arena_init(&a, &rpc_alloc, 1u << 16);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(il_rpc_parse(&a, il_str_of(bad[i]), NULL, &out, &err), IL_E_SYNTAX);
        assert_null(out);
        assert_int_equal(err.col, strchr(bad[i], '\r') - bad[i] + 1);
    }
    assert_int_equal(il_rpc_parse(&a, IL_STR("{\"a\":\"\\r\"}"), NULL, &out, &err), IL_OK);
    assert_int_equal(il_rpc_parse(&a, (il_str){NULL, 0}, NULL, &out, &err), IL_E_SYNTAX);
    il_arena_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rpc_carriage_returns),
        cmocka_unit_test(rpc_envelopes),
        cmocka_unit_test(rpc_long_id_is_refused),
        cmocka_unit_test(rpc_ids_are_typed),
        cmocka_unit_test(rpc_salvaged),
        cmocka_unit_test(rpc_builders),
        cmocka_unit_test(rpc_builders_without_memory),
        cmocka_unit_test(rpc_line_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
