/* SPDX-License-Identifier: Apache-2.0 */
/* The report for people: one line a check, each witness once, the verdict last. */
#include "check/parts.h"

static void text_pad(il_buf *b, size_t from, size_t width) {
    for (size_t n = b->n - from; n < width; n++) {
        il_buf_putc(b, ' ');
    }
}

static void text_count(il_buf *b, uint64_t n, const char *what) {
    il_buf_puts(b, "  ");
    il_buf_putu(b, n);
    il_buf_putc(b, ' ');
    il_buf_puts(b, what);
}

static void text_vars(const il_model *m, uint64_t vars, il_buf *b) {
    const char *between = "";
    for (uint32_t v = 0; v < m->nvars; v++) {
        if (vars >> v & 1) {
            il_buf_puts(b, between);
            il_buf_put(b, m->vars[v].name);
            between = ", ";
        }
    }
}

static void text_actions(const il_model *m, uint64_t actions, il_buf *b) {
    const char *between = "";
    for (uint32_t a = 0; a < m->nactions; a++) {
        if (actions >> a & 1) {
            il_buf_puts(b, between);
            il_buf_put(b, m->actions[a].name);
            between = ", ";
        }
    }
}

static void text_checks(const il_harden *h, il_buf *b) {
    const il_model *m = h->subject.m;
    for (const il_check *c = h->checks; c; c = c->next) {
        size_t from = b->n;
        il_buf_puts(b, il_check_verdict_name(c->verdict));
        text_pad(b, from, 14);
        il_buf_puts(b, c->id);
        if (c->region < m->nregions) {
            text_pad(b, from, 31);
            il_buf_put(b, m->regions[c->region].name);
        }
        if (c->states > 0) {
            text_pad(b, from, 50);
            text_count(b, c->states, "states");
            text_count(b, c->edges, "edges");
        }
        if (c->bound_hit) {
            il_buf_puts(b, "  (a bound was reached)");
        }
        if (c->finding) {
            il_buf_puts(b, "  ");
            il_buf_puts(b, c->finding);
        }
        if (c->detail.n > 0) {
            il_buf_puts(b, ": ");
            il_buf_put(b, c->detail);
        }
        il_buf_putc(b, '\n');
        if (c->witness.found) {
            il_buf_puts(b, c->verdict == IL_CHECK_FAIL ? "              witness: " : "              only so: ");
            il_trace_text(m, &c->witness, b);
            il_buf_putc(b, '\n');
        }
    }
}

/* By region, in the order of the checks. */
static void text_havoc(const il_harden *h, il_buf *b) {
    const il_model *m = h->subject.m;
    il_buf_puts(b, "\nkeep out of the agent's hands (writing these variables is enough to reach the region):\n");
    for (const il_check *c = h->checks; c; c = c->next) {
        bool laundered = il_str_eq(il_str_of(c->id), IL_STR("havoc-laundered"));
        for (const il_havoc_set *s = h->havoc; (laundered || il_str_eq(il_str_of(c->id), IL_STR("havoc"))) && s; s = s->next) {
            if (s->region != c->region || s->laundered != laundered) {
                continue;
            }
            size_t from = b->n;
            il_buf_puts(b, "  ");
            il_buf_put(b, m->regions[s->region].name);
            il_buf_puts(b, laundered ? " (laundered)" : "");
            text_pad(b, from, 34);
            text_vars(m, s->vars, b);
            text_pad(b, from, 46);
            il_buf_puts(b, "  ");
            il_trace_text(m, &s->witness, b);
            il_buf_putc(b, '\n');
        }
        if ((laundered || il_str_eq(il_str_of(c->id), IL_STR("havoc"))) && (h->unnamed[laundered] >> c->region & 1)) {
            il_buf_puts(b, "  ");
            il_buf_put(b, m->regions[c->region].name);
            il_buf_puts(b, laundered ? " (laundered)" : "");
            il_buf_puts(b, ": not all sets were looked for, a bound was reached\n");
        }
    }
}

static void text_guards(const il_harden *h, il_buf *b) {
    static const char *const opens[] = {"opens ",
                                        "bypass of ",
                                        "launders ",
                                        "lowers a confirmed taint in ",
                                        "an approval that nobody gave",
                                        "a count leaves its domain"};
    const il_model *m = h->subject.m;
    il_buf_puts(b, "\neach reject clause left out:\n");
    for (uint32_t a = 0; a < m->nactions; a++) {
        for (uint32_t k = 0; k < m->actions[a].nclauses; k++) {
            bool any = false;
            size_t from = b->n;
            il_buf_puts(b, "  ");
            il_buf_put(b, m->actions[a].name);
            il_buf_putc(b, ' ');
            il_buf_put(b, m->rules[m->actions[a].clauses[k].rule - 1].name);
            for (const il_guard_result *g = h->guards; g; g = g->next) {
                if (g->action != a || g->clause != k) {
                    continue;
                }
                if (any) {
                    il_buf_putc(b, '\n');
                    from = b->n;
                }
                any = true;
                text_pad(b, from, 34);
                il_buf_puts(b, opens[g->opens]);
                if (g->region < m->nregions) {
                    il_buf_put(b, m->regions[g->region].name);
                }
                il_buf_puts(b, ": ");
                il_trace_text(m, &g->witness, b);
            }
            if (!any) {
                text_pad(b, from, 34);
                il_buf_puts(b, h->bounded ? "not settled" : "protects no region");
            }
            il_buf_putc(b, '\n');
        }
    }
}

static void text_mediation(const il_harden *h, il_buf *b) {
    const il_model *m = h->subject.m;
    il_buf_puts(b, "\nwho writes what:\n");
    for (uint32_t v = 0; v < m->nvars; v++) {
        size_t from = b->n;
        il_buf_puts(b, "  ");
        il_buf_put(b, m->vars[v].name);
        text_pad(b, from, 14);
        il_buf_puts(b, " raised by ");
        text_actions(m, h->writers[v].raised_by, b);
        if (h->writers[v].lowered_by) {
            il_buf_puts(b, "; lowered by ");
            text_actions(m, h->writers[v].lowered_by, b);
        }
        il_buf_putc(b, '\n');
    }
}

static void text_rest(const il_harden *h, il_buf *b) {
    static const char *const states[] = {"not run", "failed as it must", "BROKEN: it did not fail", "not needed"};
    const il_model *m = h->subject.m;
    for (uint32_t r = 0; r < m->nregions; r++) {
        if (h->concessions[r].found) {
            il_buf_puts(b, "\nconceded by ");
            text_actions(m, h->subject.lowers, b);
            il_buf_puts(b, " (");
            il_buf_put(b, m->regions[r].name);
            il_buf_puts(b, "): ");
            il_trace_text(m, &h->concessions[r], b);
        }
    }
    if (h->recovery.ran) {
        const il_recovery *r = &h->recovery;
        il_buf_puts(b, "\nrecovery: ");
        il_buf_puts(b, r->strength == IL_RECOVERY_NONE ? "not established" : il_recovery_strength_name(r->strength));
        il_buf_puts(b, r->robust ? ", robust, " : ", fragile, ");
        il_buf_putu(b, r->danger);
        il_buf_puts(b, r->scope == IL_RECOVERY_PRODUCT
                           ? " danger states (scope: product, all there are)"
                           : " danger states (scope: reachable, those within one write of a reachable state)");
        if (r->strength == IL_RECOVERY_STRONG) {
            il_buf_puts(b, ", at most ");
            il_buf_putu(b, r->longest);
            il_buf_puts(b, " corrective steps");
        }
        il_buf_puts(b, r->restoration ? "; the result is restoration" : "; the result is containment");
        il_buf_puts(b, r->flight == IL_RECOVERY_LEGAL ? "; legal in flight" : "");
        if (r->lasso.found) {
            il_buf_puts(b, "\n  round: from ");
            il_state_text(m, r->lasso_from, b);
            il_buf_puts(b, ": ");
            il_trace_text(m, &r->lasso, b);
        }
    }
    if (h->table.n > 0) {
        il_buf_puts(b, "\nnever accepted: ");
        il_buf_putu(b, h->never_accepted);
        il_buf_puts(b, " of ");
        il_buf_putu(b, m->nsymbols);
        il_buf_puts(b, " symbols");
        il_buf_puts(b, "\nat rest: ");
        il_buf_putu(b, h->survey.terminal);
        il_buf_puts(b, " terminal states, ");
        il_buf_putu(b, h->survey.deadlocks);
        il_buf_puts(b, " deadlocks");
        if (h->survey.deadlock.found) {
            il_buf_puts(b, "; the nearest after: ");
            il_trace_text(m, &h->survey.deadlock, b);
        }
    }
    il_buf_puts(b, "\n\nnegative controls:\n");
    for (const il_control *c = h->controls; c; c = c->next) {
        il_buf_puts(b, "  ");
        il_buf_puts(b, c->what);
        il_buf_puts(b, ": ");
        il_buf_puts(b, states[c->state]);
        il_buf_putc(b, '\n');
    }
}

static void text_verdict(const il_harden *h, il_buf *b) {
    uint64_t raise = 0;
    uint64_t lower = 0;
    if (!h->fully_mediated) {
        const char *word = il_harden_verdict(h);
        il_buf_putc(b, '\n');
        il_buf_puts(b, word);
        il_buf_puts(b, h->exit == 4     ? ": an instrument failed\n"
                       : h->exit == 1   ? ": see the failed checks\n"
                       : word[0] == 'B' ? ": nothing failed before a bound was reached\n"
                                        : ": see the checks that are not settled\n");
        if (h->work_hit) {
            il_buf_puts(b, "the bound on work was reached: --max-work N sets another\n");
        }
        return;
    }
    il_unmediated_writes(h, &raise, &lower);
    il_buf_puts(b, "\nFULLY MEDIATED (given: labels, vouching, ledger; unmediated: ");
    if ((raise | lower) == 0) {
        il_buf_puts(b, "nothing");
    } else {
        text_vars(h->subject.m, raise, b);
        if ((lower & ~raise) != 0) {
            il_buf_puts(b, raise ? ", " : "");
            il_buf_puts(b, "lowering of ");
            text_vars(h->subject.m, lower & ~raise, b);
        }
    }
    il_buf_puts(b, ")\n");
}

il_status il_harden_text(const il_harden *h, il_arena *arena, il_str *out, il_error *err) {
    il_buf b;
    il_buf_init(&b, arena, (size_t)16 << 20);
    il_buf_puts(&b, "machine ");
    il_buf_put(&b, h->subject.m->name);
    il_buf_puts(&b, h->table.n > 0 ? ": " : ": explored ");
    il_buf_putu(&b, h->states);
    il_buf_puts(&b, " states, ");
    il_buf_putu(&b, h->edges);
    il_buf_puts(&b, " accepted steps, ");
    il_buf_putu(&b, h->subject.m->nsymbols);
    il_buf_puts(&b, " symbols\n\n");
    text_checks(h, &b);
    if (h->havoc || (h->unnamed[0] | h->unnamed[1]) != 0) {
        text_havoc(h, &b);
    }
    text_guards(h, &b);
    if (h->table.n > 0) {
        text_mediation(h, &b);
    }
    text_rest(h, &b);
    text_verdict(h, &b);
    return il_buf_done(&b, out, err);
}
