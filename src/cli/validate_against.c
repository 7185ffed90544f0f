/* SPDX-License-Identifier: Apache-2.0 */
/* What one policy decides otherwise than another, for people and for programs. Each example is decided by a monitor under both before it is said. */
#include "cli/validate_against.h"

#include <inttypes.h>
#include <string.h>

#include "base/sha256.h"
#include "cli/judge.h"
#include "cli/output.h"
#include "interlock/host.h"
#include "policy/compiled.h"

#define AGAINST_ARENA_BYTES ((size_t)2 << 30)

typedef struct against_run {
    const char *path[2];
    bool json;
    il_bundle *bundle[2];
    il_judge *judge[2];
    il_arena arena;
    il_json *findings;
} against_run;

static il_status against_confirm(void *ctx, const il_against_finding *f, bool *agrees, il_error *err) {
    against_run *run = ctx;
    const il_against_side *sides[] = {&f->policy, &f->other};
    *agrees = true;
    for (int i = 0; i < 2 && *agrees; i++) {
        il_against_side got;
        IL_TRY(il_judge_against(run->judge[i], &f->call, &got, err));
        /* of a call that is blocked since a condition errs the monitor says no effects */
        *agrees = got.action == sides[i]->action &&
                  (got.action == IL_THEN_BLOCK || (got.effects == sides[i]->effects && got.sink == sides[i]->sink));
    }
    return IL_OK;
}

/* ---- as text ---------------------------------------------------------------------------------------------- */

static const char *against_sink(il_sink_word sink) {
    static const char *const words[] = {NULL, "once", "standing"};
    return words[sink];
}

static void against_put_side(const il_against_side *s, bool effects, const char *path) {
    (void)fputs(il_then_word(s->action), stdout);
    if (effects) {
        (void)fputs(s->effects ? " as " : " as nothing", stdout);
        if (s->effects) {
            il_put_effects(stdout, s->effects);
        }
        (void)printf("%s%s", s->sink != IL_SINK_NONE ? ", " : "", s->sink != IL_SINK_NONE ? against_sink(s->sink) : "");
    }
    if (s->layer) {
        (void)printf(" (%s: %.*s)", s->layer, IL_STR_ARG(s->reason));
    }
    (void)fputs(" by ", stdout);
    il_put_text(stdout, il_str_of(path));
}

static il_status against_put_call(against_run *run, const il_against_call *c, il_error *err) {
    il_buf b;
    il_str args;
    il_buf_init(&b, &run->arena, (size_t)1 << 20);
    il_json_write(&b, c->args, IL_JSON_AS_READ);
    IL_TRY(il_buf_done(&b, &args, err));
    (void)fputs("    call     ", stdout);
    il_put_text(stdout, c->name);
    (void)fputc(' ', stdout);
    il_put_text(stdout, args);
    (void)fputs("\n    session  holds ", stdout);
    if (c->held) {
        il_put_effects(stdout, c->held);
    } else {
        (void)fputs("nothing", stdout);
    }
    if (c->agent.n) {
        (void)fputs("; agent ", stdout);
        il_put_text(stdout, c->agent);
    }
    if (c->typed.n) {
        (void)fputs("; a human typed: ", stdout);
        il_put_text(stdout, c->typed);
    }
    if (c->source.n) {
        (void)fputs("; the arguments are labelled: from ", stdout);
        il_put_text(stdout, c->source);
    }
    (void)fputs(c->marked ? "; every store is labelled with everything\n" : "\n", stdout);
    return IL_OK;
}

#define AGAINST_SHOWN 4u /* names beside the first */

static void against_put_about(const il_against_finding *f) {
    il_put_text(stdout, f->about);
    for (uint32_t i = 0; i < f->nalike && i < AGAINST_SHOWN; i++) {
        (void)fputs(", ", stdout);
        il_put_text(stdout, f->alike[i]);
    }
    if (f->nalike > AGAINST_SHOWN) {
        (void)printf(" and %" PRIu32 " more", f->nalike - AGAINST_SHOWN);
    }
}

static il_status against_put(against_run *run, const il_against_finding *f, il_error *err) {
    against_put_about(f);
    switch (f->kind) {
    case IL_AGAINST_UNKNOWN:
        (void)fputs(": unknown: ", stdout);
        il_put_text(stdout, f->text);
        (void)fputs("; no call was found that shows a difference\n", stdout);
        return IL_OK;
    case IL_AGAINST_SETTING:
        (void)fputs(": ", stdout);
        il_put_text(stdout, f->text);
        (void)fputc('\n', stdout);
        return IL_OK;
    case IL_AGAINST_CALL:
    case IL_AGAINST_AFTER:
        break;
    }
    (void)fputs(": ", stdout);
    against_put_side(&f->policy, f->kind == IL_AGAINST_AFTER, run->path[0]);
    (void)fputs(", ", stdout);
    against_put_side(&f->other, f->kind == IL_AGAINST_AFTER, run->path[1]);
    (void)fputc('\n', stdout);
    return against_put_call(run, &f->call, err);
}

/* ---- as JSON ---------------------------------------------------------------------------------------------- */

static bool against_add(il_json *object, const char *key, il_json *value) { return il_json_set(object, il_str_of(key), value); }

/* Copied: a finding lives until the next one. null when empty. */
static il_json *against_text(against_run *run, il_str s) {
    il_str copy;
    if (s.n == 0) {
        return il_json_make(&run->arena, IL_JSON_NULL);
    }
    return il_arena_copy(&run->arena, s, &copy, NULL) == IL_OK ? il_json_string(&run->arena, copy) : NULL;
}

static il_json *against_word(against_run *run, const char *word) {
    return against_text(run, word ? il_str_of(word) : (il_str){0});
}

static il_json *against_side(against_run *run, const il_against_side *s) {
    il_json *object = il_json_make(&run->arena, IL_JSON_OBJECT);
    return against_add(object, "action", against_word(run, il_then_word(s->action))) &&
                   against_add(object, "layer", against_word(run, s->layer)) &&
                   against_add(object, "reason", against_text(run, s->reason)) &&
                   against_add(object, "effects", il_json_effects(&run->arena, s->effects)) &&
                   against_add(object, "sink", against_word(run, against_sink(s->sink)))
               ? object
               : NULL;
}

static il_json *against_args(against_run *run, const il_json *args) {
    il_buf b;
    il_str text;
    il_json *copy = NULL;
    il_buf_init(&b, &run->arena, (size_t)1 << 20);
    il_json_write(&b, args, IL_JSON_AS_READ);
    return il_buf_done(&b, &text, NULL) == IL_OK && il_json_parse(&run->arena, text, NULL, &copy, NULL) == IL_OK ? copy : NULL;
}

static il_json *against_call(against_run *run, const il_against_call *c) {
    il_json *object = il_json_make(&run->arena, IL_JSON_OBJECT);
    return against_add(object, "tool", against_text(run, c->name)) && against_add(object, "args", against_args(run, c->args)) &&
                   against_add(object, "held", il_json_effects(&run->arena, c->held)) &&
                   against_add(object, "agent", against_text(run, c->agent)) &&
                   against_add(object, "typed", against_text(run, c->typed)) &&
                   against_add(object, "source", against_text(run, c->source)) &&
                   against_add(object, "stores_labelled", il_json_boolean(&run->arena, c->marked))
               ? object
               : NULL;
}

static il_status against_keep(against_run *run, const il_against_finding *f, il_error *err) {
    const bool call = f->kind == IL_AGAINST_CALL || f->kind == IL_AGAINST_AFTER;
    il_json *object = il_json_make(&run->arena, IL_JSON_OBJECT), *alike = il_json_make(&run->arena, IL_JSON_ARRAY);
    bool made = against_add(object, "kind", against_word(run, il_against_word(f->kind))) &&
                against_add(object, "about", against_text(run, f->about)) && against_add(object, "alike", alike) &&
                against_add(object, "text", against_text(run, f->text));
    for (uint32_t i = 0; i < f->nalike && made; i++) {
        made = il_json_push(alike, against_text(run, f->alike[i]));
    }
    if (made && call) {
        const char *direction = f->kind == IL_AGAINST_AFTER ? NULL : f->wider ? "wider" : "narrower";
        made = against_add(object, "direction", against_word(run, direction)) &&
               against_add(object, "call", against_call(run, &f->call)) &&
               against_add(object, "policy", against_side(run, &f->policy)) &&
               against_add(object, "other", against_side(run, &f->other));
    }
    return made && il_json_push(run->findings, object) ? IL_OK : il_arena_fail(&run->arena, err);
}

static il_status against_found(void *ctx, const il_against_finding *f, il_error *err) {
    against_run *run = ctx;
    return run->json ? against_keep(run, f, err) : against_put(run, f, err);
}

/* ---- the whole -------------------------------------------------------------------------------------------- */

static const char *against_answer(const il_against_sum *sum) {
    return sum->wider + sum->narrower + sum->after + sum->settings ? "differ" : sum->unknown ? "unknown" : "same";
}

static il_json *against_fingerprint(against_run *run, int side) {
    uint8_t digest[IL_DIGEST_BYTES];
    char hex[IL_DIGEST_HEX];
    il_policy_fingerprint(il_bundle_policy(run->bundle[side]), digest);
    il_digest_hex(digest, hex);
    return against_word(run, hex);
}

static il_status against_report(against_run *run, const il_against_sum *sum, il_error *err) {
    static const char *const words[] = {"classes", "same", "wider", "narrower", "after", "settings", "unknown"};
    const uint32_t numbers[] = {sum->classes, sum->same, sum->wider, sum->narrower, sum->after, sum->settings, sum->unknown};
    if (!run->json) {
        il_put_text(stdout, il_str_of(run->path[0]));
        (void)fputs(" against ", stdout);
        il_put_text(stdout, il_str_of(run->path[1]));
        (void)printf(": %s; of %" PRIu32 " kind%s of tools %" PRIu32 " proven the same; %" PRIu32 " wider, %" PRIu32
                     " narrower, %" PRIu32 " otherwise after, %" PRIu32 " setting%s, %" PRIu32 " unknown\n",
                     against_answer(sum), sum->classes, sum->classes == 1 ? "" : "s", sum->same, sum->wider, sum->narrower,
                     sum->after, sum->settings, sum->settings == 1 ? "" : "s", sum->unknown);
        return IL_OK;
    }
    il_json *report = il_json_make(&run->arena, IL_JSON_OBJECT), *summary = il_json_make(&run->arena, IL_JSON_OBJECT);
    bool made = against_add(report, "answer", against_word(run, against_answer(sum))) &&
                against_add(report, "policy", against_fingerprint(run, 0)) &&
                against_add(report, "other", against_fingerprint(run, 1)) && against_add(report, "findings", run->findings) &&
                against_add(report, "summary", summary);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        made = made && against_add(summary, words[i], il_json_number(&run->arena, numbers[i]));
    }
    return made ? il_put_json(stdout, report, err) : il_arena_fail(&run->arena, err);
}

static il_exit against_all(against_run *run) {
    il_error err = {0};
    il_against_sum sum;
    run->findings = il_json_make(&run->arena, IL_JSON_ARRAY);
    for (int i = 0; i < 2; i++) {
        if (il_bundle_load(il_host_alloc(), run->path[i], &run->bundle[i], &err) != IL_OK) {
            return il_fail(run->path[i], &err);
        }
        if (il_judge_new(il_bundle_policy(run->bundle[i]), false, &run->judge[i], &err) != IL_OK) {
            return il_fail(NULL, &err);
        }
    }
    const il_against_ask ask = {.policy = il_bundle_policy(run->bundle[0]),
                                .other = il_bundle_policy(run->bundle[1]),
                                .ctx = run,
                                .confirm = against_confirm,
                                .found = against_found};
    if (il_policy_against(&ask, &run->arena, &sum, &err) != IL_OK || against_report(run, &sum, &err) != IL_OK) {
        return il_fail(NULL, &err);
    }
    return strcmp(against_answer(&sum), "same") == 0     ? IL_EXIT_FINE
           : strcmp(against_answer(&sum), "differ") == 0 ? IL_EXIT_FINDING
                                                         : IL_EXIT_INCONCLUSIVE;
}

il_exit il_validate_against(const char *policy, const char *other, bool json) {
    against_run run = {.path = {policy, other}, .json = json};
    il_arena_init(&run.arena, il_host_alloc(), AGAINST_ARENA_BYTES);
    const il_exit code = against_all(&run);
    for (int i = 0; i < 2; i++) {
        il_judge_free(run.judge[i]);
        il_bundle_free(run.bundle[i]);
    }
    il_arena_free(&run.arena);
    return code;
}
