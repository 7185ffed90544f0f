/* SPDX-License-Identifier: Apache-2.0 */
/* What servers may ask people and say of themselves: questions and definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "helper_memory.h"
#include "mcp/definition.h"
#include "mcp/elicit.h"
#include "net/rpc.h"

typedef struct elicit_case {
    test_memory memory;
    il_arena arena;
    char text[4096];
} elicit_case;

static const il_json *elicit_json(elicit_case *c, const char *text) {
    il_json *v = NULL;
    assert_int_equal(il_json_parse(&c->arena, il_str_of(text), NULL, &v, NULL), IL_OK);
    return v;
}

static const char *elicit_show(elicit_case *c, const il_json *v) {
    il_str line;
    assert_int_equal(il_rpc_line(&c->arena, v, sizeof c->text - 1, &line, NULL), IL_OK);
    memcpy(c->text, line.p, line.n - 1);
    c->text[line.n - 1] = '\0';
    return c->text;
}

static void elicit_init(elicit_case *c) {
    test_memory_init(&c->memory, SIZE_MAX);
    il_arena_init(&c->arena, &c->memory.alloc, 4u << 20);
}

static void elicit_credentials(void **state) {
    (void)state;
    static const char *const asks[] = {"password",      "Password",      "userPassword",  "user_password",
                                       "USER-PASSWORD", "new password:", "passwords",     "passphrase",
                                       "token",         "accessToken",   "API key",       "api_key",
                                       "ApiKey",        "apikey",        "client secret", "clientSecret",
                                       "private-key",   "PIN",           "pin code",      "OTP",
                                       "one-time code", "One time code", "2FA",           "security code",
                                       "CVV",           "seed phrase",   "credentials",   "your SSH keys",
                                       "card number",   "credit-card",   "Ihr Passwort",  "JWT"};
    static const char *const fine[] = {"",           "name",    "email",        "keyboard",  "secretary",
                                       "pinned",     "opinion", "spinning",     "tokenizer", "compass",
                                       "passenger",  "passage", "country code", "postcode",  "monkey",
                                       "max tokens", "mfaxyz",  "key",          "author",    "\xc3\xa9t\xc3\xa9"};
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        if (!il_elicit_credential(il_str_of(asks[i]))) {
            fail_msg("`%s`", asks[i]);
        }
    }
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        if (il_elicit_credential(il_str_of(fine[i]))) {
            fail_msg("`%s`", fine[i]);
        }
    }
    char longest[3000];
    memset(longest, 'A', sizeof longest);
    assert_false(il_elicit_credential((il_str){longest, sizeof longest}));
}

static void elicit_questions(void **state) {
    (void)state;
    static const struct {
        const char *in, *out; /* NULL: refused */
    } rows[] = {
        {"{\"message\":\"m\",\"requestedSchema\":{}}", "{\"message\":\"server web asks: m\",\"requestedSchema\":{}}"},
        {"{\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"default\":\"x\",\"maxLength\":1."
         "0}},\"required\":[\"a\"]},\"mode\":\"form\",\"message\":\"\"}",
         "{\"mode\":\"form\",\"message\":\"server web asks: "
         "\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"default\":\"x\",\"maxLength\":"
         "1.0}},"
         "\"required\":[\"a\"]}}"},
        {"{\"message\":\"see https://a.example/x?y=1, or www.a.example and a.example/p (twice: "
         "a.example/p)\",\"requestedSchema\":{}}",
         "{\"message\":\"server web asks: see [link removed], or [link removed] and [link removed] (twice: [link "
         "removed])\",\"requestedSchema\":{}}"},
        {"{\"message\":\"http&#x3a;//a.example/x\",\"requestedSchema\":{\"title\":\"https%3A%2F%2Fx.a.example\"}}", ""},
        {"{\"message\":\"a\\u202eb\\u0007\\n\\ud83c\\udf45\\ufe0f\",\"requestedSchema\":{\"properties\":{\"a\":{\"enum\":["
         "\"\\u200bx\"]}}}}",
         "{\"message\":\"server web asks: "
         "ab\\n\xf0\x9f\x8d\x85\",\"requestedSchema\":{\"properties\":{\"a\":{\"enum\":[\"x\"]}}}}"},
        {"{\"message\":\"m\",\"requestedSchema\":{\"properties\":{\"password\":{}}}}", NULL},
        {"{\"message\":\"m\",\"requestedSchema\":{\"properties\":{\"a\":{\"title\":\"Secret\"}}}}", NULL},
        {"{\"message\":\"m\",\"requestedSchema\":{\"properties\":{\"a\":{\"description\":\"your api key\"}}}}", NULL},
        {"{\"message\":\"m\",\"requestedSchema\":{\"properties\":{\"a\":{\"format\":\"password\"}}}}", NULL},
        {"{\"message\":\"m\",\"requestedSchema\":{\"properties\":{\"a\\u200b\":{}}}}", NULL},
        {"{\"message\":\"m\",\"requestedSchema\":{},\"mode\":\"url\"}", NULL},
        {"{\"message\":\"m\",\"requestedSchema\":{},\"url\":\"x\"}", NULL},
        {"{\"message\":\"m\"}", NULL},
        {"{\"message\":7,\"requestedSchema\":{}}", NULL},
        {"{\"message\":\"m\",\"requestedSchema\":[]}", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        elicit_case c;
        elicit_init(&c);
        il_json *out = NULL;
        il_error err = {0};
        const il_status st = il_elicit_params(&c.arena, elicit_json(&c, rows[i].in), IL_STR("web"), &out, &err);
        if (st != (rows[i].out != NULL ? IL_OK : IL_E_INVALID)) {
            fail_msg("%s: %d, %s", rows[i].in, (int)st, err.msg);
        }
        if (rows[i].out != NULL && rows[i].out[0] == '\0') {
            assert_null(strstr(elicit_show(&c, out), "a.example"));
        } else if (rows[i].out != NULL) {
            assert_string_equal(elicit_show(&c, out), rows[i].out);
        } else {
            assert_true(err.msg[0] != '\0');
        }
        il_arena_free(&c.arena);
        assert_int_equal(c.memory.live, 0);
    }
    elicit_case c;
    il_json *out = NULL;
    elicit_init(&c);
    assert_int_equal(il_elicit_params(&c.arena, NULL, IL_STR("web"), &out, NULL), IL_E_INVALID);
    il_arena_free(&c.arena);
}

static void elicit_definitions(void **state) {
    (void)state;
    static const struct {
        const char *in, *out; /* NULL: left out */
        bool inside;
    } rows[] = {
        {"{\"name\":\"a\",\"description\":\"x\\u200by\\udb40\\udc41\\t\",\"n\":[1.0,true,null]}",
         "{\"name\":\"a\",\"description\":\"xy\\t\",\"n\":[1.0,true,null]}", false},
        {"{\"name\":\"a\",\"icons\":[{\"src\":\"https://x.example\"},7,{\"src\":\"data:image/svg\"},{\"src\":\"data:text/"
         "html\"}],\"websiteUrl\":\"https://x.example\"}",
         "{\"name\":\"a\",\"icons\":[{\"src\":\"data:image/svg\"}]}", false},
        {"{\"name\":\"a\",\"icons\":\"https://x.example\"}", "{\"name\":\"a\"}", false},
        {"{\"name\":\"a\",\"inputSchema\":{\"$ref\":\"#/a\",\"$schema\":\"https://x.example\",\"properties\":{\"$ref\":{}}}}",
         "{\"name\":\"a\",\"inputSchema\":{\"$ref\":\"#/a\",\"$schema\":\"https://x.example\",\"properties\":{\"$ref\":{}}}}",
         false},
        {"{\"name\":\"a\",\"inputSchema\":{\"allOf\":[{\"$ref\":\"https://x.example\"}]}}", NULL, true},
        {"{\"name\":\"a\",\"outputSchema\":{\"$dynamicRef\":\"x.json\"}}", NULL, true},
        {"{\"name\":\"a b\"}", NULL, true},
        {"{\"name\":7}", NULL, true},
        {"{\"title\":\"a\"}", NULL, true},
        {"7", NULL, true},
        {"{\"name\":\"a\",\"x\":{\"k\\u2066\":1}}", NULL, false},
        {"{\"name\":\"a\",\"x\":{\"k\\u0007\":1}}", NULL, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        elicit_case c;
        elicit_init(&c);
        size_t hidden = 0;
        const il_json *in = elicit_json(&c, rows[i].in);
        const char *fault = il_definition_fault(IL_MSG_TOOLS_LIST, in, rows[i].inside);
        assert_true((fault != NULL) == (rows[i].out == NULL));
        if (rows[i].out != NULL) {
            assert_string_equal(elicit_show(&c, il_definition_clean(&c.arena, in, &hidden)), rows[i].out);
            assert_string_equal(elicit_show(&c, in),
                                elicit_show(&c, elicit_json(&c, rows[i].in))); /* what was read is never changed */
            assert_int_equal(hidden, i == 0 ? 2 : 0);
        }
        il_arena_free(&c.arena);
    }
}

/* With too little memory there is nothing, never half of it. */
static void elicit_without_memory(void **state) {
    (void)state;
    static const char *const in = "{\"message\":\"see "
                                  "https://"
                                  "a.example\\u200b\",\"requestedSchema\":{\"properties\":{\"a\":{\"title\":\"t\\u200b\","
                                  "\"icons\":[{\"src\":\"data:image/x\"}]}}}}";
    char whole[2][512] = {"", ""};
    size_t refused = 0;
    for (size_t cap = 1u << 16; cap > 0; cap = cap == 1u << 16 ? 8192 : cap - 16) {
        elicit_case c;
        elicit_init(&c);
        il_arena small;
        size_t hidden = 0;
        const il_json *v = elicit_json(&c, in);
        for (int i = 0; i < 2; i++) {
            il_arena_init(&small, &c.memory.alloc, cap);
            il_json *out = NULL;
            if (i == 0) {
                const il_status st = il_elicit_params(&small, v, IL_STR("web"), &out, NULL);
                assert_true((st == IL_OK) == (out != NULL));
            } else {
                out = il_definition_clean(&small, v, &hidden);
            }
            refused += out == NULL;
            if (whole[i][0] == '\0') {
                (void)strncat(whole[i], elicit_show(&c, out), sizeof whole[i] - 1);
            } else if (out != NULL) {
                assert_string_equal(elicit_show(&c, out), whole[i]);
            }
            il_arena_free(&small);
        }
        il_arena_free(&c.arena);
        assert_int_equal(c.memory.live, 0);
    }
    assert_true(refused > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elicit_credentials),
        cmocka_unit_test(elicit_questions),
        cmocka_unit_test(elicit_definitions),
        cmocka_unit_test(elicit_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
