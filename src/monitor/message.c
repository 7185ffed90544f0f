/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/message.h"

#include "base/error.h"
#include "policy/glob.h"

typedef struct il_message {
    char *p;
    size_t n, cap;
} il_message;

static void il_message_add(il_message *m, il_str s) {
    const size_t room = m->cap - 1 - m->n, n = s.n < room ? s.n : room;
    if (n > 0) {
        memcpy(m->p + m->n, s.p, n);
    }
    m->n += n;
    m->p[m->n] = '\0';
}

/* Tool names are letters, digits and a few signs (glob.h); anything else could be a sentence to the model. */
static void il_message_tool(il_message *m, il_str name) {
    il_message_add(m, IL_STR("`"));
    il_message_add(m, il_glob_name_ok(name) ? il_str_part(name, 0, 64) : IL_STR("(a name that no policy lists)"));
    il_message_add(m, IL_STR("`"));
}

static void il_message_witnesses(il_message *m, const il_decision *d) {
    for (uint32_t i = 0; i < d->nwitnesses && i < IL_EFFECTS; i++) {
        char call[32];
        il_message_add(m, i == 0 ? IL_STR(" the session already has ") : IL_STR(", "));
        il_message_add(m, il_effect_name(d->witnesses[i].effect));
        il_message_add(m, IL_STR(" from "));
        il_message_tool(m, il_str_of(d->witnesses[i].tool));
        (void)il_format(call, sizeof call, " (call %llu)", (unsigned long long)d->witnesses[i].ticket);
        il_message_add(m, il_str_of(call));
    }
    il_message_add(m, d->nwitnesses > 0 ? IL_STR(".") : IL_STR(""));
}

/* Why the call counts as one that sends, where the tool's own name does not tell. */
static void il_message_way_out(il_message *m, const il_decision *d, const il_label *label) {
    if (d->layer != IL_LAYER_MACHINE || (label->effects & (uint32_t)IL_EGRESS) == 0) {
        return;
    }
    if (label->outside) {
        il_message_add(m, IL_STR(" it counts as sending because its server is outside."));
    }
    if (label->sink == IL_SINK_STANDING && d->action == IL_ACTION_BLOCK) {
        il_message_add(m, IL_STR(" its way out is standing, so no human can release it."));
    }
}

/* A denial that lasts no longer than what is in its way. */
static void il_message_open(il_message *m, const il_decision *d, uint32_t open) {
    char text[96];
    if (d->layer != IL_LAYER_RULE) { /* else what the policy says has ended with it */
        (void)il_format(text, sizeof text, " %u request%s of this session %s for a human already, as many as can be.",
                        (unsigned)open, open == 1 ? "" : "s", open == 1 ? "waits" : "wait");
        il_message_add(m, il_str_of(text));
    }
    il_message_add(
        m, IL_STR(" ask the user to answer one; once it is denied, or approved and used, make this call again with exactly "
                  "these arguments."));
}

void il_message_write(il_decision *d, il_str tool, const il_label *label, const il_message_more *more) {
    il_message m = {.p = d->message, .cap = sizeof d->message};
    d->message[0] = '\0';
    if (d->action == IL_ACTION_ALLOW) {
        return;
    }
    il_message_add(&m, d->action == IL_ACTION_REQUIRE_APPROVAL ? IL_STR("interlock holds this call of ")
                                                               : IL_STR("interlock stopped this call of "));
    il_message_tool(&m, tool);
    il_message_add(&m, IL_STR(" before it ran: "));
    il_message_add(&m, il_str_of(d->reason));
    il_message_add(&m, IL_STR("."));
    il_message_witnesses(&m, d);
    il_message_way_out(&m, d, label);
    if (more->spent || d->layer == IL_LAYER_RULE) {
        il_message_add(&m, more->spent ? IL_STR(" ") : IL_STR(" so says the policy: "));
        il_message_add(&m, il_str_of(label->why));
        il_message_add(&m, IL_STR("."));
    }
    if (d->layer == IL_LAYER_LABELLER) {
        il_message_add(&m, IL_STR(" the policy has no entry for this tool"));
        if (more->near.n > 0) {
            il_message_add(&m, IL_STR(", but one for "));
            il_message_tool(&m, more->near);
        }
        il_message_add(&m, IL_STR(". tell the user."));
    } else if (d->action == IL_ACTION_REQUIRE_APPROVAL && d->approval[0] != '\0') {
        il_message_add(&m, IL_STR(" a human can release it once (approval "));
        il_message_add(&m, il_str_of(d->approval));
        il_message_add(&m, IL_STR("); then repeat it with exactly these arguments."));
    } else if (d->action == IL_ACTION_REQUIRE_APPROVAL) {
        il_message_add(&m, IL_STR(" a human could release it once."));
    } else if (more->open > 0) {
        il_message_open(&m, d, more->open);
    } else {
        il_message_add(&m, IL_STR(" do not retry it in another form; tell the user."));
    }
}
