/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view.h"

#include <string.h>

#include "base/sha256.h"
#include "monitor/place.h"

#define VIEW_ARENA_BYTES ((size_t)1 << 30)

static il_status view_machine(il_view *v, const char *policy, il_error *err) {
    uint8_t digest[IL_DIGEST_BYTES];
    if (!policy) {
        const il_status status = il_host_machine_by_digest(il_host_alloc(), v->session.machine, &v->shipped, err);
        if (status == IL_E_NOT_FOUND) {
            return il_error_set(err, status, "session `%.*s` ran on a machine that is not shipped; name its policy with --policy",
                                IL_STR_ARG(v->id));
        }
        IL_TRY(status);
        v->machine = v->shipped;
        return IL_OK;
    }
    il_error why = {0};
    const il_status status = il_bundle_load(il_host_alloc(), policy, &v->bundle, &why);
    if (status != IL_OK) {
        return why.line ? il_error_set(err, status, "policy `%s`, line %u, column %u: %s", policy, (unsigned)why.line,
                                       (unsigned)why.col, why.msg)
                        : il_error_set(err, status, "policy `%s`: %s", policy, why.msg);
    }
    v->machine = il_policy_machine(il_bundle_policy(v->bundle));
    il_machine_digest(v->machine, digest);
    return il_digest_eq(digest, v->session.machine)
               ? IL_OK
               : il_error_set(err, IL_E_MISMATCH, "the session ran on another machine than that of policy `%s`", policy);
}

/* What a call wrote under a name that could be any file counts for all of them. */
static il_status view_everywhere(il_view *v, const il_store *store, il_error *err) {
    char key[IL_DIGEST_HEX];
    uint8_t bytes[IL_PLACE_BYTES], own = 0, below = 0;
    size_t n = 0;
    uint64_t version;
    IL_TRY(il_place_key(NULL, IL_STR("path"), IL_STR(""), key, err));
    const il_status s = store->load(store->ctx, IL_STR(IL_SPACE_STORE), il_str_of(key), bytes, sizeof bytes, &n, &version, err);
    if (s == IL_E_NOT_FOUND) {
        return IL_OK;
    }
    IL_TRY(s);
    IL_TRY(il_place_labels((il_str){(const char *)bytes, n}, &own, &below, err));
    v->everywhere = own;
    return IL_OK;
}

il_status il_view_open(il_view *v, il_ledger *ledger, il_str id, const char *policy, il_error *err) {
    const il_store store = il_ledger_store(ledger);
    size_t n = 0;
    *v = (il_view){0};
    il_arena_init(&v->arena, il_host_alloc(), VIEW_ARENA_BYTES);
    IL_TRY(il_arena_copy(&v->arena, id, &v->id, err));
    uint8_t *state = il_arena_get(&v->arena, IL_SESSION_STATE_MAX);
    if (!state) {
        return il_arena_fail(&v->arena, err);
    }
    IL_TRY(store.load(store.ctx, IL_STR(IL_SPACE_SESSION), id, state, IL_SESSION_STATE_MAX, &n, &v->version, err));
    IL_TRY(il_session_decode(state, n, &v->session, err));
    IL_TRY(view_everywhere(v, &store, err));
    return view_machine(v, policy, err);
}

void il_view_close(il_view *v) {
    il_machine_free(v->shipped);
    il_bundle_free(v->bundle);
    il_arena_free(&v->arena);
    *v = (il_view){0};
}

typedef struct view_reading {
    il_view *v;
    il_status status;
    il_error *err;
} view_reading;

static il_status view_row(il_view *v, const il_ledger_row *row, il_error *err) {
    il_json *body = NULL;
    if (row->erased) {
        v->erased++;
        return IL_OK;
    }
    if (v->nrows == v->rows_cap) {
        const size_t cap = v->rows_cap ? 2 * v->rows_cap : 64;
        il_view_row *rows = IL_NEW_ARRAY(&v->arena, il_view_row, cap);
        if (!rows) {
            return il_arena_fail(&v->arena, err);
        }
        if (v->nrows) {
            memcpy(rows, v->rows, v->nrows * sizeof *rows);
        }
        v->rows = rows;
        v->rows_cap = cap;
    }
    const il_status status = il_json_parse(&v->arena, row->body, NULL, &body, err);
    if (status == IL_E_MEMORY) {
        return status;
    }
    il_view_row *out = &v->rows[v->nrows++];
    *out = (il_view_row){.seq = row->seq, .time_ms = row->time_ms, .ticket = row->ticket, .body = status == IL_OK ? body : NULL};
    return il_arena_copy(&v->arena, row->kind, &out->kind, err);
}

static bool view_visit(void *ctx, const il_ledger_row *row) {
    view_reading *r = ctx;
    r->status = view_row(r->v, row, r->err);
    return r->status == IL_OK;
}

il_status il_view_rows(il_view *v, il_ledger *ledger, il_error *err) {
    view_reading r = {.v = v, .status = IL_OK, .err = err};
    IL_TRY(il_ledger_rows(ledger, v->id, view_visit, &r, err));
    return r.status;
}

const il_view_row *il_view_find(const il_view *v, il_str kind, uint64_t ticket) {
    for (size_t i = 0; i < v->nrows; i++) {
        if (v->rows[i].ticket == ticket && il_str_eq(v->rows[i].kind, kind)) {
            return &v->rows[i];
        }
    }
    return NULL;
}

il_str il_view_settled(const il_view *v, const il_view_row *decision) {
    /* its settle comes later, mostly soon; a row without a tool is a result that nobody waited for */
    for (const il_view_row *row = decision; decision->ticket != 0 && row < v->rows + v->nrows; row++) {
        if (row->ticket == decision->ticket && il_str_eq(row->kind, IL_STR("settle")) && il_view_text(row, "tool").n > 0) {
            return il_view_text(row, "how");
        }
    }
    return IL_STR("");
}

const char *il_view_unanswered(il_str settled) {
    static const struct {
        const char *how, *says;
    } ways[] = {{"recovered", " (its process died: it counts as the worst)"},
                {"overdue", " (no answer in time: it counts as the worst)"},
                {"abandoned", " (given up when the session ended: it counts as the worst)"}};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (il_str_eq(settled, il_str_of(ways[i].how))) {
            return ways[i].says;
        }
    }
    return "";
}

static void view_answer_row(const il_view_row *row, il_view_answer *a) {
    int64_t expires = 0;
    if (il_json_int(il_json_get(row->body, IL_STR("expires_ms")), &expires)) {
        a->expires_ms = (uint64_t)expires;
    }
    if (il_str_eq(row->kind, IL_STR("request"))) {
        a->state = "waits";
    } else if (il_str_eq(row->kind, IL_STR("approve"))) {
        a->state = "granted";
        a->by = il_view_text(row, "by");
    } else if (il_str_eq(row->kind, IL_STR("refuse"))) {
        a->state = "denied";
        a->by = il_view_text(row, "by");
    } else if (il_str_eq(row->kind, IL_STR("lapse"))) {
        a->state = il_str_eq(il_view_text(row, "why"), IL_STR("void")) ? "void" : "expired";
    } else if (il_str_eq(row->kind, IL_STR("decision")) && il_str_eq(il_view_text(row, "action"), IL_STR("allow"))) {
        a->state = "used";
    }
}

il_view_answer il_view_answered(const il_view *v, il_str approval) {
    il_view_answer a = {.state = ""};
    const il_host host = il_host_system();
    uint64_t now = 0;
    for (size_t i = 0; i < v->nrows && approval.n; i++) {
        if (il_str_eq(il_view_text(&v->rows[i], "approval"), approval)) {
            view_answer_row(&v->rows[i], &a);
        }
    }
    /* Expiry is recorded when the session is next used. */
    const bool open = strcmp(a.state, "waits") == 0 || strcmp(a.state, "granted") == 0;
    if (open && host.now_ms(host.ctx, &now) && now >= a.expires_ms) {
        a.state = "expired";
    }
    return a;
}

il_str il_view_held(const il_view *v, const il_slot *slot) {
    for (size_t i = 0; i < v->nrows && slot->rule != 0; i++) {
        if (il_str_eq(v->rows[i].kind, IL_STR("request")) &&
            il_str_eq(il_view_text(&v->rows[i], "approval"), il_str_of(slot->id))) {
            return il_view_text(&v->rows[i], "reason");
        }
    }
    return v->machine ? il_machine_reason(v->machine, slot->reason) : IL_STR("");
}

il_str il_view_text(const il_view_row *row, const char *member) {
    const il_json *v = row ? il_json_get(row->body, il_str_of(member)) : NULL;
    return il_json_kind_of(v) == IL_JSON_STRING ? il_json_text(v) : IL_STR("");
}

uint32_t il_view_effects(const il_json *list) {
    uint32_t effects = 0;
    for (const il_json *e = il_json_first(list); e; e = il_json_next(e)) {
        for (uint32_t i = 0; i < IL_EFFECTS; i++) {
            effects |= il_str_eq(il_json_text(e), il_effect_name(UINT32_C(1) << i)) ? UINT32_C(1) << i : 0;
        }
    }
    return effects;
}

il_str il_view_value(const il_view *v, const char *var) {
    const uint32_t i = il_machine_var_find(v->machine, il_str_of(var));
    return i == UINT32_MAX ? IL_STR("") : il_machine_value_name(v->machine, i, il_machine_value(v->machine, v->session.state, i));
}

il_str il_view_sentence(il_str rule) {
    static const struct {
        const char *rule, *sentence;
    } sentences[] = {
        {"lethal-trifecta",
         "untrusted content, private data and a way out that nobody approved may not be together in one session"},
        {"secret-egress", "while a secret is held nothing may leave for any service but the one that it belongs to"},
        {"tainted-commit", "while untrusted content is held nothing may be changed for good without an approval"},
        {"unlabelled-tool", "the policy does not say what this tool does"},
        {"not-approvable", "this kind of call cannot be released by an approval"},
        {"too-many-approvals", "no more requests for approval may wait in one session"},
        {"quarantined", "the session is quarantined"},
        {"ended", "the session has ended"},
    };
    for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++) {
        if (il_str_eq(il_str_of(sentences[i].rule), rule)) {
            return il_str_of(sentences[i].sentence);
        }
    }
    return (il_str){0};
}

typedef struct view_listing {
    il_arena *arena;
    il_view_ids *out;
    il_status status;
    il_error *err;
} view_listing;

static il_status view_listing_grow(view_listing *l) {
    il_view_ids *o = l->out;
    if (o->n < o->cap) {
        return IL_OK;
    }
    const size_t cap = o->cap ? 2 * o->cap : 64;
    il_str *ids = IL_NEW_ARRAY(l->arena, il_str, cap);
    uint64_t *changed = IL_NEW_ARRAY(l->arena, uint64_t, cap);
    if (!ids || !changed) {
        return il_arena_fail(l->arena, l->err);
    }
    if (o->n) {
        memcpy(ids, o->ids, o->n * sizeof *ids);
        memcpy(changed, o->changed_ms, o->n * sizeof *changed);
    }
    o->ids = ids;
    o->changed_ms = changed;
    o->cap = cap;
    return IL_OK;
}

static bool view_listing_visit(void *ctx, il_str session, uint64_t version, uint64_t changed_ms) {
    view_listing *l = ctx;
    (void)version;
    l->status = view_listing_grow(l);
    if (l->status == IL_OK) {
        l->status = il_arena_copy(l->arena, session, &l->out->ids[l->out->n], l->err);
    }
    if (l->status != IL_OK) {
        return false;
    }
    l->out->changed_ms[l->out->n++] = changed_ms;
    return true;
}

il_status il_view_sessions(il_ledger *ledger, il_arena *arena, il_view_ids *out, il_error *err) {
    view_listing l = {.arena = arena, .out = out, .status = IL_OK, .err = err};
    *out = (il_view_ids){0};
    IL_TRY(il_ledger_sessions(ledger, view_listing_visit, &l, err));
    return l.status;
}
