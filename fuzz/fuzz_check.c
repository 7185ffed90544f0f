/* SPDX-License-Identifier: Apache-2.0 */
/* A machine document that compiles, asked everything: harden with its report in each form, the fleet, the machine against itself, diagnose.
 *
 * Asserts: each answers or says why not; no negative control ever fails, whatever the machine; a machine widens nothing against itself; a report is
 * canonical JSON that reads back to the same bytes, and its page has no element that loads or runs something. */
#include "check/diagnose.h"
#include "check/export.h"
#include "check/fleet.h"
#include "check/harden.h"
#include "check/report_page.h"
#include "check/widening.h"
#include "fuzz.h"
#include "yaml/yaml.h"

enum { FUZZ_STATES = 64, FUZZ_SYMBOLS = 64, FUZZ_WORMHOLES = 4 };

/* The status of a question about a machine that loads. */
static bool fuzz_answered(il_status s, const il_error *err) {
    FUZZ_CHECK(s == IL_OK || s == IL_E_INVALID || s == IL_E_LIMIT || s == IL_E_MEMORY);
    FUZZ_CHECK(s == IL_OK || (err->code == s && err->msg[0] != '\0'));
    return s == IL_OK;
}

static void fuzz_report(const il_harden *h, il_arena *arena) {
    il_json *object = NULL, *back = NULL;
    il_str text = {0}, again = {0}, page = {0};
    FUZZ_CHECK(h->exit == 0 || h->exit == 1 || h->exit == 2);
    FUZZ_CHECK(!h->fully_mediated || h->exit == 0);
    FUZZ_CHECK(il_harden_object(h, arena, &object, NULL) == IL_OK);
    FUZZ_CHECK(il_harden_json(object, arena, &text, NULL) == IL_OK);
    FUZZ_CHECK(il_json_parse(arena, text, NULL, &back, NULL) == IL_OK);
    FUZZ_CHECK(il_harden_json(back, arena, &again, NULL) == IL_OK && il_str_eq(text, again));
    FUZZ_CHECK(il_harden_text(h, arena, &page, NULL) == IL_OK);
    FUZZ_CHECK(il_report_page(back, IL_PAGE_MARKDOWN, arena, &page, NULL) == IL_OK);
    FUZZ_CHECK(il_report_page(back, IL_PAGE_HTML, arena, &page, NULL) == IL_OK);
    FUZZ_CHECK(il_str_find(page, IL_STR("<script"), 0) == SIZE_MAX && il_str_find(page, IL_STR("<img"), 0) == SIZE_MAX);
}

static void fuzz_harden(const il_alloc *alloc, il_arena *arena, const il_model *m, const il_space_bounds *bounds) {
    il_harden *h = IL_NEW(arena, il_harden);
    il_json *object = NULL;
    il_error err = {0};
    FUZZ_CHECK(h != NULL);
    if (fuzz_answered(il_harden_run(h, alloc, arena, m, bounds, &err), &err)) {
        FUZZ_CHECK(il_drawing_object(h, &object, NULL) == IL_OK && il_harden_join(h, "drawing", object, NULL) == IL_OK);
        FUZZ_CHECK(il_harden_conclude(h, NULL) == IL_OK);
        fuzz_report(h, arena);
    }
    il_harden_free(h);
}

static void fuzz_together(const il_alloc *alloc, il_arena *arena, const il_model *m, const il_space_bounds *bounds) {
    il_fleet_check fleet;
    il_widening w;
    il_json *object = NULL;
    il_error err = {0};
    if (m->fleet && fuzz_answered(il_fleet_run(&fleet, alloc, arena, m, bounds, &err), &err)) {
        FUZZ_CHECK(fleet.exit != 4 && il_fleet_object(&fleet, arena, &object, NULL) == IL_OK);
    }
    if (fuzz_answered(il_widening_run(&w, alloc, arena, m, m, bounds, &err), &err)) {
        FUZZ_CHECK(w.exit != 1 || m->nwidens > 0);
        FUZZ_CHECK(w.exit != 4 && il_widening_object(&w, arena, &object, NULL) == IL_OK);
    }
}

static void fuzz_diagnose(const il_alloc *alloc, il_arena *arena, const il_model *m, const il_space_bounds *bounds) {
    il_diagnose *g = IL_NEW(arena, il_diagnose);
    const il_diagnose_ask ask = {.eye = il_diagnose_eye(m), .wormholes = FUZZ_WORMHOLES};
    il_json *object = NULL;
    il_str text = {0};
    il_error err = {0};
    FUZZ_CHECK(g != NULL);
    if (fuzz_answered(il_diagnose_run(g, alloc, arena, m, &ask, bounds, &err), &err)) {
        FUZZ_CHECK(g->exit == 0 || g->exit == 1 || g->exit == 2);
        FUZZ_CHECK(il_diagnose_object(g, arena, &object, NULL) == IL_OK);
        FUZZ_CHECK(il_diagnose_text(object, arena, &text, NULL) == IL_OK);
    }
}

static void fuzz_exports(il_arena *arena, const il_model *m) {
    static const il_export_form forms[] = {IL_EXPORT_PROMELA, IL_EXPORT_SMT2, IL_EXPORT_C};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        il_str text = {0};
        il_error err = {0};
        (void)fuzz_answered(il_export_write(arena, m, forms[i], 0, &text, &err), &err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const il_alloc alloc = fuzz_alloc();
    const il_space_bounds bounds = {.states = FUZZ_STATES, .bytes = (size_t)8 << 20};
    il_arena arena;
    il_json *doc = NULL;
    il_model *m = NULL;
    il_arena_init(&arena, &alloc, (size_t)256 << 20);
    if (il_yaml_parse(&arena, (il_str){(const char *)data, size}, NULL, &doc, NULL) == IL_OK &&
        il_model_load(&arena, doc, &m, NULL) == IL_OK && m->nsymbols <= FUZZ_SYMBOLS) {
        fuzz_harden(&alloc, &arena, m, &bounds);
        fuzz_together(&alloc, &arena, m, &bounds);
        fuzz_diagnose(&alloc, &arena, m, &bounds);
        fuzz_exports(&arena, m);
    }
    il_arena_free(&arena);
    return 0;
}
