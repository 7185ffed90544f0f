/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/harden_joined.h"

#include "base/error.h"
#include "check/diagnose.h"
#include "check/fleet.h"
#include "check/widening.h"
#include "cli/model.h"
#include "json/node.h"

static il_status joined_fleet(il_harden *h, il_error *err) {
    il_space_bounds bounds = h->subject.bounds;
    il_fleet_check check;
    bounds.spent = NULL; /* another question, with as much work of its own */
    il_json *object = NULL;
    IL_TRY(il_fleet_run(&check, h->subject.alloc, h->subject.arena, h->subject.m, &bounds, err));
    IL_TRY(il_fleet_object(&check, h->subject.arena, &object, err));
    h->beside = il_harden_worse(h->beside, check.exit);
    return il_harden_join(h, "fleet", object, err);
}

static il_status joined_against(il_harden *h, const char *against, const char **about, il_error *err) {
    il_space_bounds bounds = h->subject.bounds;
    il_widening w;
    bounds.spent = NULL;
    il_model *old = NULL;
    il_json *object = NULL;
    const char *machine = *about;
    *about = against;
    IL_TRY(il_cli_model(h->subject.arena, about, &old, err));
    IL_TRY(il_widening_run(&w, h->subject.alloc, h->subject.arena, h->subject.m, old, &bounds,
                           err)); /* what it refuses is the old one */
    *about = machine;
    IL_TRY(il_widening_object(&w, h->subject.arena, &object, err));
    h->beside = il_harden_worse(h->beside, w.exit);
    return il_harden_join(h, "against", object, err);
}

il_status il_harden_joined(il_harden *h, const char *against, const char **about, il_error *err) {
    if (h->subject.m->fleet) {
        IL_TRY(joined_fleet(h, err));
    }
    return against ? joined_against(h, against, about, err) : IL_OK;
}

il_status il_harden_diagnosis(il_harden *h, il_error *err) {
    const il_subject *s = &h->subject;
    il_json *object = NULL;
    if (!s->m->diagnosis) {
        return IL_OK;
    }
    const il_diagnose_ask ask = {.eye = il_diagnose_eye(s->m)};
    il_space_bounds bounds = s->bounds;
    bounds.spent = NULL; /* another question, with as much work of its own */
    il_diagnose *g = IL_NEW(s->arena, il_diagnose);
    if (!g) {
        return il_arena_fail(s->arena, err);
    }
    IL_TRY(il_diagnose_run(g, s->alloc, s->arena, s->m, &ask, &bounds, err));
    IL_TRY(il_diagnose_object(g, s->arena, &object, err));
    return il_harden_join(h, "diagnosis", object, err);
}

il_status il_harden_joined_text(const il_harden *h, const char *against, il_str *out, il_error *err) {
    il_buf b;
    il_buf_init(&b, h->subject.arena, (size_t)16 << 20);
    for (const il_section *s = h->sections; s; s = s->next) {
        if (il_str_eq(il_str_of(s->key), IL_STR("fleet"))) {
            il_fleet_text(s->object, &b);
        } else if (il_str_eq(il_str_of(s->key), IL_STR("against"))) {
            il_widening_text(s->object, against, &b);
        }
    }
    return il_buf_done(&b, out, err);
}
