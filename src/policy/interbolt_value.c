/* SPDX-License-Identifier: Apache-2.0 */
/* The values of what Interbolt's conditions name: `taint`, `sources`, `max_trust`, `trifecta`, and `run`, `agent` and `tool` in its words. */
#include "base/sha256.h"
#include "cel/partial.h"
#include "policy/carried.h"
#include "policy/compiled.h"
#include "policy/condition.h"
#include "policy/past.h"

/* ---- types ------------------------------------------------------------------------------------------------- */

static const il_str il_ib_trusts[] = {{"trusted", 7}, {"untrusted", 9}};
static const il_str il_ib_legs[] = {{"from_untrusted", 14}, {"reaches_external", 16}, {"reads_private", 13}};
static const il_cel_type il_ib_strings = {.kind = IL_CEL_LIST, .element = &il_cel_type_string};
static const il_cel_type il_ib_trust = {.kind = IL_CEL_STRING, .domain = il_ib_trusts, .ndomain = 2};
static const il_cel_type il_ib_leg = {.kind = IL_CEL_STRING, .domain = il_ib_legs, .ndomain = 3};
static const il_cel_type il_ib_trifecta = {.kind = IL_CEL_LIST, .element = &il_ib_leg, .most = 3};

static const il_cel_field il_ib_label_fields[] = {{{"source", 6}, &il_cel_type_string},
                                                  {{"trust", 5}, &il_ib_trust},
                                                  {{"lineage", 7}, &il_ib_strings},
                                                  {{"ingested_by", 11}, &il_ib_strings},
                                                  {{"endorsements", 12}, &il_ib_strings}};
#define IL_IB_LABEL_FIELDS (sizeof il_ib_label_fields / sizeof il_ib_label_fields[0])
static const il_cel_type il_ib_label = {
    .kind = IL_CEL_RECORD, .fields = il_ib_label_fields, .nfields = IL_IB_LABEL_FIELDS, .name = {"a label", 7}};
static const il_cel_type il_ib_taint = {.kind = IL_CEL_LIST, .element = &il_ib_label};

const il_cel_field il_interbolt_vars[IL_INTERBOLT_NAMES] = {[IL_INTERBOLT_TAINT] = {{"taint", 5}, &il_ib_taint},
                                                            [IL_INTERBOLT_SOURCES] = {{"sources", 7}, &il_ib_strings},
                                                            [IL_INTERBOLT_MAX_TRUST] = {{"max_trust", 9}, &il_ib_trust},
                                                            [IL_INTERBOLT_TRIFECTA] = {{"trifecta", 8}, &il_ib_trifecta}};

static const il_cel_field il_ib_run_fields[] = {
    {{"tainted", 7}, &il_cel_type_bool},   {{"sources", 7}, &il_ib_strings},   {{"untrusted_sources", 17}, &il_ib_strings},
    {{"ingested_by", 11}, &il_ib_strings}, {{"trifecta", 8}, &il_ib_trifecta}, {{"capability_evicted", 18}, &il_cel_type_bool}};
#define IL_IB_RUN_FIELDS (sizeof il_ib_run_fields / sizeof il_ib_run_fields[0])
const il_cel_type il_interbolt_run = {
    .kind = IL_CEL_RECORD, .fields = il_ib_run_fields, .nfields = IL_IB_RUN_FIELDS, .name = {"run", 3}};

static const il_cel_field il_ib_agent_fields[] = {{{"id", 2}, &il_cel_type_string}, {{"groups", 6}, &il_ib_strings}};
const il_cel_type il_interbolt_agent = {.kind = IL_CEL_RECORD, .fields = il_ib_agent_fields, .nfields = 2, .name = {"agent", 5}};

/* ---- labels ---------------------------------------------------------------------------------------------------- */

static il_status il_ib_room(il_condition_call *c, size_t n, il_cel_value **out, il_error *err) {
    *out = il_arena_array(c->scratch, n > 0 ? n : 1, sizeof(il_cel_value));
    return *out != NULL ? IL_OK : il_arena_fail(c->scratch, err);
}

typedef il_str (*il_ib_nth)(const il_origin *o, size_t i);

static il_status il_ib_names(il_condition_call *c, const il_origin *o, size_t n, il_ib_nth nth, il_cel_value *out,
                             il_error *err) {
    il_cel_value *items = NULL;
    IL_TRY(il_ib_room(c, n, &items, err));
    for (size_t i = 0; i < n; i++) {
        items[i] = il_cel_of_str(nth(o, i));
    }
    *out = il_cel_of_items(IL_CEL_LIST, items, (uint32_t)n);
    return IL_OK;
}

/* Only those that were given for exactly the value that the label stands at: an endorsed text that was edited has none. */
static il_status il_ib_endorsements(il_condition_call *c, const il_origin_at *label, il_cel_value *out, il_error *err) {
    const size_t n = il_origin_endorsements(label->origin);
    const il_json *value = n > 0 ? il_carried_value(c->call->args, label->path) : NULL;
    il_cel_value *items = NULL;
    uint8_t digest[IL_DIGEST_BYTES];
    uint32_t kept = 0;
    IL_TRY(il_ib_room(c, n, &items, err));
    if (value != NULL) {
        IL_TRY(il_value_digest(value, digest, err));
    }
    for (size_t i = 0; value != NULL && i < n; i++) {
        const il_endorsement e = il_origin_endorsement(label->origin, i);
        if (il_digest_eq(e.digest, digest)) {
            items[kept++] = il_cel_of_str(e.kind);
        }
    }
    *out = il_cel_of_items(IL_CEL_LIST, items, kept);
    return IL_OK;
}

static il_status il_ib_label_value(il_condition_call *c, const il_origin_at *label, il_cel_value *out, il_error *err) {
    const il_trust_table table = il_policy_trust(c->policy);
    const il_origin *o = label->origin;
    const bool trusted = il_origin_trust(o, &table) == IL_TRUST_TRUSTED;
    il_cel_value *fields = NULL;
    IL_TRY(il_ib_room(c, IL_IB_LABEL_FIELDS, &fields, err));
    fields[0] = il_cel_of_str(il_origin_source(o));
    fields[1] = il_cel_of_str(trusted ? IL_STR("trusted") : IL_STR("untrusted"));
    IL_TRY(il_ib_names(c, o, il_origin_sources(o), il_origin_lineage, &fields[2], err));
    IL_TRY(il_ib_names(c, o, il_origin_agents(o), il_origin_agent, &fields[3], err));
    IL_TRY(il_ib_endorsements(c, label, &fields[4], err));
    *out = il_cel_of_items(IL_CEL_RECORD, fields, IL_IB_LABEL_FIELDS);
    return IL_OK;
}

static il_status il_ib_taint_value(il_condition_call *c, il_cel_value *out, il_error *err) {
    il_cel_value *items = NULL;
    IL_TRY(il_ib_room(c, c->call->nlabels, &items, err));
    for (size_t i = 0; i < c->call->nlabels; i++) {
        IL_TRY(il_ib_label_value(c, &c->call->labels[i], &items[i], err));
    }
    *out = il_cel_of_items(IL_CEL_LIST, items, (uint32_t)c->call->nlabels);
    return IL_OK;
}

/* Each name once, in the order in which it is first met. At most IL_CALL_NAMES. */
static il_status il_ib_sources_value(il_condition_call *c, il_cel_value *out, il_error *err) {
    il_cel_value *items = NULL;
    uint32_t n = 0;
    IL_TRY(il_ib_room(c, il_carried_names(c->call), &items, err));
    for (size_t i = 0; i < c->call->nlabels; i++) {
        const il_origin *o = c->call->labels[i].origin;
        for (size_t k = 0; k < il_origin_sources(o); k++) {
            bool there = false;
            for (uint32_t j = 0; j < n && !there; j++) {
                there = il_str_eq(il_cel_str(items[j]), il_origin_lineage(o, k));
            }
            if (!there) {
                items[n++] = il_cel_of_str(il_origin_lineage(o, k));
            }
        }
    }
    *out = il_cel_of_items(IL_CEL_LIST, items, n);
    return IL_OK;
}

static il_status il_ib_legs_value(il_condition_call *c, bool untrusted, uint32_t effects, il_cel_value *out, il_error *err) {
    const bool has[] = {untrusted, (effects & (uint32_t)IL_EGRESS) != 0, (effects & (uint32_t)IL_SENSITIVE) != 0};
    il_cel_value *items = NULL;
    uint32_t n = 0;
    IL_TRY(il_ib_room(c, 3, &items, err));
    for (size_t i = 0; i < 3; i++) {
        if (has[i]) {
            items[n++] = il_cel_of_str(il_ib_legs[i]);
        }
    }
    *out = il_cel_of_items(IL_CEL_LIST, items, n);
    return IL_OK;
}

il_status il_interbolt_value(il_condition_call *c, il_interbolt_name name, il_cel_value *out, il_error *err) {
    switch (name) {
    case IL_INTERBOLT_TAINT:
        return il_ib_taint_value(c, out, err);
    case IL_INTERBOLT_SOURCES:
        return il_ib_sources_value(c, out, err);
    case IL_INTERBOLT_MAX_TRUST:
        *out = il_cel_of_str(c->call->carries ? IL_STR("untrusted") : IL_STR("trusted"));
        return IL_OK;
    case IL_INTERBOLT_TRIFECTA:
        return il_ib_legs_value(c, c->call->carries, c->declared, out, err);
    case IL_INTERBOLT_NAMES:
        break;
    }
    return il_error_set(err, IL_E_INTERNAL, "no such name");
}

/* ---- run, tool --------------------------------------------------------------------------------------------------- */

/* A source that was read taints the run, whatever became of the calls with its values: Interbolt remembers an ingress, not a use. */
il_status il_interbolt_run_value(il_condition_call *c, il_cel_value *out, il_error *err) {
    il_cel_value *fields = NULL;
    const uint32_t held = c->call->held | c->declared | (c->call->sends ? (uint32_t)IL_EGRESS : 0u);
    IL_TRY(il_ib_room(c, IL_IB_RUN_FIELDS, &fields, err));
    IL_TRY(il_past_sources(c->policy, c->call, c->scratch, &fields[1], err));
    const bool tainted = (c->call->held & (uint32_t)IL_UNTRUSTED) != 0 || fields[2].n > 0;
    fields[0] = il_cel_of_bool(tainted);
    IL_TRY(il_ib_legs_value(c, tainted, held, &fields[4], err));
    fields[5] = il_cel_of_bool(false); /* nothing that a session holds is ever forgotten */
    *out = il_cel_of_items(IL_CEL_RECORD, fields, IL_IB_RUN_FIELDS);
    return IL_OK;
}

/* With its namespace, as a sink is named. */
il_status il_interbolt_tool_value(il_condition_call *c, il_cel_value *out, il_error *err) {
    il_buf b;
    il_str name = {0};
    il_buf_init(&b, c->scratch, (size_t)1 << 16);
    il_buf_put(&b, c->call->server.n > 0 ? c->call->server : IL_STR("default"));
    il_buf_putc(&b, '.');
    il_buf_put(&b, c->call->tool);
    IL_TRY(il_buf_done(&b, &name, err));
    *out = il_cel_of_str(name);
    return IL_OK;
}

il_status il_interbolt_unknown(il_condition_call *c, uint32_t asks, il_error *err) {
    const bool labels = c->call->args != NULL; /* arguments that are given have none */
    for (uint32_t i = 0; i < IL_INTERBOLT_NAMES && !labels; i++) {
        c->values[IL_CONDITION_NAMES + i] = il_cel_unknown();
    }
    if ((asks & (1u << IL_CONDITION_RUN)) == 0) {
        return IL_OK;
    }
    const il_cel_value *known = c->values[IL_CONDITION_RUN].u.items;
    const bool tainted = il_cel_true(known[0]);
    il_cel_value *fields = NULL;
    IL_TRY(il_ib_room(c, IL_IB_RUN_FIELDS, &fields, err));
    for (size_t i = 0; i < IL_IB_RUN_FIELDS; i++) {
        const bool said = i == 0 || i == 4; /* what the session holds; an untrusted label would add to it */
        fields[i] = i == 5 || (said && (tainted || labels)) ? known[i] : il_cel_unknown();
    }
    c->values[IL_CONDITION_RUN] = il_cel_of_items(IL_CEL_RECORD, fields, IL_IB_RUN_FIELDS);
    return IL_OK;
}
