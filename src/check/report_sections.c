/* SPDX-License-Identifier: Apache-2.0 */
/* The lesser sections of the report, in sentences and tables. */
#include "check/report_page_part.h"

/* Lists of names, each in a sentence; one that is empty is told too, by what that means. */
void il_page_lists(il_page *p, const il_json *o) {
    static const struct {
        const char *key, *some, *none;
    } rows[] = {
        {"unmediated", "Written by actions that are neither gate nor corrective: ", "Every write is a gate's or a correction's."},
        {"frozen", "Variables that never leave their first value: ", "Every variable moves."},
        {"never_fired", "Rules that never refuse anything: ", "Every rule refuses something."},
        {"idle_gates", "Gates that hold nothing shut: ", "Every gate holds something shut."},
    };
    il_page_heading(p, 2, IL_STR("What moves, and what does not"));
    il_page_list(p, false);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const il_json *v = page_get(o, rows[i].key);
        if (!page_there(v)) {
            continue;
        }
        il_page_item(p);
        il_page_word(p, il_json_first(v) ? rows[i].some : rows[i].none);
        if (il_json_first(v)) {
            il_page_any(p, v, 1);
            il_page_word(p, ".");
        }
        il_page_item_end(p);
    }
    il_page_list_end(p);
}

void il_page_bounds(il_page *p, const il_json *bounds) {
    il_page_heading(p, 2, IL_STR("Bounds"));
    il_page_open(p);
    il_page_word(p, il_json_bool(page_get(bounds, "hit")) ? "A bound was reached: what is not found is not shown to be absent. "
                                                          : "No bound was reached: everything was explored. ");
    const bool named = !il_str_eq(page_str(bounds, "states"), IL_STR("0")),
               work = !il_str_eq(page_str(bounds, "work"), IL_STR("0"));
    il_page_word(p, "Each exploration could take ");
    il_page_text(p, named ? page_str(bounds, "states") : IL_STR("2^24"));
    il_page_word(p, " states, all together ");
    il_page_text(p, work ? page_str(bounds, "work") : IL_STR("2^33"));
    il_page_word(p, " steps of work.");
    il_page_close(p);
}

/* What a monitor would notice, as `interlock diagnose` says it. */
static void page_known(il_page *p, const il_json *line, const il_json *twin) {
    if (page_there(twin) && il_str_eq(page_str(line, "verdict"), IL_STR("PASS"))) {
        il_page_text(p, page_str(twin, "k"));
    }
}

void il_page_diagnosis(il_page *p, const il_json *d) {
    static const char *const heads[] = {"verdict", "region", "finding", "steps until it is known"};
    static const il_page_column keys[] = {
        {"verdict", il_page_judged}, {.key = "region"}, {.key = "finding"}, {"twin", page_known}};
    il_page_heading(p, 2, IL_STR("Would a monitor notice"));
    il_page_table(p, heads, sizeof heads / sizeof heads[0]);
    for (const il_json *c = il_json_first(page_get(d, "checks")); c; c = il_json_next(c)) {
        if (il_str_eq(page_str(c, "id"), IL_STR("diagnosis"))) {
            il_page_cells(p, c, keys, sizeof keys / sizeof keys[0]);
        }
    }
    il_page_table_end(p);
    for (const il_json *c = il_json_first(page_get(d, "checks")); c; c = il_json_next(c)) {
        if (!il_str_eq(page_str(c, "id"), IL_STR("wormholes"))) {
            continue;
        }
        il_page_open(p);
        il_page_text(p, page_str(c, "diagnosed"));
        il_page_word(p, " of ");
        il_page_text(p, page_str(c, "distinct"));
        il_page_word(p, " ways into a region that a flaw below the machine could make would be noticed in time; ");
        il_page_text(p, page_str(c, "undetectable"));
        il_page_word(p, " cannot be, by construction. ");
        il_page_code(p, IL_STR("interlock diagnose"));
        il_page_word(p, " has each with its witness.");
        il_page_close(p);
    }
}

void il_page_confirmers(il_page *p, const il_json *list) {
    static const char *const heads[] = {"tool", "what it said of this table"};
    static const il_page_column keys[] = {{.key = "by"}, {.key = "says"}};
    il_page_heading(p, 2, IL_STR("Confirmed by other tools"));
    if (!il_json_first(list)) {
        il_page_open(p);
        il_page_word(p, "None recorded.");
        il_page_close(p);
        return;
    }
    il_page_table(p, heads, 2);
    for (const il_json *c = il_json_first(list); c; c = il_json_next(c)) {
        il_page_cells(p, c, keys, 2);
    }
    il_page_table_end(p);
}

static bool page_is(const il_json *o, const char *key, const char *word) { return il_str_eq(page_str(o, key), il_str_of(word)); }

/* `from` and the steps of a way that a check of recovery or stickiness found. */
static void page_way(il_page *p, const il_json *way) {
    il_page_word(p, "from ");
    il_page_values(p, page_get(way, "from"));
    il_page_word(p, " by ");
    il_page_any(p, page_get(way, "steps"), 1);
}

void il_page_recovery(il_page *p, const il_json *r) {
    static const char *const said[][2] = {{"STRONG", "every order of corrective steps leads to the goal, within "},
                                          {"WEAK", "corrective steps can go round, and the goal stays within reach"},
                                          {"NONE", "the goal is not reached from everywhere"}};
    il_page_heading(p, 2, IL_STR("Recovery"));
    il_page_open(p);
    il_page_word(p, "From each of the ");
    il_page_text(p, page_str(r, "danger"));
    il_page_word(p, page_is(r, "scope", "product") ? " states inside a region, reachable or not: "
                                                   : " states inside a region that are within one write of a reachable one: ");
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        il_page_word(p, page_is(r, "strength", said[i][0]) ? said[i][1] : "");
    }
    if (page_is(r, "strength", "STRONG")) {
        il_page_text(p, page_str(r, "longest"));
        il_page_word(p, " steps");
    }
    il_page_word(p, il_json_bool(page_get(r, "robust")) ? ", whatever others do in between. "
                    : page_is(r, "strength", "NONE")    ? ". "
                                                        : ". Others can undo it. ");
    il_page_word(p, page_is(r, "result", "restoration") ? "The initial state is restored."
                                                        : "It contains: the session is over, and what was read stays read.");
    il_page_word(p, page_is(r, "in_flight", "not legal") ? " With a call in flight no single corrective step freezes."
                    : page_is(r, "in_flight", "legal")   ? " One corrective step freezes, whatever is in flight."
                                                         : "");
    il_page_close(p);
    if (!il_json_first(page_get(r, "findings")) && !page_there(page_get(r, "lasso"))) {
        return;
    }
    il_page_list(p, false);
    for (const il_json *f = il_json_first(page_get(r, "findings")); f; f = il_json_next(f)) {
        il_page_item(p);
        il_page_strong(p, page_str(f, "finding"));
        if (page_there(page_get(f, "witness"))) {
            il_page_word(p, ": ");
            page_way(p, page_get(f, "witness"));
        }
        il_page_item_end(p);
    }
    if (page_there(page_get(r, "lasso"))) {
        il_page_item(p);
        il_page_word(p, "The shortest round: ");
        page_way(p, page_get(r, "lasso"));
        il_page_item_end(p);
    }
    il_page_list_end(p);
}

void il_page_sticky(il_page *p, const il_json *s) {
    il_page_heading(p, 2, IL_STR("What is sticky"));
    il_page_open(p);
    il_page_any(p, page_get(s, "variables"), 1);
    if (page_there(page_get(s, "lowered"))) {
        il_page_word(p, ": ");
        il_page_text(p, page_str(s, "lowered"));
        il_page_word(p, " is lowered, from ");
        il_page_values(p, page_get(s, "from"));
        il_page_word(p, " by ");
        il_page_any(p, page_get(s, "witness"), 1);
        il_page_word(p, ".");
    } else {
        il_page_word(p, page_is(s, "scope", "product") ? ": no step of a session lowers it, and no correction from any state."
                                                       : ": no step that was looked at lowers it.");
    }
    il_page_close(p);
}

void il_page_survey(il_page *p, const il_json *s) {
    il_page_heading(p, 2, IL_STR("At rest"));
    il_page_open(p);
    il_page_text(p, page_str(s, "terminal"));
    il_page_word(p, " reachable states are the end of a session, and ");
    il_page_text(p, page_str(s, "deadlocks"));
    il_page_word(p, " others are left by no step");
    if (page_there(page_get(s, "deadlock"))) {
        il_page_word(p, "; the nearest after ");
        il_page_any(p, page_get(s, "deadlock"), 1);
    }
    il_page_word(p, ".");
    if (page_there(page_get(s, "saturated")) && il_json_first(page_get(s, "saturated"))) {
        il_page_word(p, " Counters that are at their ceiling somewhere: ");
        il_page_any(p, page_get(s, "saturated"), 2);
        il_page_word(p, ".");
    }
    il_page_close(p);
}

void il_page_sessions(il_page *p, const il_json *s) {
    const bool usable = il_json_bool(page_get(s, "usable"));
    il_page_heading(p, 2, IL_STR("Sessions"));
    il_page_open(p);
    il_page_word(p, usable ? "The monitor can keep sessions with this machine."
                           : "The monitor can keep no sessions with this machine: ");
    il_page_text(p, page_str(s, "why"));
    il_page_word(p, usable ? "" : ".");
    il_page_close(p);
}

/* Labels of which one error is enough. */
void il_page_mislabel(il_page *p, const il_json *m) {
    static const char *const heads[] = {"label", "the error", "region", "then"};
    static const il_page_column keys[] = {{.key = "tool"}, {.key = "forgets"}, {.key = "region"}, {.key = "witness"}};
    il_page_heading(p, 2, IL_STR("Single points of failure"));
    il_page_open(p);
    if (page_is(m, "labels", "0")) {
        il_page_word(p, "No label of a call is a word of this machine.");
        il_page_close(p);
        return;
    }
    il_page_text(p, page_str(m, "labels_with_points"));
    il_page_word(p, " of ");
    il_page_text(p, page_str(m, "labels"));
    il_page_word(p, " labels have an error that alone opens a region. Of ");
    il_page_text(p, page_str(m, "errors"));
    il_page_word(p, " single errors ");
    il_page_text(p, page_str(m, "unseen"));
    il_page_word(p, " say the same to this machine, and ");
    il_page_text(p, page_str(m, "not_settled"));
    il_page_word(p, " were not settled.");
    il_page_close(p);
    if (!il_json_first(page_get(m, "points"))) {
        return;
    }
    il_page_table(p, heads, sizeof heads / sizeof heads[0]);
    for (const il_json *c = il_json_first(page_get(m, "points")); c; c = il_json_next(c)) {
        il_page_cells(p, c, keys, sizeof keys / sizeof keys[0]);
    }
    il_page_table_end(p);
}
