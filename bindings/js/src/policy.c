/* SPDX-License-Identifier: Apache-2.0 */
/* Machines, policies and the monitors on them. Each lives as long as the instance. */
#include "exports.h"

#define POLICY_ARENA_BYTES ((size_t)64 << 20)

il_machine *iljs_machine(size_t n) {
    il_error err = {0};
    il_machine *m = NULL;
    iljs_open(n, 0);
    const il_str table = iljs_part(), certificate = iljs_part();
    char *kept = malloc(table.n + certificate.n + 1); /* the machine borrows both */
    il_status s = IL_E_MEMORY;
    if (kept != NULL) {
        __builtin_memcpy(kept, table.p, table.n);
        __builtin_memcpy(kept + table.n, certificate.p, certificate.n);
        s = il_machine_open(&iljs_alloc, (il_str){kept, table.n}, (il_str){kept + table.n, certificate.n}, &m, &err);
    }
    if (s != IL_OK) {
        free(kept);
        m = NULL;
    }
    (void)iljs_done(s, &err);
    return m;
}

/* ---- presets: given by JavaScript when they are asked for -------------------------------------------------- */

typedef struct policy_preset policy_preset;
struct policy_preset {
    policy_preset *next;
    il_json_doc *doc;
    size_t n;
    char name[];
};

static policy_preset *policy_presets;

il_status iljs_preset(size_t n) {
    il_error err = {0};
    iljs_open(n, 0);
    const il_str name = iljs_part(), text = iljs_part();
    policy_preset *p = malloc(sizeof *p + name.n);
    if (p == NULL) {
        return iljs_done(IL_E_MEMORY, NULL);
    }
    *p = (policy_preset){.next = policy_presets, .n = name.n};
    __builtin_memcpy(p->name, name.p, name.n);
    const il_status s = iljs_doc(text, &p->doc, &err);
    if (s != IL_OK) {
        free(p);
        return iljs_done(s, &err);
    }
    policy_presets = p;
    return iljs_done(IL_OK, NULL);
}

static il_status policy_preset_find(void *ctx, il_str name, const il_json **out, il_error *err) {
    (void)ctx;
    for (const policy_preset *p = policy_presets; p != NULL; p = p->next) {
        if (iljs_eq((il_str){p->name, p->n}, name)) {
            *out = il_json_doc_root(p->doc);
            return IL_OK;
        }
    }
    iljs_want(IL_STR("preset"), name);
    if (err != NULL) {
        *err = (il_error){.code = IL_E_NOT_FOUND};
        __builtin_memcpy(err->msg, "there is no such preset", sizeof "there is no such preset");
    }
    return IL_E_NOT_FOUND;
}

/* ---- the monitor --------------------------------------------------------------------------------------------- */

static il_status policy_compile(il_arena *arena, const il_json *doc, const il_machine *machine, il_policy **out, il_error *err) {
    const il_presets presets = {.size = sizeof presets, .find = policy_preset_find};
    const il_json *flat = NULL;
    const il_status s = il_policy_expand(arena, doc, &presets, &flat, err);
    return s != IL_OK ? s : il_policy_new(&iljs_alloc, flat, machine, out, err);
}

il_status iljs_machine_name(size_t n) {
    il_error err = {0};
    il_json_doc *doc;
    il_str name = {0};
    iljs_open(n, 0);
    il_status s = iljs_doc(iljs_part(), &doc, &err);
    s = s == IL_OK ? il_policy_machine_name(il_json_doc_root(doc), &name, &err) : s;
    if (s == IL_OK) {
        iljs_put_str(iljs_out(), name);
    }
    il_json_doc_free(doc);
    return iljs_done(s, &err);
}

il_monitor *iljs_monitor(size_t n, const il_machine *machine, uint32_t enforce, double deadline_ms) {
    il_error err = {0};
    il_json_doc *doc;
    il_policy *policy = NULL;
    il_monitor *monitor = NULL;
    iljs_open(n, 0);
    il_status s = iljs_doc(iljs_part(), &doc, &err);
    il_arena *arena = s == IL_OK ? il_arena_new(&iljs_alloc, POLICY_ARENA_BYTES) : NULL;
    if (s == IL_OK) {
        s = arena != NULL ? policy_compile(arena, il_json_doc_root(doc), machine, &policy, &err) : IL_E_MEMORY;
    }
    if (s == IL_OK) {
        const il_monitor_config config = {.size = sizeof config,
                                          .policy = policy,
                                          .store = iljs_store(),
                                          .host = iljs_host(),
                                          .call_deadline_ms = deadline_ms >= 1 ? (uint64_t)deadline_ms : 0,
                                          .enforce = enforce != 0,
                                          .cache = iljs_recalls()};
        s = il_monitor_new(&iljs_alloc, &config, &monitor, &err);
    }
    if (s == IL_OK) {
        uint8_t digest[IL_DIGEST_BYTES];
        il_policy_fingerprint(policy, digest);
        iljs_put(iljs_out(), digest, sizeof digest);
        iljs_put_u32(iljs_out(), il_policy_mode(policy) == IL_MODE_MONITOR && enforce == 0);
    } else {
        il_policy_free(policy);
        monitor = NULL;
    }
    il_arena_delete(arena);
    il_json_doc_free(doc);
    (void)iljs_done(s, &err);
    return monitor;
}

void iljs_monitor_free(il_monitor *m) { il_monitor_free(m); }
