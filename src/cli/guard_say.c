/* SPDX-License-Identifier: Apache-2.0 */
/* What the guard prints: a line for each alarm and finding, as text or as NDJSON (docs/schemas/guard.schema.json), and one at
 * the end. */
#include <inttypes.h>

#include "cli/guard.h"
#include "cli/output.h"

static uint32_t say_rows(const guard_said *what, uint64_t out[GUARD_TRAIL]) {
    const guard_live *live = what->session ? what->session->live : NULL;
    const uint32_t n = !live ? 0 : live->nrows < GUARD_TRAIL ? live->nrows : GUARD_TRAIL;
    for (uint32_t i = 0; i < n; i++) {
        out[i] = live->rows[(live->nrows - n + i) % GUARD_TRAIL];
    }
    return n;
}

static uint32_t say_belief(const guard_said *what) {
    const guard_live *live = what->session ? what->session->live : NULL;
    return live && live->believes ? live->belief.n : 0;
}

/* ---- text ------------------------------------------------------------------------------------------ */

static void say_text_where(const guard_said *what) {
    (void)fputs(what->level ? "alarm: " : "finding: ", stdout);
    if (what->session) {
        (void)fputs("session ", stdout);
        il_put_text(stdout, il_str_of(what->session->id));
        (void)fputs(": ", stdout);
    }
    if (what->row) {
        (void)printf("row %" PRIu64 ": ", what->row);
    }
}

static void say_text(const guard_said *what) {
    uint64_t rows[GUARD_TRAIL];
    const uint32_t n = what->level ? say_rows(what, rows) : 0, belief = say_belief(what);
    say_text_where(what);
    if (what->region.n) {
        il_put_text(stdout, what->region);
        (void)fputs(": ", stdout);
    }
    (void)fputs(what->level ? what->level : what->what, stdout);
    if (what->level && what->what) {
        (void)printf(": %s", what->what);
    }
    if (what->in) {
        (void)printf(": %" PRIu32 " of %" PRIu32 " possible state%s", what->in, belief, belief == 1 ? "" : "s");
    }
    if (what->why) {
        (void)fputs(": ", stdout);
        il_put_text(stdout, il_str_of(what->why));
    }
    if (what->nsessions) {
        (void)fputs("; sessions", stdout);
        for (uint32_t i = 0; i < what->nsessions; i++) {
            (void)fputc(' ', stdout);
            il_put_text(stdout, il_str_of(what->sessions[i]));
        }
        if (what->others) {
            (void)printf(" and %" PRIu64 " more", what->others);
        }
    }
    if (n) {
        (void)fputs("; rows", stdout);
        for (uint32_t i = 0; i < n; i++) {
            (void)printf(" %" PRIu64, rows[i]);
        }
    }
    if (what->shield) {
        (void)printf("; shield %s", what->shield);
    }
    (void)fputc('\n', stdout);
}

/* ---- JSON ------------------------------------------------------------------------------------------- */

static il_json *say_string(il_arena *a, const char *z) {
    return z ? il_json_string(a, il_str_of(z)) : il_json_make(a, IL_JSON_NULL);
}

static bool say_set(il_json *o, const char *key, il_json *v) { return il_json_set(o, il_str_of(key), v); }

static il_status say_json(guard_run *run, const guard_said *what, il_error *err) {
    il_arena *a = &run->line;
    uint64_t rows[GUARD_TRAIL];
    const uint32_t n = say_rows(what, rows);
    il_json *o = il_json_make(a, IL_JSON_OBJECT), *trail = il_json_make(a, IL_JSON_ARRAY),
            *sessions = il_json_make(a, IL_JSON_ARRAY);
    bool made = true;
    for (uint32_t i = 0; i < n && made; i++) {
        made = il_json_push(trail, il_json_number(a, (int64_t)rows[i]));
    }
    for (uint32_t i = 0; i < what->nsessions && made; i++) {
        made = il_json_push(sessions, say_string(a, what->sessions[i]));
    }
    made = made && say_set(o, "kind", say_string(a, what->level ? "alarm" : "finding")) &&
           say_set(o, "level", say_string(a, what->level)) && say_set(o, "what", say_string(a, what->what)) &&
           say_set(o, "region", what->region.n ? il_json_string(a, what->region) : say_string(a, NULL)) &&
           say_set(o, "session", say_string(a, what->session ? what->session->id : NULL)) &&
           say_set(o, "row", what->row ? il_json_number(a, (int64_t)what->row) : say_string(a, NULL)) &&
           say_set(o, "belief", il_json_number(a, say_belief(what))) && say_set(o, "in_region", il_json_number(a, what->in)) &&
           say_set(o, "rows", trail) && say_set(o, "sessions", sessions) &&
           say_set(o, "more_sessions", il_json_number(a, (int64_t)what->others)) && say_set(o, "why", say_string(a, what->why)) &&
           say_set(o, "shield", say_string(a, what->shield));
    return made ? il_put_json(stdout, o, err) : il_arena_fail(a, err);
}

/* ---- both ------------------------------------------------------------------------------------------- */

il_status guard_say(guard_run *run, const guard_said *what, il_error *err) {
    run->nalarms += what->level ? 1 : 0;
    run->nfindings += what->level ? 0 : 1;
    il_arena_reset(&run->line);
    if (run->json) {
        return say_json(run, what, err);
    }
    say_text(what);
    return IL_OK;
}

static const char *say_word(il_exit code) {
    return code == IL_EXIT_FINE ? "quiet" : code == IL_EXIT_FINDING ? "ALARM" : "INCONCLUSIVE";
}

il_status guard_say_end(guard_run *run, il_exit code, il_error *err) {
    il_arena *a = &run->line;
    il_arena_reset(a);
    if (!run->json) {
        (void)printf("%s: %" PRIu64 " alarm%s, %" PRIu64 " finding%s; %" PRIu64 " row%s of %" PRIu32
                     " session%s, at most %" PRIu32 " state%s possible at once\n",
                     say_word(code), run->nalarms, run->nalarms == 1 ? "" : "s", run->nfindings, run->nfindings == 1 ? "" : "s",
                     run->nrows, run->nrows == 1 ? "" : "s", run->nsessions, run->nsessions == 1 ? "" : "s", run->most,
                     run->most == 1 ? "" : "s");
        return IL_OK;
    }
    il_json *o = il_json_make(a, IL_JSON_OBJECT);
    const bool made = say_set(o, "kind", say_string(a, "summary")) && say_set(o, "verdict", say_string(a, say_word(code))) &&
                      say_set(o, "alarms", il_json_number(a, (int64_t)run->nalarms)) &&
                      say_set(o, "findings", il_json_number(a, (int64_t)run->nfindings)) &&
                      say_set(o, "rows", il_json_number(a, (int64_t)run->nrows)) &&
                      say_set(o, "last_row", il_json_number(a, (int64_t)run->seq)) &&
                      say_set(o, "sessions", il_json_number(a, run->nsessions)) &&
                      say_set(o, "largest_belief", il_json_number(a, run->most)) && say_set(o, "exit", il_json_number(a, code));
    return made ? il_put_json(stdout, o, err) : il_arena_fail(a, err);
}
