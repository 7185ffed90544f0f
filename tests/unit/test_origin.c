/* SPDX-License-Identifier: Apache-2.0 */
/* Labels: they only grow, no source is untrusted, trust is asked late, an endorsement is of exact bytes. */
#include "helper_json.h"
#include "helper_memory.h"

#include "base/hmac.h"
#include "base/str.h"
#include "provenance/origin.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static test_memory origin_memory;
static const il_alloc *origin_alloc(void) { return &origin_memory.alloc; }

static int origin_setup(void **state) {
    (void)state;
    test_memory_init(&origin_memory, SIZE_MAX);
    return 0;
}
/* Whatever a test did: all of it was given back. */
static int origin_teardown(void **state) {
    (void)state;
    return origin_memory.live == 0 ? 0 : -1;
}

static il_origin *origin_of(const char *source, const char *agent) {
    il_origin *o = NULL;
    assert_int_equal(il_origin_new(origin_alloc(), il_str_of(source), il_str_of(agent), &o, NULL), IL_OK);
    return o;
}
static il_origin *origin_merged(const il_origin *a, const il_origin *b) {
    const il_origin *list[] = {a, b};
    il_origin *o = NULL;
    assert_int_equal(il_origin_merge(origin_alloc(), list, 2, &o, NULL), IL_OK);
    return o;
}
static il_origin *origin_derived(const char *hop, const il_origin *const *from, size_t n) {
    il_origin *o = NULL;
    assert_int_equal(il_origin_derive(origin_alloc(), il_str_of(hop), IL_STR("bo"), from, n, &o, NULL), IL_OK);
    return o;
}

static bool origin_trusts(const void *ctx, il_str source) {
    const char *const *names = ctx;
    for (; *names != NULL; names++) {
        if (il_str_eq(il_str_of(*names), source)) {
            return true;
        }
    }
    return false;
}
static il_trust origin_trust(const il_origin *o, const char *const *names) {
    const il_trust_table table = {.size = sizeof table, .ctx = names, .trusts = origin_trusts};
    return il_origin_trust(o, &table);
}
static const char *const KB[] = {"kb", NULL}, *const BOTH[] = {"kb", "web", NULL},
                         *const ALL[] = {"kb", "web", "model", "unknown", NULL};

static bool origin_has(const il_origin *o, il_str name) {
    for (size_t i = 0; i < il_origin_sources(o); i++) {
        if (il_str_eq(il_origin_lineage(o, i), name)) {
            return true;
        }
    }
    return false;
}

/* ---- hmac -------------------------------------------------------------------------------------------------- */

/* RFC 4231, test cases 1, 2, 6 and 7: a short key, a shorter one, and two longer than a block. */
static void test_hmac(void **state) {
    char key[131], hex[IL_DIGEST_HEX];
    uint8_t mac[IL_DIGEST_BYTES];
    (void)state;
    memset(key, 0x0b, 20);
    il_hmac_of((il_str){key, 20}, IL_STR("Hi There"), NULL, mac);
    il_digest_hex(mac, hex);
    assert_string_equal(hex, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    il_hmac_of(IL_STR("Jefe"), IL_STR("what do ya want for nothing?"), NULL, mac);
    il_digest_hex(mac, hex);
    assert_string_equal(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    il_hmac_of((il_str){key, sizeof key}, IL_STR("Test Using Larger Than Block-Size Key - Hash Key First"), NULL, mac);
    il_digest_hex(mac, hex);
    assert_string_equal(hex, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    il_hmac_of((il_str){key, sizeof key},
               IL_STR("This is a test using a larger than block-size key and a larger than block-size data. The key needs to be "
                      "hashed before "
                      "being used by the HMAC algorithm."),
               NULL, mac);
    il_digest_hex(mac, hex);
    assert_string_equal(hex, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

/* ---- labels ------------------------------------------------------------------------------------------------ */

static void test_fresh(void **state) {
    (void)state;
    il_origin *o = origin_of("web", "ana");
    assert_true(il_str_eq(il_origin_source(o), IL_STR("web")));
    assert_int_equal(il_origin_sources(o), 1);
    assert_true(il_str_eq(il_origin_lineage(o, 0), IL_STR("web")) && il_origin_lineage(o, 1).n == 0);
    assert_int_equal(il_origin_agents(o), 1);
    assert_true(il_str_eq(il_origin_agent(o, 0), IL_STR("ana")));
    assert_false(il_origin_more(o));
    il_origin_free(o);
    o = origin_of("web", "");
    assert_int_equal(il_origin_agents(o), 0);
    il_origin_free(o);
    il_origin_free(NULL);
}

/* Nothing about trust is kept: the same label is what the table of the moment says. */
static void test_late_trust(void **state) {
    (void)state;
    il_origin *kb = origin_of("kb", "ana"), *web = origin_of("web", "ana"), *both = origin_merged(kb, web);
    assert_int_equal(origin_trust(kb, KB), IL_TRUST_TRUSTED);
    assert_int_equal(origin_trust(web, KB), IL_TRUST_UNTRUSTED);
    assert_int_equal(origin_trust(both, KB), IL_TRUST_UNTRUSTED);
    assert_int_equal(origin_trust(both, BOTH), IL_TRUST_TRUSTED);
    assert_int_equal(il_origin_trust(kb, NULL), IL_TRUST_UNTRUSTED);
    assert_int_equal(origin_trust(NULL, ALL), IL_TRUST_UNTRUSTED);
    const il_trust_table small = {.ctx = KB, .trusts = origin_trusts};
    assert_int_equal(il_origin_trust(kb, &small), IL_TRUST_UNTRUSTED);
    il_origin_free(kb);
    il_origin_free(web);
    il_origin_free(both);
}

/* No source at all is untrusted, whatever the table says; so is what could not be looked into. */
static void test_empty_lineage(void **state) {
    (void)state;
    il_origin *o = NULL;
    assert_int_equal(il_origin_unknown(origin_alloc(), &o, NULL), IL_OK);
    assert_int_equal(il_origin_sources(o), 0);
    assert_true(il_origin_more(o));
    assert_int_equal(origin_trust(o, ALL), IL_TRUST_UNTRUSTED);
    il_origin *kb = origin_of("kb", ""), *both = origin_merged(kb, o);
    assert_int_equal(origin_trust(both, ALL), IL_TRUST_UNTRUSTED);
    il_origin_free(both);
    both = origin_merged(o, kb);
    assert_int_equal(origin_trust(both, ALL), IL_TRUST_UNTRUSTED);
    il_origin_free(both);
    il_origin_free(kb);
    il_origin_free(o);
    assert_int_equal(il_origin_merge(origin_alloc(), NULL, 0, &o, NULL), IL_E_ARGUMENT);
    assert_int_equal(il_origin_merge(origin_alloc(), (const il_origin *[]){NULL}, 1, &o, NULL), IL_E_ARGUMENT);
    assert_null(o);
}

/* A second label adds. */
static void test_second_label(void **state) {
    (void)state;
    il_origin *web = origin_of("web", "ana"), *kb = origin_of("kb", "bo"), *both = origin_merged(web, kb),
              *again = origin_merged(both, kb);
    assert_true(il_str_eq(il_origin_source(both), IL_STR("web")));
    assert_int_equal(il_origin_sources(again), 2);
    assert_true(il_str_eq(il_origin_lineage(again, 0), IL_STR("web")) && il_str_eq(il_origin_lineage(again, 1), IL_STR("kb")));
    assert_int_equal(il_origin_agents(again), 2);
    assert_int_equal(origin_trust(again, KB), IL_TRUST_UNTRUSTED);
    il_origin_free(web);
    il_origin_free(kb);
    il_origin_free(both);
    il_origin_free(again);
}

/* Nothing to derive from, or something without a label in it, is a source of its own and never trusted; both spellings mean the same. */
static void test_derived(void **state) {
    (void)state;
    il_origin *kb = origin_of("kb", "ana");
    const il_origin *one[] = {kb}, *gap[] = {kb, NULL};
    il_origin *d = origin_derived("model", one, 1);
    assert_true(il_str_eq(il_origin_source(d), IL_STR("model")));
    assert_false(origin_has(d, IL_STR("model")));
    assert_true(origin_has(d, IL_STR("kb")));
    assert_int_equal(il_origin_agents(d), 2);
    assert_int_equal(origin_trust(d, KB), IL_TRUST_TRUSTED);
    il_origin_free(d);
    const il_origin *const *none[] = {NULL, one};
    for (size_t i = 0; i < 2; i++) {
        d = origin_derived("model", none[i], 0);
        assert_true(origin_has(d, IL_STR("model")));
        assert_int_equal(il_origin_sources(d), 1);
        assert_int_equal(origin_trust(d, ALL), IL_TRUST_UNTRUSTED);
        il_origin_free(d);
    }
    d = origin_derived("model", gap, 2);
    assert_true(origin_has(d, IL_STR("kb")) && origin_has(d, IL_STR("model")));
    assert_int_equal(origin_trust(d, ALL), IL_TRUST_UNTRUSTED);
    il_origin_free(d);
    d = NULL;
    assert_int_equal(il_origin_derive(origin_alloc(), IL_STR("model"), IL_STR(""), NULL, 1, &d, NULL), IL_E_ARGUMENT);
    il_origin_free(kb);
}

/* ---- endorsements -------------------------------------------------------------------------------------------- */

static il_endorsement endorsement_of(const char *kind, const char *by, const char *value) {
    il_endorsement e = {.size = sizeof e, .kind = il_str_of(kind), .by = il_str_of(by)};
    const il_json text = {.kind = IL_JSON_STRING, .text = il_str_of(value)};
    assert_int_equal(il_value_digest(&text, e.digest, NULL), IL_OK);
    return e;
}
static il_origin *origin_endorsed(const il_origin *o, const il_endorsement *e) {
    il_origin *out = NULL;
    assert_int_equal(il_origin_endorse(origin_alloc(), o, e, &out, NULL), IL_OK);
    return out;
}

/* The word is for these bytes: `bob@x` is endorsed, `bob@x,evil@x` with the same label is not. It is no trust. */
static void test_endorsed_value(void **state) {
    (void)state;
    il_origin *web = origin_of("web", "ana");
    const il_endorsement e = endorsement_of("legal", "grace", "bob@x"), longer = endorsement_of("legal", "grace", "bob@x,evil@x");
    il_origin *o = origin_endorsed(web, &e), *twice = origin_endorsed(o, &e);
    assert_true(il_origin_endorsed(o, IL_STR("legal"), e.digest));
    assert_false(il_origin_endorsed(o, IL_STR("legal"), longer.digest));
    assert_false(il_origin_endorsed(o, IL_STR("spelling"), e.digest));
    assert_false(il_origin_endorsed(web, IL_STR("legal"), e.digest));
    assert_int_equal(il_origin_endorsements(twice), 1);
    assert_true(il_str_eq(il_origin_endorsement(twice, 0).by, IL_STR("grace")));
    assert_int_equal(origin_trust(o, KB), IL_TRUST_UNTRUSTED);
    assert_int_equal(il_origin_sources(o), 1);
    il_origin_free(twice);
    /* what is derived is new bytes; what is merged keeps what all have */
    const il_origin *list[] = {o};
    il_origin *d = origin_derived("model", list, 1);
    assert_int_equal(il_origin_endorsements(d), 0);
    il_origin_free(d);
    il_origin *m = origin_merged(o, web);
    assert_int_equal(il_origin_endorsements(m), 0);
    il_origin_free(m);
    m = origin_merged(o, o);
    assert_int_equal(il_origin_endorsements(m), 1);
    il_origin_free(m);
    il_origin_free(o);
    il_origin_free(web);
}

static void test_bad_endorsements(void **state) {
    (void)state;
    il_origin *o = origin_of("web", ""), *out = NULL;
    /* no end of line passes */
    static const char *const kinds[] = {"", "le gal", "legal\n", "legal:1", "l\xc3\xa9gal"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const il_endorsement e = endorsement_of(kinds[i], "grace", "x");
        assert_int_equal(il_origin_endorse(origin_alloc(), o, &e, &out, NULL), IL_E_INVALID);
        assert_null(out);
    }
    il_endorsement e = endorsement_of("legal", "", "x");
    assert_int_equal(il_origin_endorse(origin_alloc(), o, &e, &out, NULL), IL_E_INVALID);
    e.size = 0;
    assert_int_equal(il_origin_endorse(origin_alloc(), o, &e, &out, NULL), IL_E_ARGUMENT);
    assert_int_equal(il_origin_endorse(origin_alloc(), o, NULL, &out, NULL), IL_E_ARGUMENT);
    e = endorsement_of("legal", "grace", "x");
    assert_int_equal(il_origin_endorse(origin_alloc(), NULL, &e, &out, NULL), IL_E_ARGUMENT);
    for (uint32_t i = 0; i < IL_ORIGIN_ENDORSEMENTS; i++) {
        e.digest[0] = (uint8_t)i;
        il_origin *next = origin_endorsed(o, &e);
        il_origin_free(o);
        o = next;
    }
    e.digest[0] = 200;
    assert_int_equal(il_origin_endorse(origin_alloc(), o, &e, &out, NULL), IL_E_LIMIT);
    il_origin_free(o);
}

static void test_bad_names(void **state) {
    (void)state;
    char longer[IL_ORIGIN_NAME_BYTES + 1];
    memset(longer, 'x', sizeof longer);
    const il_str bad[] = {{"", 0}, {"a\nb", 3}, {"a\0b", 3}, {"\xff", 1}, {"\xed\xa0\x80", 3}, {"\x7f", 1}};
    il_origin *o = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(il_origin_new(origin_alloc(), bad[i], IL_STR(""), &o, NULL), IL_E_INVALID);
    }
    assert_int_equal(il_origin_new(origin_alloc(), (il_str){longer, sizeof longer}, IL_STR(""), &o, NULL), IL_E_LIMIT);
    assert_int_equal(il_origin_new(origin_alloc(), IL_STR("web"), IL_STR("a\nb"), &o, NULL), IL_E_INVALID);
    assert_int_equal(il_origin_new(NULL, IL_STR("web"), IL_STR(""), &o, NULL), IL_E_ARGUMENT);
    assert_null(o);
}

/* A value of more sources than are named is still a label: an untrusted one. */
static void test_many_sources(void **state) {
    char name[32];
    (void)state;
    il_origin *all = origin_of("s0", "a");
    for (uint32_t i = 1; i <= IL_ORIGIN_NAMES; i++) {
        (void)snprintf(name, sizeof name, "s%u", i);
        il_origin *one = origin_of(name, "a"), *next = origin_merged(all, one);
        assert_int_equal(il_origin_more(next), i == IL_ORIGIN_NAMES);
        il_origin_free(one);
        il_origin_free(all);
        all = next;
    }
    assert_int_equal(il_origin_sources(all), IL_ORIGIN_NAMES);
    il_origin *again = origin_merged(all, all);
    assert_true(il_origin_more(again));
    assert_int_equal(il_origin_sources(again), IL_ORIGIN_NAMES);
    il_origin_free(again);
    il_origin_free(all);
}

/* ---- any sequence of operations -------------------------------------------------------------------------------- */

enum { POOL = 12 };

/* Whether `to` says at least what `from` says. */
static bool origin_grew(const il_origin *from, const il_origin *to) {
    bool grew = !il_origin_more(from) || il_origin_more(to);
    for (size_t i = 0; i < il_origin_sources(from) && grew; i++) {
        grew = origin_has(to, il_origin_lineage(from, i));
    }
    return grew;
}

static bool origin_spoiled; /* the control: a step that forgets */

static il_origin *origin_step(test_random *r, il_origin *const pool[POOL], uint32_t *a, uint32_t *b, bool *endorses) {
    static const char *const names[] = {"kb", "web", "mail", "model", "x y", "\xc3\xa9"};
    static const char *const values[] = {"v1", "v2"};
    *a = test_random_below(r, POOL);
    *b = test_random_below(r, POOL);
    *endorses = false;
    const il_origin *two[] = {pool[*a], pool[*b]};
    il_origin *out = NULL;
    if (origin_spoiled) {
        return origin_of("kb", "ana");
    }
    switch (test_random_below(r, 3)) {
    case 0:
        return origin_merged(pool[*a], pool[*b]);
    case 1:
        assert_int_equal(
            il_origin_derive(origin_alloc(), il_str_of(names[test_random_below(r, 6)]), IL_STR(""), two, 2, &out, NULL), IL_OK);
        return out;
    default: {
        const il_endorsement e = endorsement_of("legal", "grace", values[test_random_below(r, 2)]);
        *b = *a;
        *endorses = true;
        return origin_endorsed(pool[*a], &e);
    }
    }
}

/* How many steps of a sequence lost a name, made an endorsement that nobody gave, or turned an untrusted input into a trusted value. */
static unsigned origin_losses(test_random *r, unsigned steps) {
    static const char *const names[] = {"kb", "web", "mail", "model", "x y", "\xc3\xa9"};
    il_origin *pool[POOL];
    unsigned losses = 0;
    for (uint32_t i = 0; i < POOL; i++) {
        pool[i] = origin_of(names[i % 6], "ana");
        if (i == 7) {
            il_origin_free(pool[i]);
            assert_int_equal(il_origin_unknown(origin_alloc(), &pool[i], NULL), IL_OK);
        }
    }
    for (unsigned n = 0; n < steps; n++) {
        uint32_t a, b;
        bool endorses;
        il_origin *next = origin_step(r, pool, &a, &b, &endorses);
        bool good = origin_grew(pool[a], next) && origin_grew(pool[b], next);
        for (unsigned mask = 0; mask < 64 && good; mask++) { /* under each table of trust */
            const char *table[7] = {NULL};
            for (unsigned k = 0, m = 0; k < 6; k++) {
                if ((mask & 1u << k) != 0) {
                    table[m++] = names[k];
                }
            }
            good = origin_trust(next, table) == IL_TRUST_UNTRUSTED ||
                   (origin_trust(pool[a], table) == IL_TRUST_TRUSTED && origin_trust(pool[b], table) == IL_TRUST_TRUSTED);
        }
        for (size_t i = 0; i < il_origin_endorsements(next) && good && !endorses; i++) {
            const il_endorsement e = il_origin_endorsement(next, i);
            good = il_origin_endorsed(pool[a], e.kind, e.digest) && il_origin_endorsed(pool[b], e.kind, e.digest);
        }
        losses += good ? 0 : 1;
        const uint32_t at = test_random_below(r, POOL);
        il_origin_free(pool[at]);
        pool[at] = next;
    }
    for (uint32_t i = 0; i < POOL; i++) {
        il_origin_free(pool[i]);
    }
    return losses;
}

static void test_only_grow(void **state) {
    (void)state;
    test_random r = {test_random_seed("labels only grow")};
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(origin_losses(&r, 200), 0);
    }
    origin_spoiled = true;
    const unsigned lost = origin_losses(&r, 200);
    origin_spoiled = false;
    assert_true(lost > 3); /* until all that is left has the same name */
}

/* Each allocation fails once: an error, nothing made, nothing kept. */
static void test_no_memory(void **state) {
    (void)state;
    il_origin *a = origin_of("web", "ana"), *b = origin_of("kb", "bo");
    const il_origin *list[] = {a, b};
    const il_endorsement e = endorsement_of("legal", "grace", "x");
    for (unsigned what = 0; what < 5; what++) {
        il_status s = IL_E_MEMORY;
        for (size_t left = 0; s == IL_E_MEMORY; left++) {
            const size_t live = origin_memory.live;
            il_origin *o = NULL;
            origin_memory.left = left;
            s = what == 0   ? il_origin_new(origin_alloc(), IL_STR("w"), IL_STR("a"), &o, NULL)
                : what == 1 ? il_origin_merge(origin_alloc(), list, 2, &o, NULL)
                : what == 2 ? il_origin_derive(origin_alloc(), IL_STR("m"), IL_STR("a"), list, 2, &o, NULL)
                : what == 3 ? il_origin_endorse(origin_alloc(), a, &e, &o, NULL)
                            : il_origin_unknown(origin_alloc(), &o, NULL);
            origin_memory.left = SIZE_MAX;
            assert_true(s == IL_OK || (s == IL_E_MEMORY && o == NULL && origin_memory.live == live));
            il_origin_free(o);
            assert_true(left < 20);
        }
        assert_int_equal(s, IL_OK);
    }
    il_origin_free(a);
    il_origin_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define ORIGIN_TEST(f) cmocka_unit_test_setup_teardown(f, origin_setup, origin_teardown)
        ORIGIN_TEST(test_hmac),           ORIGIN_TEST(test_fresh),
        ORIGIN_TEST(test_late_trust),     ORIGIN_TEST(test_empty_lineage),
        ORIGIN_TEST(test_second_label),   ORIGIN_TEST(test_derived),
        ORIGIN_TEST(test_endorsed_value), ORIGIN_TEST(test_bad_endorsements),
        ORIGIN_TEST(test_bad_names),      ORIGIN_TEST(test_many_sources),
        ORIGIN_TEST(test_only_grow),      ORIGIN_TEST(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
