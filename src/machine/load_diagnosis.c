/* SPDX-License-Identifier: Apache-2.0 */
/* The section `diagnosis` (machine/diagnosis.h has its shape). Expressions are compiled over `pre`, as those of state regions are; names may have an
 * index, as everywhere in a machine. */
#include "machine/diagnosis.h"
#include "machine/load.h"

typedef struct load_diagnosis {
    il_loader *l;
    il_diagnosis *d;
} load_diagnosis;

/* What an error about a member's key is positioned at. */
static const il_json *load_diagnosis_key(const il_json *member, il_json *room) {
    *room = *member;
    room->line = member->key_line;
    room->col = member->key_col;
    room->offset = member->key_offset;
    return room;
}

static il_status load_diagnosis_map(load_diagnosis *x, const il_json *v, const char *key, uint32_t max) {
    if (il_json_kind_of(v) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(v, x->l->err, IL_E_INVALID, "`%s` of `diagnosis` must be a map", key);
    }
    if (il_json_count(v) == 0 || il_json_count(v) > max) {
        return IL_JSON_FAIL(v, x->l->err, IL_E_LIMIT, "`%s` of `diagnosis` has %s; leave it out, or name 1 to %u", key,
                            il_json_count(v) ? "too many entries" : "no entry", (unsigned)max);
    }
    return IL_OK;
}

/* `cap[net]` of the base `cap`. */
static bool load_diagnosis_member(il_str name, il_str base) {
    return name.n > base.n + 1 && il_str_starts(name, base) && name.p[base.n] == '[';
}

/* Which of `n` names a mention means: one, or with `cap[*]` and `cap[c]` all members. Bits; none is an error. */
static il_status load_diagnosis_named(load_diagnosis *x, const il_json *at, il_str text, const char *kind, const il_str *names,
                                      uint32_t n, uint64_t *out) {
    il_load_named named = {0};
    IL_TRY(il_load_name(x->l, at, text, &named));
    *out = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool member = (named.every || named.open) && load_diagnosis_member(names[i], named.base);
        *out |= member || il_str_eq(names[i], named.name) ? UINT64_C(1) << i : 0;
    }
    return *out ? IL_OK : il_load_unknown(x->l, at, kind, text, names, n);
}

static void load_diagnosis_vars(const load_diagnosis *x, il_str names[IL_MODEL_VARS_MAX]) {
    for (uint32_t v = 0; v < x->l->m->nvars; v++) {
        names[v] = x->l->m->vars[v].name;
    }
}

/* A list of names as bits. */
static il_status load_diagnosis_list(load_diagnosis *x, const il_json *list, const char *kind, const il_str *names, uint32_t n,
                                     uint64_t *out) {
    *out = 0;
    for (const il_json *v = il_json_first(list); v; v = il_json_next(v)) {
        uint64_t some = 0;
        IL_TRY(load_diagnosis_named(x, v, il_json_text(v), kind, names, n, &some));
        if (*out & some) {
            return IL_JSON_FAIL(v, x->l->err, IL_E_INVALID, "%s `%.*s` is listed twice", kind, IL_STR_ARG(v->text));
        }
        *out |= some;
    }
    return IL_OK;
}

static il_status load_sees(load_diagnosis *x, const il_json *list) {
    il_str names[IL_MODEL_VARS_MAX] = {{0}};
    if (!list) {
        return IL_OK; /* the default stands */
    }
    if (il_json_kind_of(list) != IL_JSON_ARRAY) {
        return IL_JSON_FAIL(list, x->l->err, IL_E_INVALID, "`sees` must be a list of variables; `[]` when none is seen");
    }
    load_diagnosis_vars(x, names);
    return load_diagnosis_list(x, list, "variable", names, x->l->m->nvars, &x->d->sees);
}

static il_status load_sensor(load_diagnosis *x, const il_load_instance *one, il_sensor *s) {
    const il_json *v = one->v;
    il_json at;
    IL_TRY(il_load_slug(x->l, v, one->base, true, "sensor"));
    if (il_model_var(x->l->m, one->name) != UINT32_MAX) { /* --see and the advice name either */
        return IL_JSON_FAIL(load_diagnosis_key(v, &at), x->l->err, IL_E_INVALID,
                            "`%.*s` is a variable; give the sensor another name", IL_STR_ARG(one->name));
    }
    s->name = one->name;
    s->line = v->key_line;
    s->col = v->key_col;
    IL_TRY(il_load_over_pre(x->l, v, IL_CEL_BOOL, &s->reads));
    x->d->nsensors++;
    if (x->l->m->bits + x->d->nsensors > 64) {
        return IL_JSON_FAIL(load_diagnosis_key(v, &at), x->l->err, IL_E_LIMIT,
                            "a state of %u bits and its sensors are wider than 64 bits; declare fewer sensors",
                            (unsigned)x->l->m->bits);
    }
    return IL_OK;
}

static il_status load_sensors(load_diagnosis *x, const il_json *map) {
    il_load_instance *all = NULL;
    uint32_t n = 0;
    if (!map) {
        return IL_OK;
    }
    IL_TRY(load_diagnosis_map(x, map, "sensors", IL_SENSORS_MAX));
    IL_TRY(il_load_instances(x->l, map, "sensor", "sensors", IL_SENSORS_MAX, &all, &n));
    x->d->sensors = IL_NEW_ARRAY(x->l->arena, il_sensor, n);
    if (!x->d->sensors) {
        return il_arena_fail(x->l->arena, x->l->err);
    }
    for (uint32_t i = 0; i < n; i++) {
        il_load_bind(x->l, all[i].family, all[i].member);
        IL_TRY(load_sensor(x, &all[i], &x->d->sensors[i]));
    }
    il_load_bind(x->l, x->l->families.n, 0);
    return IL_OK;
}

static il_status load_uses(load_diagnosis *x, const il_json *list) {
    il_str names[IL_SENSORS_MAX] = {{0}};
    uint64_t uses = 0;
    if (!list) {
        return IL_OK;
    }
    if (il_json_kind_of(list) != IL_JSON_ARRAY) {
        return IL_JSON_FAIL(list, x->l->err, IL_E_INVALID, "`uses` must be a list of sensors");
    }
    for (uint32_t i = 0; i < x->d->nsensors; i++) {
        names[i] = x->d->sensors[i].name;
    }
    IL_TRY(load_diagnosis_list(x, list, "sensor", names, x->d->nsensors, &uses));
    x->d->uses = (uint32_t)uses;
    return IL_OK;
}

/* One update, or with an index that nothing binds one for each member. */
static il_status load_fault_update(load_diagnosis *x, const il_json *u, il_silent *s) {
    il_loader *l = x->l;
    il_json room;
    const il_json *at = load_diagnosis_key(u, &room);
    il_str names[IL_MODEL_VARS_MAX] = {{0}};
    il_load_named named = {0};
    uint64_t vars = 0;
    load_diagnosis_vars(x, names);
    IL_TRY(il_load_name(l, at, u->key, &named));
    IL_TRY(load_diagnosis_named(x, at, u->key, "variable", names, l->m->nvars, &vars));
    size_t member = 0;
    for (; vars != 0; vars &= vars - 1, member++) {
        il_update *out = &s->updates[s->nupdates++];
        out->var = (uint32_t)__builtin_ctzll(vars);
        out->line = u->line;
        out->col = u->col;
        for (uint32_t k = 0; k + 1 < s->nupdates; k++) {
            if (s->updates[k].var == out->var) {
                return IL_JSON_FAIL(at, l->err, IL_E_INVALID, "`%.*s` is set twice", IL_STR_ARG(names[out->var]));
            }
        }
        if (named.open) { /* members are declared in their order, one after the other */
            il_load_bind(l, named.family, member);
        }
        IL_TRY(il_load_over_pre(l, u, l->m->vars[out->var].domain.type.kind, &out->value));
        if (named.open) {
            il_load_bind(l, l->families.n, 0);
        }
    }
    return IL_OK;
}

static il_status load_fault(load_diagnosis *x, const il_load_instance *one, il_silent *s) {
    static const il_str keys[] = {{"when", 4}, {"next", 4}};
    il_loader *l = x->l;
    const il_json *v = one->v;
    IL_TRY(il_load_slug(l, v, one->base, true, "fault"));
    s->name = one->name;
    s->line = v->key_line;
    s->col = v->key_col;
    if (il_json_kind_of(v) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "fault `%.*s` must be a map with `next`, and `when` unless it is everywhere",
                            IL_STR_ARG(s->name));
    }
    IL_TRY(il_json_only(v, keys, 2, "a fault", l->err));
    const il_json *when = il_json_get(v, IL_STR("when"));
    const il_json *next = NULL;
    IL_TRY(il_load_need(l, v, "next", IL_JSON_OBJECT, "fault", s->name, &next));
    if (il_json_count(next) == 0) {
        return IL_JSON_FAIL(next, l->err, IL_E_INVALID, "fault `%.*s` changes nothing; name a variable in `next`",
                            IL_STR_ARG(s->name));
    }
    if (when) {
        IL_TRY(il_load_over_pre(l, when, IL_CEL_BOOL, &s->when));
    }
    s->updates = IL_NEW_ARRAY(l->arena, il_update, l->m->nvars + 1);
    if (!s->updates) {
        return il_arena_fail(l->arena, l->err);
    }
    for (const il_json *u = il_json_first(next); u; u = il_json_next(u)) {
        IL_TRY(load_fault_update(x, u, s));
    }
    return IL_OK;
}

static il_status load_faults(load_diagnosis *x, const il_json *map) {
    il_load_instance *all = NULL;
    uint32_t n = 0;
    if (!map) {
        return IL_OK;
    }
    IL_TRY(load_diagnosis_map(x, map, "faults", IL_FAULTS_MAX));
    IL_TRY(il_load_instances(x->l, map, "fault", "faults", IL_FAULTS_MAX, &all, &n));
    x->d->silent = IL_NEW_ARRAY(x->l->arena, il_silent, n);
    if (!x->d->silent) {
        return il_arena_fail(x->l->arena, x->l->err);
    }
    for (uint32_t i = 0; i < n; i++) {
        il_load_bind(x->l, all[i].family, all[i].member);
        IL_TRY(load_fault(x, &all[i], &x->d->silent[i]));
        x->d->nsilent++;
    }
    il_load_bind(x->l, x->l->families.n, 0);
    return IL_OK;
}

static il_status load_shield_field(load_diagnosis *x, const il_action_def *a, const il_json *v, uint32_t *symbol) {
    il_loader *l = x->l;
    uint32_t f = il_model_field(l->m, (uint32_t)(a - l->m->actions), v->key);
    if (f == UINT32_MAX) {
        il_json at;
        return il_load_unknown(l, load_diagnosis_key(v, &at), "field", v->key, a->fields, a->nfields);
    }
    uint32_t place = 0;
    IL_TRY(il_load_value(l, v, &a->field_domains[f], &place));
    *symbol += place * a->strides[f];
    return IL_OK;
}

static il_status load_shield(load_diagnosis *x, const il_json *v, uint32_t *out) {
    il_loader *l = x->l;
    il_json room;
    const il_json *at = v;
    il_str name = il_json_text(v);
    const il_json *payload = NULL;
    if (il_json_kind_of(v) == IL_JSON_OBJECT && il_json_count(v) == 1) {
        payload = il_json_first(v);
        at = load_diagnosis_key(payload, &room);
        name = payload->key;
    } else if (il_json_kind_of(v) != IL_JSON_STRING) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "`shield` must be an action, or a map of one action and its payload");
    }
    il_load_named named = {0};
    IL_TRY(il_load_name(l, at, name, &named));
    uint32_t action = il_model_action(l->m, named.name);
    if (action == UINT32_MAX) {
        return il_load_unknown(l, at, "action", named.name, l->action_type.domain, l->action_type.ndomain);
    }
    const il_action_def *a = &l->m->actions[action];
    if (!a->corrective) {
        return IL_JSON_FAIL(at, l->err, IL_E_INVALID,
                            "action `%.*s` is no correction; say `corrective: true` there or name another", IL_STR_ARG(name));
    }
    if (payload && il_json_kind_of(payload) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(payload, l->err, IL_E_INVALID, "the payload of `%.*s` must be a map of fields", IL_STR_ARG(name));
    }
    *out = a->first_symbol;
    for (const il_json *f = il_json_first(payload); f; f = il_json_next(f)) {
        IL_TRY(load_shield_field(x, a, f, out));
    }
    return IL_OK;
}

static il_status load_alarm(load_diagnosis *x, const il_json *v, uint32_t region, il_alarm *a) {
    static const il_str keys[] = {{"raise", 5}, {"within", 6}, {"shield", 6}, {"why", 3}};
    il_loader *l = x->l;
    il_json at;
    *a = (il_alarm){.region = region, .shield = IL_NO_SYMBOL, .line = v->key_line, .col = v->key_col};
    if (l->m->regions[region].edge || l->m->regions[region].rejection) {
        return IL_JSON_FAIL(load_diagnosis_key(v, &at), l->err, IL_E_INVALID,
                            "region `%.*s` judges steps; an alarm is for a region of states",
                            IL_STR_ARG(l->m->regions[region].name));
    }
    for (uint32_t i = 0; i < x->d->nalarms; i++) {
        if (x->d->alarms[i].region == region) {
            return IL_JSON_FAIL(load_diagnosis_key(v, &at), l->err, IL_E_INVALID, "region `%.*s` has an alarm already",
                                IL_STR_ARG(l->m->regions[region].name));
        }
    }
    if (il_json_kind_of(v) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "alarm `%.*s` must be a map with `raise`", IL_STR_ARG(v->key));
    }
    IL_TRY(il_json_only(v, keys, 4, "an alarm", l->err));
    const il_json *raise = NULL;
    IL_TRY(il_load_need(l, v, "raise", IL_JSON_STRING, "alarm", v->key, &raise));
    a->certain = il_str_eq(raise->text, IL_STR("certain"));
    if (!a->certain && !il_str_eq(raise->text, IL_STR("possible"))) {
        return IL_JSON_FAIL(raise, l->err, IL_E_INVALID, "`raise` of alarm `%.*s` must be `possible` or `certain`",
                            IL_STR_ARG(v->key));
    }
    const il_json *within = il_json_get(v, IL_STR("within"));
    if (within) {
        int64_t n = 0;
        if (!il_json_int(within, &n) || n < 1 || n > IL_WITHIN_MAX) {
            return IL_JSON_FAIL(within, l->err, IL_E_INVALID, "`within` must be a whole number of steps from 1 to %u",
                                (unsigned)IL_WITHIN_MAX);
        }
        a->within = (uint32_t)n;
    }
    const il_json *why = il_json_get(v, IL_STR("why"));
    if (why) {
        IL_TRY(il_load_sentence(l, why, "`why` of an alarm must be a sentence", &a->why));
    }
    const il_json *shield = il_json_get(v, IL_STR("shield"));
    if (shield && !a->certain && !why) { /* spec: a shield must not be an attacker's for free */
        return IL_JSON_FAIL(
            shield, l->err, IL_E_INVALID,
            "the shield of alarm `%.*s` acts on a mere possibility, which an attacker may bring about; say with `why` "
            "why that is right, or raise `certain`",
            IL_STR_ARG(v->key));
    }
    return shield ? load_shield(x, shield, &a->shield) : IL_OK;
}

/* The alarms of one key: with an index that nothing binds one for each member, and under it the shield. */
static il_status load_alarms_of(load_diagnosis *x, const il_json *v) {
    il_loader *l = x->l;
    il_str names[IL_MODEL_REGIONS_MAX] = {{0}};
    il_json room;
    const il_json *at = load_diagnosis_key(v, &room);
    il_load_named named = {0};
    uint64_t regions = 0;
    for (uint32_t r = 0; r < l->m->nregions; r++) {
        names[r] = l->m->regions[r].name;
    }
    IL_TRY(il_load_name(l, at, v->key, &named));
    IL_TRY(load_diagnosis_named(x, at, v->key, "region", names, l->m->nregions, &regions));
    for (size_t member = 0; regions != 0; regions &= regions - 1, member++) {
        if (named.open) {
            il_load_bind(l, named.family, member);
        }
        IL_TRY(load_alarm(x, v, (uint32_t)__builtin_ctzll(regions), &x->d->alarms[x->d->nalarms]));
        x->d->nalarms++;
    }
    il_load_bind(l, l->families.n, 0);
    return IL_OK;
}

static il_status load_alarms(load_diagnosis *x, const il_json *map) {
    if (!map) {
        return IL_OK;
    }
    IL_TRY(load_diagnosis_map(x, map, "alarms", IL_MODEL_REGIONS_MAX));
    x->d->alarms = IL_NEW_ARRAY(x->l->arena, il_alarm, x->l->m->nregions + 1);
    if (!x->d->alarms) {
        return il_arena_fail(x->l->arena, x->l->err);
    }
    for (const il_json *v = il_json_first(map); v; v = il_json_next(v)) {
        IL_TRY(load_alarms_of(x, v));
    }
    return IL_OK;
}

il_status il_load_diagnosis(il_loader *l, const il_json *section) {
    static const il_str keys[] = {{"sees", 4}, {"verdicts", 8}, {"sensors", 7}, {"uses", 4}, {"faults", 6}, {"alarms", 6}};
    if (!section) {
        return IL_OK;
    }
    if (il_json_kind_of(section) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(section, l->err, IL_E_INVALID, "`diagnosis` must be a map");
    }
    IL_TRY(il_json_only(section, keys, sizeof keys / sizeof keys[0], "`diagnosis`", l->err));
    load_diagnosis x = {.l = l, .d = IL_NEW(l->arena, il_diagnosis)};
    if (!x.d) {
        return il_arena_fail(l->arena, l->err);
    }
    *x.d = il_diagnosis_default(l->m);
    if (il_json_get(section, IL_STR("verdicts"))) {
        IL_TRY(il_load_flag(l, section, "verdicts", &x.d->verdicts));
    }
    IL_TRY(load_sees(&x, il_json_get(section, IL_STR("sees"))));
    IL_TRY(load_sensors(&x, il_json_get(section, IL_STR("sensors"))));
    IL_TRY(load_uses(&x, il_json_get(section, IL_STR("uses"))));
    IL_TRY(load_faults(&x, il_json_get(section, IL_STR("faults"))));
    IL_TRY(load_alarms(&x, il_json_get(section, IL_STR("alarms"))));
    l->m->diagnosis = x.d;
    return IL_OK;
}
