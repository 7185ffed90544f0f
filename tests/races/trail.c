/* SPDX-License-Identifier: Apache-2.0 */
#include "trail.h"

#include <stdlib.h>
#include <string.h>

static bool trail_add(void *ctx, const il_ledger_row *row) {
    trail *t = ctx;
    if (t->n == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 4096;
        t->rows = realloc(t->rows, t->cap * sizeof *t->rows);
        RACES_MUST(t->rows);
    }
    trail_row *r = &t->rows[t->n++];
    char *copy = malloc(row->kind.n + row->body.n + 2);
    RACES_MUST(copy);
    memcpy(copy, row->kind.p, row->kind.n);
    copy[row->kind.n] = '\0';
    memcpy(copy + row->kind.n + 1, row->body.p, row->body.n);
    copy[row->kind.n + 1 + row->body.n] = '\0';
    *r = (trail_row){.seq = row->seq,
                     .time_ms = row->time_ms,
                     .ticket = row->ticket,
                     .session = races_session_number(row->key),
                     .kind = {copy, row->kind.n},
                     .text = {copy + row->kind.n + 1, row->body.n}};
    if (r->session != UINT32_MAX && r->session >= t->sessions) {
        t->sessions = r->session + 1;
    }
    return true;
}

void trail_read(trail *t, il_ledger *l) {
    il_error err = {0};
    *t = (trail){0};
    RACES_MUST(il_ledger_rows(l, (il_str){"", 0}, trail_add, t, &err) == IL_OK);
    for (size_t i = 0; i < t->n; i++) { /* not under the ledger's lock */
        t->rows[i].doc = races_json(t->rows[i].text.p);
        t->rows[i].body = il_json_doc_root(t->rows[i].doc);
    }
}

void trail_free(trail *t) {
    for (size_t i = 0; i < t->n; i++) {
        char *copy = NULL;
        memcpy(&copy, &t->rows[i].kind.p, sizeof copy);
        free(copy);
        il_json_doc_free(t->rows[i].doc);
    }
    free(t->rows);
}

il_str trail_text(const trail_row *r, const char *key) { return il_json_text(il_json_get(r->body, (il_str){key, strlen(key)})); }
bool trail_true(const trail_row *r, const char *key) { return il_json_bool(il_json_get(r->body, (il_str){key, strlen(key)})); }
bool trail_is(const trail_row *r, const char *kind) {
    return r->kind.n == strlen(kind) && memcmp(r->kind.p, kind, r->kind.n) == 0;
}

static void trail_finding(void *ctx, const il_ledger_finding *f) {
    size_t *n = ctx;
    if ((*n)++ < 5) {
        (void)fprintf(stderr, "  whole: row %llu, session %.*s: %s\n", (unsigned long long)f->row, (int)f->session.n,
                      f->session.p, f->message);
    }
}

size_t trail_check_whole(const trail *t, il_ledger *l) {
    size_t faults = 0;
    il_error err = {0};
    il_ledger_report report = IL_LEDGER_REPORT_INIT;
    RACES_MUST(il_ledger_verify(l, trail_finding, &faults, &report, &err) == IL_OK);
    RACES_MUST(report.findings == faults);
    faults += report.rows != t->n;
    printf("  whole: %llu rows, %llu sessions; %zu faults\n", (unsigned long long)report.rows,
           (unsigned long long)report.sessions, faults);
    return faults;
}
