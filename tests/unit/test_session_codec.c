/* SPDX-License-Identifier: Apache-2.0 */
/* A session's bytes: the same session, the same bytes; other bytes are damaged, or a session that has exactly them. */
#include "helper_policy.h"

#include "monitor/session.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t codec_seed = 0x243f6a8885a308d3u;
static uint64_t codec_next(void) {
    codec_seed ^= codec_seed << 13;
    codec_seed ^= codec_seed >> 7;
    codec_seed ^= codec_seed << 17;
    return codec_seed;
}
static uint8_t codec_byte(unsigned below) { return (uint8_t)(codec_next() % below); }
static void codec_text(char *out, size_t cap) {
    size_t n = codec_next() % cap;
    for (size_t i = 0; i < n; i++) {
        out[i] = (char)(0x21 + codec_next() % 0x5e);
    }
}

static il_session codec_random(void) {
    il_session s;
    memset(&s, 0, sizeof s);
    s.state = codec_next();
    for (size_t i = 0; i < IL_DIGEST_BYTES; i++) {
        s.policy[i] = (uint8_t)codec_next();
        s.machine[i] = (uint8_t)codec_next();
    }
    s.begun_ms = codec_next() >> 20;
    s.seen_ms = s.begun_ms + codec_next() % 1000;
    s.next_ticket = 1000 + codec_next() % 1000;
    s.unenforced = codec_next() % 2 == 0;
    s.quarantined = codec_next() % 2 == 0;
    s.counted = codec_byte(8);
    s.flight = codec_byte(3);
    s.open = codec_byte(3);
    s.shadow = codec_byte(32);
    s.episodes = codec_next() % 2 * (codec_next() >> 30);
    for (size_t i = 0; i < IL_DIGEST_BYTES && s.episodes > 0; i++) {
        s.recalled[i] = (uint8_t)codec_next();
    }
    s.asks = codec_byte(2) * (uint16_t)codec_next();
    s.asks_ms = s.asks > 0 ? codec_next() : 0;
    codec_text(s.principal, sizeof s.principal);
    codec_text(s.parent, sizeof s.parent);
    s.ntickets = (uint32_t)(codec_next() % (IL_TICKETS_MAX + 1));
    for (uint32_t i = 0; i < s.ntickets; i++) {
        il_ticket *t = &s.tickets[i];
        t->id = i * 2 + 1;
        t->deadline_ms = codec_next();
        t->effects = codec_byte(32);
        t->raised = t->effects & codec_byte(8);
        for (size_t k = 0; k < IL_OWNER_BYTES; k++) {
            t->owner[k] = (uint8_t)codec_next();
        }
        t->flags = codec_byte(4) == 3 ? (uint8_t)IL_TICKET_SHADOW : codec_byte(3);
        codec_text(t->tool, sizeof t->tool);
    }
    for (uint32_t i = 0; i < IL_SLOTS_MAX; i++) {
        il_slot *x = &s.slots[i];
        x->state = codec_byte(3);
        if (x->state == IL_SLOT_FREE) {
            continue;
        }
        x->expires_ms = codec_next();
        x->lasts_ms = codec_next();
        x->effects = codec_byte(32);
        x->reason = (uint8_t)codec_next();
        x->rule = (uint16_t)codec_next();
        x->by[0] = (uint8_t)codec_next();
        x->binding[0] = (uint8_t)codec_next();
        x->id[0] = 'a';
        codec_text(x->tool, sizeof x->tool);
    }
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        s.witnesses[i].effect = 1u << i;
        s.witnesses[i].ticket = codec_next() % 2 * (1 + codec_next() % 900);
        if (s.witnesses[i].ticket != 0) {
            codec_text(s.witnesses[i].tool, sizeof s.witnesses[i].tool);
        }
    }
    return s;
}

static void codec_round_trip(void **state) {
    (void)state;
    static uint8_t a[IL_SESSION_STATE_MAX], b[IL_SESSION_STATE_MAX];
    print_message("seed %llx\n", (unsigned long long)codec_seed);
    for (int round = 0; round < 300; round++) {
        il_session s = codec_random(), back;
        size_t n = 0, m = 0;
        il_error err = {0};
        assert_int_equal(il_session_encode(&s, a, sizeof a, &n, &err), IL_OK);
        if (il_session_decode(a, n, &back, &err) != IL_OK) {
            fail_msg("round %d: %s", round, err.msg);
        }
        assert_int_equal(il_session_encode(&back, b, sizeof b, &m, &err), IL_OK);
        assert_int_equal(n, m);
        assert_memory_equal(a, b, n);
        assert_int_equal(back.state, s.state);
        assert_int_equal(back.ntickets, s.ntickets);
        assert_string_equal(back.principal, s.principal);
        /* every shorter text, and one byte more */
        for (size_t cut = 0; cut < n; cut += 1 + codec_next() % 7) {
            assert_int_equal(il_session_decode(a, cut, &back, &err), IL_E_DAMAGED);
        }
        a[n] = 0;
        assert_int_equal(il_session_decode(a, n + 1, &back, &err), IL_E_DAMAGED);
        /* a changed byte is refused, or says something else that has one form only */
        for (int k = 0; k < 200; k++) {
            size_t at = codec_next() % n;
            uint8_t was = a[at];
            a[at] ^= (uint8_t)(1u << codec_next() % 8);
            if (il_session_decode(a, n, &back, &err) == IL_OK) {
                assert_int_equal(il_session_encode(&back, b, sizeof b, &m, &err), IL_OK);
                assert_int_equal(n, m);
                assert_memory_equal(a, b, n);
            }
            a[at] = was;
        }
    }
}

static void codec_versions(void **state) {
    (void)state;
    uint8_t a[IL_SESSION_STATE_MAX];
    il_session s = codec_random(), back;
    size_t n = 0;
    il_error err = {0};
    assert_int_equal(il_session_encode(&s, a, sizeof a, &n, &err), IL_OK);
    a[3]++;
    assert_int_equal(il_session_decode(a, n, &back, &err), IL_E_VERSION);
    a[3] = 0;
    assert_int_equal(il_session_decode(a, n, &back, &err), IL_E_DAMAGED);
    a[0] = 'X';
    assert_int_equal(il_session_decode(a, n, &back, &err), IL_E_DAMAGED);
    assert_int_equal(il_session_decode(a, 0, &back, &err), IL_E_DAMAGED);
}

/* What the build before owners wrote, kept for ever: it is read, and written anew as the present layout. */
static const char codec_version_1[] =
    "494c5301a502000000000000000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1ffffefdfcfbfa"
    "f9f8f7f6f5f4f3f2f1f0efeeedecebeae9e8e7e6e5e4e3e2e1e00068e5cf8b010000404ae7cf8b0100000900000000000000"
    "0103020108087569643a3130303006726f6f742d31020500000000000000c08feecf8b010000010100097765622e66657463"
    "6808000000000000000072f0cf8b010000080001096d61696c2e73656e6403016016f0cf8b010000c0270900000000000c61"
    "2d3031323334353637383900070e151c232a31383f464d545b626970777e858c939aa1a8afb6bdc4cbd2d9096d61696c2e73"
    "656e640804000500000000000000097765622e666574636802000000000000000a66696c65732e7265616400000000000000"
    "00070000000000000009646f632e73686172650000000000000000";

/* What the build before episodes wrote: the same session, with the first call's owner. */
static const char codec_version_2[] =
    "494c5302a502000000000000000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1ffffefdfcfbfa"
    "f9f8f7f6f5f4f3f2f1f0efeeedecebeae9e8e7e6e5e4e3e2e1e00068e5cf8b010000404ae7cf8b0100000900000000000000"
    "0103020108087569643a3130303006726f6f742d31020500000000000000c08feecf8b010000010100a0a1a2a3a4a5a6a7a8"
    "a9aaabacadaeaf097765622e666574636808000000000000000072f0cf8b0100000800010000000000000000000000000000"
    "0000096d61696c2e73656e6403016016f0cf8b010000c0270900000000000c612d3031323334353637383900070e151c232a"
    "31383f464d545b626970777e858c939aa1a8afb6bdc4cbd2d9096d61696c2e73656e64080400050000000000000009776562"
    "2e666574636802000000000000000a66696c65732e726561640000000000000000070000000000000009646f632e73686172"
    "650000000000000000";

static size_t codec_unhex(const char *hex, uint8_t *out) {
    size_t n = 0;
    for (; hex[2 * n] != '\0'; n++) {
        unsigned v = 0;
        assert_int_equal(sscanf(hex + 2 * n, "%2x", &v), 1);
        out[n] = (uint8_t)v;
    }
    return n;
}

static void codec_reads_version_1(void **state) {
    (void)state;
    static const uint8_t nobody[IL_OWNER_BYTES];
    static uint8_t a[IL_SESSION_STATE_MAX], b[IL_SESSION_STATE_MAX];
    il_session s, again;
    il_error err = {0};
    size_t n = codec_unhex(codec_version_1, a), m = 0;
    assert_int_equal(il_session_decode(a, n, &s, &err), IL_OK);
    assert_int_equal(s.state, 0x2a5);
    assert_int_equal(s.next_ticket, 9);
    assert_true(s.unenforced && !s.quarantined);
    assert_true(s.counted == 3 && s.flight == 2 && s.open == 1 && s.shadow == 8);
    assert_string_equal(s.principal, "uid:1000");
    assert_string_equal(s.parent, "root-1");
    assert_int_equal(s.ntickets, 2);
    assert_true(s.tickets[0].id == 5 && s.tickets[0].deadline_ms == UINT64_C(1700000600000) && s.tickets[0].raised == 1);
    assert_true(s.tickets[1].id == 8 && s.tickets[1].flags == IL_TICKET_ONCE && s.tickets[1].effects == 8);
    assert_string_equal(s.tickets[1].tool, "mail.send");
    assert_memory_equal(s.tickets[0].owner, nobody, sizeof nobody);
    assert_memory_equal(s.tickets[1].owner, nobody, sizeof nobody);
    assert_true(s.slots[2].state == IL_SLOT_ASKED && s.slots[2].reason == 4 && s.slots[2].binding[31] == 217);
    assert_string_equal(s.slots[2].id, "a-0123456789");
    assert_true(s.witnesses[1].ticket == 2 && s.witnesses[2].ticket == 0 && s.witnesses[3].ticket == 7);
    assert_string_equal(s.witnesses[3].tool, "doc.share");
    assert_int_equal(il_session_encode(&s, b, sizeof b, &m, &err), IL_OK);
    assert_int_equal(b[3], 3);
    assert_int_equal(m, n + 2 * IL_OWNER_BYTES + 8 + 2 +
                            18); /* owners; episodes; what was asked for; the slot's rule and who granted */
    assert_int_equal(il_session_decode(b, m, &again, &err), IL_OK);
    assert_memory_equal(again.tickets, s.tickets, 2 * sizeof s.tickets[0]);
    assert_memory_equal(&again, &s, offsetof(il_session, tickets));
    for (size_t cut = 0; cut < n; cut++) {
        assert_int_equal(il_session_decode(a, cut, &s, &err), IL_E_DAMAGED);
    }
    a[n] = 0;
    assert_int_equal(il_session_decode(a, n + 1, &s, &err), IL_E_DAMAGED);
    /* the control: the same bytes under the other version's name are neither */
    a[3] = 2;
    assert_int_equal(il_session_decode(a, n, &s, &err), IL_E_DAMAGED);
    b[3] = 1;
    assert_int_equal(il_session_decode(b, m, &s, &err), IL_E_DAMAGED);
}

/* The largest session fits; one that does not is refused, not cut. */
static void codec_reads_version_2(void **state) {
    (void)state;
    static uint8_t a[IL_SESSION_STATE_MAX], b[IL_SESSION_STATE_MAX];
    il_session s, again;
    il_error err = {0};
    size_t n = codec_unhex(codec_version_2, a), m = 0;
    assert_int_equal(il_session_decode(a, n, &s, &err), IL_OK);
    assert_int_equal(s.state, 0x2a5);
    assert_int_equal(s.episodes, 0);
    assert_int_equal(s.tickets[0].owner[15], 0xaf);
    assert_string_equal(s.witnesses[3].tool, "doc.share");
    assert_int_equal(il_session_encode(&s, b, sizeof b, &m, &err), IL_OK);
    assert_int_equal(b[3], 3);
    assert_int_equal(m, n + 8 + 2 + 18);
    assert_int_equal(il_session_decode(b, m, &again, &err), IL_OK);
    assert_memory_equal(&again, &s, offsetof(il_session, tickets));
    for (size_t cut = 0; cut < n; cut++) {
        assert_int_equal(il_session_decode(a, cut, &s, &err), IL_E_DAMAGED);
    }
    /* the control: the bytes of one layout are none of the other's */
    a[3] = 3;
    assert_int_equal(il_session_decode(a, n, &s, &err), IL_E_DAMAGED);
    b[3] = 2;
    assert_int_equal(il_session_decode(b, m, &s, &err), IL_E_DAMAGED);
}

static void codec_limits(void **state) {
    (void)state;
    uint8_t a[IL_SESSION_STATE_MAX];
    il_session s;
    size_t n = 0;
    il_error err = {0};
    memset(&s, 0, sizeof s);
    s.next_ticket = 100;
    s.ntickets = IL_TICKETS_MAX;
    for (uint32_t i = 0; i < IL_TICKETS_MAX; i++) {
        s.tickets[i].id = i + 1;
        memset(s.tickets[i].tool, 'x', sizeof s.tickets[i].tool - 1);
    }
    for (uint32_t i = 0; i < IL_SLOTS_MAX; i++) {
        s.slots[i].state = IL_SLOT_ASKED;
        memset(s.slots[i].id, 'x', sizeof s.slots[i].id - 1);
        memset(s.slots[i].tool, 'x', sizeof s.slots[i].tool - 1);
    }
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        s.witnesses[i].ticket = 1;
        memset(s.witnesses[i].tool, 'x', sizeof s.witnesses[i].tool - 1);
    }
    memset(s.principal, 'x', sizeof s.principal - 1);
    memset(s.parent, 'x', sizeof s.parent - 1);
    assert_int_equal(il_session_encode(&s, a, sizeof a, &n, &err), IL_OK);
    assert_true(n < IL_SESSION_STATE_MAX);
    assert_int_equal(il_session_encode(&s, a, n - 1, &n, &err), IL_E_LIMIT);
    s.principal[sizeof s.principal - 1] = 'x';
    assert_int_equal(il_session_encode(&s, a, sizeof a, &n, &err), IL_E_LIMIT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(codec_round_trip), cmocka_unit_test(codec_versions),
                                       cmocka_unit_test(codec_reads_version_1), cmocka_unit_test(codec_reads_version_2),
                                       cmocka_unit_test(codec_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
