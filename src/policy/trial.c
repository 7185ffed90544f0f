/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/trial.h"

#include "policy/compiled.h"

#define IL_TRIALS_MAX 1000u
#define IL_TRIAL_STEPS_MAX 1000u
#define IL_TRIAL_BYTES ((size_t)4 << 20) /* of one value */

/* A document need not outlive its policy. */
static il_status il_trial_copy(const il_json *v, il_arena *arena, const il_json **out, il_error *err) {
    il_buf b;
    il_str text = {0};
    il_json *copy = NULL;
    il_buf_init(&b, arena, IL_TRIAL_BYTES);
    il_json_write(&b, v, IL_JSON_AS_READ);
    IL_TRY(il_buf_done(&b, &text, err));
    IL_TRY(il_json_parse(arena, text, NULL, &copy, err));
    *out = copy;
    return IL_OK;
}

static il_status il_trial_text(const il_json *object, il_str key, il_arena *arena, il_str *out, il_error *err) {
    const il_json *v = il_json_get(object, key);
    *out = (il_str){0};
    if (v == NULL) {
        return IL_OK;
    }
    if (il_json_kind_of(v) != IL_JSON_STRING) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`%.*s` is a text", IL_STR_ARG(key));
    }
    return il_arena_copy(arena, il_json_text(v), out, err);
}

static il_status il_trial_step_load(const il_json *v, il_arena *arena, il_trial_step *out, il_error *err) {
    static const il_str keys[] = {{"call", 4}, {"args", 4}, {"result", 6}, {"error", 5}, {"approved", 8}, {"expect", 6}};
    *out = (il_trial_step){.expect = IL_THEN_ALLOW, .line = il_json_line(v), .col = il_json_col(v)};
    IL_TRY(il_json_only(v, keys, 6, "a step", err));
    const il_json *args = il_json_get(v, keys[1]), *result = il_json_get(v, keys[2]), *approved = il_json_get(v, keys[4]);
    const il_json *expect = il_json_get(v, keys[5]);
    IL_TRY(il_trial_text(v, keys[0], arena, &out->call, err));
    IL_TRY(il_trial_text(v, keys[3], arena, &out->error, err));
    if (out->call.n == 0) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "a step needs `call`, such as `mail.send`");
    }
    if (args != NULL && il_json_kind_of(args) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(args, err, IL_E_INVALID, "`args` is a map");
    }
    if (approved != NULL && il_json_kind_of(approved) != IL_JSON_BOOL) {
        return IL_JSON_FAIL(approved, err, IL_E_INVALID, "`approved` is true or false");
    }
    out->approved = il_json_bool(approved);
    IL_TRY(args != NULL ? il_trial_copy(args, arena, &out->args, err) : IL_OK);
    IL_TRY(result != NULL && il_json_kind_of(result) != IL_JSON_NULL ? il_trial_copy(result, arena, &out->result, err) : IL_OK);
    return expect != NULL ? il_then_read(expect, "`expect`", &out->expect, err) : IL_OK;
}

static il_status il_trial_load(const il_json *v, il_arena *arena, il_trial *out, il_error *err) {
    static const il_str keys[] = {{"name", 4}, {"prompt", 6}, {"agent", 5}, {"steps", 5}};
    *out = (il_trial){.line = il_json_line(v), .col = il_json_col(v)};
    IL_TRY(il_json_only(v, keys, 4, "a test", err));
    const il_json *steps = il_json_get(v, keys[3]);
    IL_TRY(il_trial_text(v, keys[0], arena, &out->name, err));
    IL_TRY(il_trial_text(v, keys[1], arena, &out->prompt, err));
    IL_TRY(il_trial_text(v, keys[2], arena, &out->agent, err));
    if (out->name.n == 0) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "a test needs a `name`");
    }
    if (il_json_kind_of(steps) != IL_JSON_ARRAY || il_json_count(steps) == 0) {
        return IL_JSON_FAIL(steps != NULL ? steps : v, err, IL_E_INVALID,
                            "`steps` is a list such as { call: mail.send, args: {}, expect: block }");
    }
    if (il_json_count(steps) > IL_TRIAL_STEPS_MAX) {
        return IL_JSON_FAIL(steps, err, IL_E_LIMIT, "more than %u steps", IL_TRIAL_STEPS_MAX);
    }
    out->steps = IL_NEW_ARRAY(arena, il_trial_step, il_json_count(steps));
    if (out->steps == NULL) {
        return il_arena_fail(arena, err);
    }
    for (const il_json *s = il_json_first(steps); s != NULL; s = il_json_next(s)) {
        IL_TRY(il_trial_step_load(s, arena, &out->steps[out->nsteps++], err));
    }
    return IL_OK;
}

il_status il_trials_load(const il_json *v, il_arena *arena, il_trials *out, il_error *err) {
    *out = (il_trials){0};
    if (v == NULL) {
        return IL_OK;
    }
    if (il_json_kind_of(v) != IL_JSON_ARRAY || il_json_count(v) == 0) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID,
                            "`tests` is a list such as { name: ..., steps: [{ call: mail.send, expect: block }] }");
    }
    if (il_json_count(v) > IL_TRIALS_MAX) {
        return IL_JSON_FAIL(v, err, IL_E_LIMIT, "more than %u tests", IL_TRIALS_MAX);
    }
    out->list = IL_NEW_ARRAY(arena, il_trial, il_json_count(v));
    if (out->list == NULL) {
        return il_arena_fail(arena, err);
    }
    for (const il_json *t = il_json_first(v); t != NULL; t = il_json_next(t)) {
        IL_TRY(il_trial_load(t, arena, &out->list[out->n++], err));
    }
    return IL_OK;
}

const il_trials *il_policy_trials(const il_policy *p) {
    static const il_trials none = {0};
    return p != NULL ? &p->trials : &none;
}
