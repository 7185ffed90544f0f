/* SPDX-License-Identifier: Apache-2.0 */
#include "helper_policy.h"

#include <string.h>

#include "policy/lookalike.h"

static bool lookalike_same(const char *a, const char *b) {
    char x[IL_LOOKALIKE_BYTES], y[IL_LOOKALIKE_BYTES];
    const size_t n = il_lookalike_skeleton(il_str_of(a), x), m = il_lookalike_skeleton(il_str_of(b), y);
    return n == m && memcmp(x, y, n) == 0;
}

static void lookalike_pairs(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        /* confusables.txt, UTS #39, within these characters */
        {"O0", "0O", true},     /* 0 → O */
        {"fi1e", "file", true}, /* 1 → l */
        {"fIle", "flle", true}, /* I → l */
        {"tum", "turn", true},  /* m → rn */
        {"rnn", "mn", true},
        {"rrn", "rm", true},
        {"mrn", "rnm", true},
        /* case folding, and i with it */
        {"Echo", "eCHO", true},
        {"file", "flle", true},
        {"FILE", "f1le", true},
        {"o", "0", true},
        /* ours */
        {"new", "nevv", true},
        {"wv", "vw", true},
        {"vvv", "wv", true},
        {"a-b", "a_b", true},
        {"a.b", "a_b", true},
        {"a--b", "a__b", true},
        /* and no more than that */
        {"a_b", "ab", false},
        {"a_b", "a__b", false},
        {"read", "raed", false},
        {"s", "5", false},
        {"z", "2", false},
        {"b", "8", false},
        {"cl", "d", false},
        {"n", "m", false},
        {"nn", "m", false},
        {"u", "v", false},
        {"", "a", false},
        {"get1", "get2", false},
        {"list_files", "list_file", false},
        {"rn", "r_n", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (lookalike_same(rows[i].a, rows[i].b) != rows[i].same || lookalike_same(rows[i].b, rows[i].a) != rows[i].same) {
            fail_msg("`%s` and `%s`", rows[i].a, rows[i].b);
        }
        assert_true(lookalike_same(rows[i].a, rows[i].a));
    }
}

static void lookalike_bounds(void **state) {
    (void)state;
    char name[IL_LOOKALIKE_NAME_MAX + 1], out[IL_LOOKALIKE_BYTES + 1];
    memset(name, 'w', sizeof name);
    out[IL_LOOKALIKE_BYTES] = '!';
    assert_int_equal(il_lookalike_skeleton((il_str){name, IL_LOOKALIKE_NAME_MAX}, out), IL_LOOKALIKE_BYTES);
    assert_true(out[IL_LOOKALIKE_BYTES] == '!' && out[IL_LOOKALIKE_BYTES - 1] == 'v');
    assert_int_equal(il_lookalike_skeleton((il_str){name, sizeof name}, out), 0);
}

static void lookalike_naming(void **state) {
    policy_case c;
    (void)state;
    policy_case_init(&c, "trifecta");
    policy_must(&c, "interlock: 1\nmachine: trifecta\ntools:\n"
                    "  - { match: [a.read_file, \"a.(x|y).z\", ab.send, \"a.*\", \"a.gl*b\", loose], effects: [] }\n");
    static const struct {
        const char *server, *tool, *other;
        il_naming naming;
    } rows[] = {
        {"a", "read_file", "", IL_NAMING_EXACT},
        {"a", "x.z", "", IL_NAMING_EXACT},
        {"a", "y.z", "", IL_NAMING_EXACT},
        {"a", "read_fi1e", "read_file", IL_NAMING_LOOKALIKE},
        {"a", "READ-FILE", "read_file", IL_NAMING_LOOKALIKE},
        {"a", "x_z", "x.z", IL_NAMING_LOOKALIKE},
        {"a", "other", "", IL_NAMING_NONE},
        {"a", "glb", "", IL_NAMING_NONE},  /* a pattern names nobody */
        {"a", "send", "", IL_NAMING_NONE}, /* another server's */
        {"ab", "send", "", IL_NAMING_EXACT},
        {"ab", "5end", "", IL_NAMING_NONE},
        {"ab", "read_fi1e", "", IL_NAMING_NONE},
        {"", "loose", "", IL_NAMING_NONE},
        {"a", "", "", IL_NAMING_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        il_str other = {0};
        const il_naming naming = il_policy_naming(c.policy, il_str_of(rows[i].server), il_str_of(rows[i].tool), &other);
        if (naming != rows[i].naming || (naming == IL_NAMING_LOOKALIKE && !il_str_eq(other, il_str_of(rows[i].other)))) {
            fail_msg("%s.%s: %d `%.*s`", rows[i].server, rows[i].tool, (int)naming, IL_STR_ARG(other));
        }
        assert_int_equal(il_policy_naming(c.policy, il_str_of(rows[i].server), il_str_of(rows[i].tool), NULL), naming);
    }
    policy_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookalike_pairs),
        cmocka_unit_test(lookalike_bounds),
        cmocka_unit_test(lookalike_naming),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
