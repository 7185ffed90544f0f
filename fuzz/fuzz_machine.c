/* SPDX-License-Identifier: Apache-2.0 */
/* Machines from anywhere. The first byte chooses: `T` a table as it would stand in a file, its certificate behind it; `S` a description and
 * numbers that are laid out and sealed here, so that no hash is in the way; anything else is a machine document from that byte on.
 *
 * Asserts: a document is refused with a position, or loads; what it compiles to is the same bytes twice, opens, and steps as the guards do;
 * whatever opens is closed under its step, finds its own names, and rejects what is not its own; a certificate that claims less, or counts
 * differently, opens nothing. */
#include "machine/machine_impl.h"
#include "machine/table.h"
#include "tree.h"
#include "yaml/yaml.h"

enum { FUZZ_STATES = 200, FUZZ_CELLS = 4000 };

static void fuzz_rejects(il_step s, uint64_t state) { FUZZ_CHECK(s.verdict == IL_REJECT && s.next == state && s.reason != 0); }

/* A state of the table: all that it is asked, and every step stays in the table. Answers how many steps are accepted. */
static uint64_t fuzz_row(const il_machine *m, uint32_t row) {
    const uint64_t state = il_machine_state(m, row);
    const uint32_t symbols = il_machine_symbols(m);
    uint64_t accepted = 0;
    for (uint32_t v = 0; v < il_machine_vars(m); v++) {
        FUZZ_CHECK(il_machine_value_name(m, v, il_machine_value(m, state, v)).p != NULL);
    }
    for (uint32_t s = 0; s < symbols; s++) {
        const il_step step = il_machine_step(m, state, s);
        if (step.verdict == IL_ACCEPT) {
            /* a state of the table gives the table's own answer to a symbol that there is not */
            FUZZ_CHECK(step.reason == 0 && il_machine_step(m, step.next, symbols).reason == IL_REASON_NO_SYMBOL);
            accepted++;
        } else {
            fuzz_rejects(step, state);
            FUZZ_CHECK(step.reason < IL_REASON_NO_SYMBOL && il_machine_reason(m, step.reason).p != NULL);
        }
    }
    fuzz_rejects(il_machine_step(m, state, symbols), state);
    fuzz_rejects(il_machine_step(m, state, IL_NO_SYMBOL), state);
    FUZZ_CHECK(row == 0 || il_machine_state(m, row - 1) < state);
    if (row == 0 || il_machine_state(m, row - 1) + 1 < state) {
        FUZZ_CHECK(state == 0 || il_machine_step(m, state - 1, 0).reason == IL_REASON_OFF_TABLE);
    }
    return accepted;
}

/* Names find what they are the names of. */
static void fuzz_names(const il_machine *m) {
    for (uint32_t v = 0; v < il_machine_vars(m); v++) {
        FUZZ_CHECK(il_machine_var_find(m, il_machine_var_name(m, v)) == v);
    }
    for (uint32_t a = 0; a < m->nactions; a++) {
        const il_machine_action *action = &m->actions[a];
        for (uint32_t k = 0; k < action->nsymbols && k < 64; k++) {
            il_payload payload[IL_MODEL_FIELDS_MAX];
            for (uint32_t f = 0; f < action->nfields; f++) {
                const il_machine_field *field = &action->fields[f];
                payload[f] = (il_payload){field->name, field->values[k / field->stride % field->nvalues]};
            }
            FUZZ_CHECK(il_machine_action_symbol(m, action->name, payload, action->nfields) == action->first + k);
            FUZZ_CHECK(action->nfields == 0 ||
                       il_machine_action_symbol(m, action->name, payload, action->nfields - 1) == IL_NO_SYMBOL);
        }
    }
    char text[64];
    for (uint32_t s = 0; s <= il_machine_symbols(m) && s < 100; s++) {
        const size_t n = il_machine_symbol_text(m, s, text, sizeof text);
        FUZZ_CHECK(n < sizeof text && text[n] == '\0' && (n > 0) == (s < il_machine_symbols(m)));
    }
    FUZZ_CHECK(il_machine_var_name(m, il_machine_vars(m)).n == 0);
    FUZZ_CHECK(il_machine_reason(m, 0).n == 0 && !il_machine_releasable(m, 0) && !il_machine_releasable(m, 255));
}

/* All of an opened machine, within reason. Answers how many steps it accepts. */
static uint64_t fuzz_opened(const il_machine *m) {
    uint64_t accepted = 0;
    const uint32_t states = il_machine_states(m);
    FUZZ_CHECK(states > 0 && il_machine_symbols(m) > 0);
    FUZZ_CHECK(il_machine_step(m, il_machine_initial(m), IL_NO_SYMBOL).reason == IL_REASON_NO_SYMBOL);
    FUZZ_CHECK(il_machine_step(m, UINT64_MAX, 0).next == UINT64_MAX && il_machine_state(m, states) == 0);
    fuzz_names(m);
    for (uint32_t i = 0; i < states; i++) {
        accepted += fuzz_row(m, i);
    }
    return accepted;
}

static il_str fuzz_certificate(il_arena *arena, const il_machine *m, uint64_t edges) {
    il_claims claims = {.states = il_machine_states(m), .symbols = il_machine_symbols(m), .edges = edges, .depth = 1};
    il_str bytes;
    il_machine_digest(m, claims.table);
    claims.from_init = claims.mediation = claims.havoc = claims.gates = claims.laundering = true;
    FUZZ_CHECK(il_certificate_build(arena, &claims, &bytes, NULL) == IL_OK);
    return bytes;
}

/* Under a certificate that fits, the table opens unless a forbidden region is entered; under one that does not fit, never. */
static bool fuzz_certified(const il_alloc *alloc, il_arena *arena, il_str table, const il_machine *m, uint64_t edges) {
    il_machine *whole = NULL, *none = NULL;
    bool forbidden = false;
    for (uint32_t r = 0; r < m->nregions; r++) {
        for (size_t i = 0; !m->regions[r].gated && i < il_table_bitmap(m->regions[r].edge, m->nstates, m->nsymbols); i++) {
            forbidden = forbidden || m->regions[r].bits[i] != 0;
        }
    }
    il_str certificate = fuzz_certificate(arena, m, edges);
    const il_status s = il_machine_open(alloc, table, certificate, &whole, NULL);
    FUZZ_CHECK((s == IL_OK) == (whole != NULL) && (s == IL_OK) == !forbidden && (s == IL_OK || s == IL_E_SEAL));
    il_machine_free(whole);
    FUZZ_CHECK(il_machine_open(alloc, table, fuzz_certificate(arena, m, edges + 1), &none, NULL) == IL_E_SEAL && none == NULL);
    certificate.n--;
    FUZZ_CHECK(il_machine_open(alloc, table, certificate, &none, NULL) == IL_E_SEAL && none == NULL);
    return whole != NULL;
}

/* Any bytes as a table: refused, or whole. */
static void fuzz_table(const il_alloc *alloc, il_arena *arena, il_str table) {
    il_machine *m = NULL;
    il_error err = {0};
    const il_status s = il_table_open(alloc, table, &m, &err);
    FUZZ_CHECK((s == IL_OK) == (m != NULL));
    FUZZ_CHECK(s == IL_OK || s == IL_E_SEAL || s == IL_E_VERSION || s == IL_E_MEMORY || s == IL_E_LIMIT);
    FUZZ_CHECK(s == IL_OK || (err.code == s && err.msg[0] != '\0'));
    if (m != NULL) {
        (void)fuzz_certified(alloc, arena, table, m, fuzz_opened(m));
    }
    il_machine_free(m);
}

/* As from two files: the last bytes are the certificate. */
static void fuzz_raw(const il_alloc *alloc, il_arena *arena, fuzz_input *in) {
    const size_t certificate = 104;
    il_machine *m = NULL;
    const il_str table = fuzz_bytes(in, in->n > certificate ? in->n - certificate : 0), rest = fuzz_bytes(in, in->n);
    if (il_machine_open(alloc, table, rest, &m, NULL) == IL_OK) {
        (void)fuzz_opened(m);
    }
    il_machine_free(m);
    fuzz_table(alloc, arena, table);
}

/* How many bytes the bitmaps of a description's regions take. */
static size_t fuzz_bitmaps(const il_json *meta, uint32_t states, uint32_t symbols) {
    size_t n = 0;
    for (const il_json *r = il_json_first(il_json_get(meta, IL_STR("regions"))); r != NULL; r = il_json_next(r)) {
        n += il_table_bitmap(il_json_bool(il_json_get(r, IL_STR("edge"))), states, symbols);
    }
    return n;
}

/* Four small numbers (states, symbols, initial, and what is added to the length), a description up to a line end, then the rest as
 * it comes. */
static void fuzz_sealed(const il_alloc *alloc, il_arena *arena, fuzz_input *in) {
    const uint32_t states = fuzz_u8(in), symbols = fuzz_u8(in), initial = fuzz_u8(in), more = fuzz_u8(in) % 3;
    const uint8_t *end = in->n > 0 ? memchr(in->p, '\n', in->n) : NULL;
    const il_str text = fuzz_bytes(in, end != NULL ? (size_t)(end - in->p) : in->n);
    (void)fuzz_u8(in);
    if ((uint64_t)states * symbols > FUZZ_CELLS) {
        return;
    }
    il_json *meta = NULL;
    if (il_json_parse(arena, text, NULL, &meta, NULL) != IL_OK) {
        meta = NULL; /* and is refused below */
    }
    il_buf b;
    il_str body, table;
    uint8_t seal[IL_DIGEST_BYTES];
    il_buf_init(&b, arena, (size_t)1 << 20);
    il_buf_puts(&b, IL_TABLE_MAGIC);
    const uint32_t head[8] = {
        1, states, symbols, initial, (uint32_t)il_json_count(il_json_get(meta, IL_STR("regions"))), (uint32_t)text.n, 0, 0};
    for (size_t i = 0; i < 8; i++) {
        il_buf_u32(&b, head[i]);
    }
    il_buf_put(&b, text);
    for (size_t i = text.n; i < il_table_pad(text.n); i++) {
        il_buf_u8(&b, 0);
    }
    for (uint32_t i = 0; i < states; i++) {
        /* ascending by what each adds, which is what a table must be and what bytes by chance are not */
        il_buf_u64(&b, i == 0 ? 0 : fuzz_u8(in));
    }
    for (size_t i = fuzz_bitmaps(meta, states, symbols) + more; i > 0; i--) {
        il_buf_u8(&b, fuzz_u8(in));
    }
    for (uint32_t i = 0; i < states * symbols; i++) {
        const uint8_t low = fuzz_u8(in);
        il_buf_u32(&b, low & 1 ? IL_CELL_OF(low >> 1, IL_ACCEPT, 0) : IL_CELL_OF(i / symbols, IL_REJECT, low >> 1));
    }
    FUZZ_CHECK(il_buf_done(&b, &body, NULL) == IL_OK);
    il_sha256_of(body, seal);
    il_buf_put(&b, (il_str){(const char *)seal, sizeof seal});
    FUZZ_CHECK(il_buf_done(&b, &table, NULL) == IL_OK);
    fuzz_table(alloc, arena, table);
}

/* The table says what the guards say. */
static void fuzz_agrees(const il_model *model, const il_machine *m) {
    FUZZ_CHECK(il_machine_symbols(m) == model->nsymbols && il_machine_vars(m) == model->nvars);
    FUZZ_CHECK(il_machine_initial(m) == model->initial);
    for (uint32_t i = 0; i < il_machine_states(m); i++) {
        const uint64_t state = il_machine_state(m, i);
        FUZZ_CHECK(il_model_valid(model, state));
        for (uint32_t s = 0; s < model->nsymbols; s++) {
            const il_eval e = il_model_eval(model, NULL, state, s);
            const il_step t = il_machine_step(m, state, s);
            FUZZ_CHECK(e.step.verdict == t.verdict && e.step.reason == t.reason && e.step.next == t.next);
        }
    }
    for (uint32_t v = 0; v < model->nvars; v++) {
        FUZZ_CHECK(il_str_eq(il_machine_var_name(m, v), model->vars[v].name));
    }
}

static void fuzz_compiled(const il_alloc *alloc, il_arena *arena, const il_model *model) {
    il_str table, again;
    il_machine *m = NULL;
    il_error err = {0};
    const il_status s = il_table_build(arena, model, FUZZ_STATES, &table, &err);
    if (s != IL_OK) {
        FUZZ_CHECK(s == IL_E_INVALID || s == IL_E_LIMIT || s == IL_E_MEMORY);
        FUZZ_CHECK(err.code == s && err.msg[0] != '\0' && (s != IL_E_INVALID || err.line > 0));
        return;
    }
    FUZZ_CHECK(il_table_build(arena, model, FUZZ_STATES, &again, NULL) == IL_OK && il_str_eq(table, again));
    FUZZ_CHECK(il_table_open(alloc, table, &m, &err) == IL_OK);
    fuzz_agrees(model, m);
    (void)fuzz_certified(alloc, arena, table, m, fuzz_opened(m));
    il_machine_free(m);
}

static void fuzz_document(const il_alloc *alloc, il_arena *arena, il_str text) {
    il_json *doc = NULL;
    il_model *model = NULL;
    il_error err = {0};
    if (il_yaml_parse(arena, text, NULL, &doc, NULL) != IL_OK) {
        return;
    }
    const il_status s = il_model_load(arena, doc, &model, &err);
    FUZZ_CHECK((s == IL_OK) == (model != NULL));
    if (s != IL_OK) {
        FUZZ_CHECK(s == IL_E_SYNTAX || s == IL_E_INVALID || s == IL_E_VERSION || s == IL_E_LIMIT || s == IL_E_MEMORY);
        FUZZ_CHECK(err.code == s && err.msg[0] != '\0' && (s == IL_E_MEMORY || (err.line > 0 && err.col > 0)));
    } else if (model->nsymbols <= FUZZ_CELLS / 4) {
        fuzz_compiled(alloc, arena, model);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const il_alloc alloc = fuzz_alloc();
    fuzz_input in = {data, size};
    il_arena arena;
    il_arena_init(&arena, &alloc, (size_t)64 << 20);
    if (size > 0 && data[0] == 'T') {
        (void)fuzz_u8(&in);
        fuzz_raw(&alloc, &arena, &in);
    } else if (size > 0 && data[0] == 'S') {
        (void)fuzz_u8(&in);
        fuzz_sealed(&alloc, &arena, &in);
    } else {
        fuzz_document(&alloc, &arena, (il_str){(const char *)data, size});
    }
    il_arena_free(&arena);
    return 0;
}
