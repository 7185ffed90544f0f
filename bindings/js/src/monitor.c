/* SPDX-License-Identifier: Apache-2.0 */
/* One function for each of interlock/monitor.h. */
#include "exports.h"

il_status iljs_begin(il_monitor *m, size_t n, double now_ms, uint32_t resume) {
    il_error err = {0};
    iljs_open(n, now_ms);
    const il_str session = iljs_part();
    il_begin how = {.size = sizeof how, .resume = resume != 0};
    how.parent = iljs_part();
    how.principal = iljs_part();
    return iljs_done(il_monitor_begin(m, session, &how, &err), &err);
}

static void monitor_decision(iljs_bytes *out, const il_decision *d) {
    char digest[2 * IL_DIGEST_BYTES];
    iljs_put_u32(out, (uint32_t)d->action);
    iljs_put_u32(out, (uint32_t)d->layer);
    iljs_put_u32(out, (d->run ? 1u : 0u) | (d->unenforced ? 2u : 0u) | (d->child ? 4u : 0u));
    iljs_put_u32(out, d->effects);
    iljs_put_u64(out, d->ticket);
    iljs_put_u32(out, d->rule);
    iljs_put_u32(out, d->nwitnesses);
    for (size_t i = 0; i < sizeof d->args_digest; i++) {
        digest[2 * i] = "0123456789abcdef"[d->args_digest[i] >> 4];
        digest[2 * i + 1] = "0123456789abcdef"[d->args_digest[i] & 15];
    }
    iljs_put_str(out, (il_str){digest, sizeof digest});
    iljs_put_text(out, d->reason);
    iljs_put_text(out, d->approval);
    iljs_put_text(out, d->message);
    for (uint32_t i = 0; i < d->nwitnesses; i++) {
        iljs_put_u32(out, d->witnesses[i].effect);
        iljs_put_u64(out, d->witnesses[i].ticket);
        iljs_put_text(out, d->witnesses[i].tool);
    }
}

il_status iljs_decide(il_monitor *m, size_t n, double now_ms, uint32_t unjoined) {
    il_error err = {0};
    il_json_doc *args = NULL, *labels = NULL;
    iljs_labels list = {0};
    il_decision d = IL_DECISION_INIT;
    iljs_open(n, now_ms);
    const il_str session = iljs_part();
    il_call call = {.size = sizeof call, .unjoined = unjoined != 0};
    call.server = iljs_part();
    call.tool = iljs_part();
    il_status s = iljs_doc(iljs_part(), &args, &err);
    s = s == IL_OK ? iljs_doc(iljs_part(), &labels, &err) : s;
    s = s == IL_OK ? iljs_labels_new(il_json_doc_root(labels), &list, &err) : s;
    if (s == IL_OK) {
        call.args = il_json_doc_root(args);
        call.labels = list.list;
        call.nlabels = list.n;
        const il_status failed = il_monitor_decide(m, session, &call, &d, &err);
        (void)failed; /* which is a block in `d`, with its reason */
        monitor_decision(iljs_out(), &d);
    }
    iljs_labels_free(&list);
    il_json_doc_free(labels);
    il_json_doc_free(args);
    return iljs_done(s, &err);
}

il_status iljs_settle(il_monitor *m, size_t n, double now_ms, double ticket, uint32_t done, uint32_t absent) {
    il_error err = {0};
    il_json_doc *result = NULL, *args = NULL;
    il_settlement out = IL_SETTLEMENT_INIT;
    iljs_open(n, now_ms);
    const il_str session = iljs_part(), child = iljs_part();
    il_outcome o = {.size = sizeof o, .bare = true, .how = done != 0 ? IL_OUTCOME_DONE : IL_OUTCOME_FAILED, .absent = absent};
    il_status s = iljs_doc(iljs_part(), &result, &err);
    o.error = iljs_part();
    s = s == IL_OK ? iljs_doc(iljs_part(), &args, &err) : s;
    if (s == IL_OK) {
        o.result = il_json_doc_root(result);
        o.args = il_json_doc_root(args);
        const uint64_t t = ticket >= 0 ? (uint64_t)ticket : 0;
        s = child.n > 0 ? il_monitor_join(m, session, child, t, &o, &out, &err)
                        : il_monitor_settle(m, session, t, &o, &out, &err);
        if (s == IL_OK || out.reason[0] != '\0') {
            s = IL_OK;
            iljs_put_u32(iljs_out(), (out.release ? 1u : 0u) | (out.quarantined ? 2u : 0u));
            iljs_put_text(iljs_out(), out.reason);
        }
    }
    il_json_doc_free(args);
    il_json_doc_free(result);
    return iljs_done(s, &err);
}

il_status iljs_say(il_monitor *m, size_t n, double now_ms) {
    il_error err = {0};
    iljs_open(n, now_ms);
    const il_str session = iljs_part(), text = iljs_part();
    return iljs_done(il_monitor_say(m, session, text, &err), &err);
}

il_status iljs_notice(il_monitor *m, size_t n, double now_ms, uint32_t kind, uint32_t untrusted) {
    il_error err = {0};
    iljs_open(n, now_ms);
    const il_str session = iljs_part();
    il_notice notice = {.size = sizeof notice, .kind = (il_notice_kind)kind, .untrusted = untrusted != 0};
    notice.from = iljs_part();
    notice.text = iljs_part();
    notice.agent = iljs_part();
    return iljs_done(il_monitor_notice(m, session, &notice, &err), &err);
}

il_status iljs_endorse(il_monitor *m, size_t n, double now_ms) {
    il_error err = {0};
    il_json_doc *doc = NULL;
    iljs_open(n, now_ms);
    const il_str session = iljs_part();
    il_endorsement e = {.size = sizeof e};
    e.kind = iljs_part();
    e.by = iljs_part();
    il_status s = iljs_doc(iljs_part(), &doc, &err);
    s = s == IL_OK ? il_value_digest(il_json_doc_root(doc), e.digest, &err) : s;
    s = s == IL_OK ? il_monitor_endorse(m, session, &e, iljs_part(), &err) : s;
    il_json_doc_free(doc);
    iljs_put(iljs_out(), e.digest, sizeof e.digest);
    return iljs_done(s, &err);
}

il_status iljs_answer(il_monitor *m, size_t n, double now_ms, uint32_t granted) {
    il_error err = {0};
    iljs_open(n, now_ms);
    const il_str session = iljs_part(), approval = iljs_part(), by = iljs_part();
    return iljs_done(granted != 0 ? il_monitor_approve(m, session, approval, by, &err)
                                  : il_monitor_refuse(m, session, approval, by, &err),
                     &err);
}

il_status iljs_end(il_monitor *m, size_t n, double now_ms, uint32_t abandon) {
    il_error err = {0};
    iljs_open(n, now_ms);
    return iljs_done(il_monitor_end(m, iljs_part(), abandon != 0, &err), &err);
}

il_status iljs_quarantine(il_monitor *m, size_t n, double now_ms) {
    il_error err = {0};
    iljs_open(n, now_ms);
    const il_str session = iljs_part(), why = iljs_part();
    return iljs_done(il_monitor_quarantine(m, session, why, &err), &err);
}

static bool monitor_approval(void *ctx, const il_approval *a) {
    iljs_bytes *out = ctx;
    iljs_put_u32(out, a->granted);
    iljs_put_u64(out, a->expires_ms);
    iljs_put_u32(out, a->effects);
    iljs_put_text(out, a->id);
    iljs_put_text(out, a->tool);
    iljs_put_text(out, a->reason != NULL ? a->reason : "");
    return true;
}

il_status iljs_approvals(il_monitor *m, size_t n, double now_ms) {
    il_error err = {0};
    iljs_open(n, now_ms);
    return iljs_done(il_monitor_approvals(m, iljs_part(), monitor_approval, iljs_out(), &err), &err);
}
