/* SPDX-License-Identifier: Apache-2.0 */
/* The row of a call whose arguments had labels that count: what they said when it ran, and what the policy made of that. */
#include "monitor/plan.h"

#define IL_LABELS_ROW 8u    /* labels that are listed, and sources and endorsements of each */
#define IL_LABELS_PATH 256u /* bytes of a path */

static void il_labels_names(il_record *r, il_str key, const il_origin *o, bool endorsed) {
    il_str names[IL_LABELS_ROW];
    size_t n = endorsed ? il_origin_endorsements(o) : il_origin_sources(o);
    n = n < IL_LABELS_ROW ? n : IL_LABELS_ROW;
    for (size_t i = 0; i < n; i++) {
        names[i] = endorsed ? il_origin_endorsement(o, i).kind : il_origin_lineage(o, i);
    }
    il_record_strings(r, key, names, n);
}

static void il_labels_one(il_record *r, const il_origin_at *label, bool untrusted) {
    char path[IL_LABELS_PATH + 1];
    const size_t n = il_format(path, sizeof path, "%.*s", IL_STR_ARG(label->path)); /* cut, and escaped where it is not text */
    r->more = false;
    il_labels_names(r, IL_STR("endorsed"), label->origin, true);
    il_record_truth(r, IL_STR("more"), il_origin_more(label->origin));
    il_record_str(r, IL_STR("path"), (il_str){path, n});
    il_labels_names(r, IL_STR("sources"), label->origin, false);
    il_record_truth(r, IL_STR("untrusted"), untrusted);
    il_buf_putc(&r->buf, '}');
}

/* What the row is about: a trusted label that no human's word goes with says nothing that the policy does not. */
static bool il_labels_listed(const il_origin_at *label, const il_trust_table *table, bool *untrusted) {
    *untrusted = il_origin_trust(label->origin, table) == IL_TRUST_UNTRUSTED;
    return *untrusted || il_origin_endorsements(label->origin) > 0;
}

il_status il_plan_labels(il_plan *p, const il_call *call, il_str tool, uint64_t ticket, il_error *err) {
    const il_trust_table table = il_policy_trust(p->core->policy);
    uint32_t listed = 0;
    bool untrusted;
    il_record r;
    for (size_t i = 0; i < call->nlabels && listed < IL_LABELS_ROW; i++) {
        if (!il_labels_listed(&call->labels[i], &table, &untrusted)) {
            continue;
        }
        if (listed == 0) {
            il_record_open(&r, p->arena);
            il_record_number(&r, IL_STR("count"), call->nlabels);
            il_record_member(&r, IL_STR("labels"));
        }
        il_buf_putc(&r.buf, listed++ > 0 ? ',' : '[');
        il_labels_one(&r, &call->labels[i], untrusted);
    }
    if (listed == 0) {
        return IL_OK;
    }
    il_buf_putc(&r.buf, ']');
    r.more = true;
    il_record_state(&r, IL_STR("post"), p->s->state);
    il_record_state(&r, IL_STR("pre"), p->s->state);
    il_record_tool(&r, tool);
    il_record_number(&r, IL_STR("v"), 1);
    return il_plan_row(p, "labels", ticket, &r, err);
}
