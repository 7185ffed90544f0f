/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "host/file.h"
#include "host/machine_file.h"
#include "host/preset.h"
#include "host/prove.h"
#include "interlock/host.h"

#define BUNDLE_ARENA_BYTES ((size_t)256 << 20)

struct il_bundle {
    il_alloc alloc;
    il_arena proven; /* table and certificate of a machine from a file; empty for a shipped one */
    il_machine *machine;
    il_policy *policy;
};

const il_policy *il_bundle_policy(const il_bundle *b) { return b ? b->policy : NULL; }

void il_bundle_free(il_bundle *b) {
    if (b) {
        const il_alloc alloc = b->alloc;
        il_policy_free(b->policy);
        il_machine_free(b->machine);
        il_arena_free(&b->proven);
        alloc.free(alloc.ctx, b);
    }
}

/* A failure in the machine's file, said at the place where the policy names it. */
static il_status bundle_machine_failed(il_status status, const il_json *at, const char *path, const il_error *why,
                                       il_error *err) {
    if (why->line) {
        return IL_JSON_FAIL(at, err, status, "machine `%s`, line %u, column %u: %s", path, (unsigned)why->line,
                            (unsigned)why->col, why->msg);
    }
    return IL_JSON_FAIL(at, err, status, "machine `%s`: %s", path, why->msg);
}

static il_status bundle_machine(il_bundle *b, il_arena *scratch, const char *path, const il_json *doc, il_error *err) {
    il_str name;
    il_error why = {0};
    const char *file = NULL;
    IL_TRY(il_policy_machine_name(doc, &name, err));
    const il_json *at = il_json_get(doc, IL_STR("machine"));
    if (!il_machine_file_is(name)) {
        const il_status status = il_host_machine(&b->alloc, name, &b->machine, &why);
        return status == IL_OK ? status : IL_JSON_FAIL(at, err, status == IL_E_NOT_FOUND ? IL_E_INVALID : status, "%s", why.msg);
    }
    IL_TRY(il_machine_file_path(scratch, path, name, &file, err));
    const il_status status = il_prove_file(&b->alloc, &b->proven, file, &b->machine, &why);
    return status == IL_OK ? status : bundle_machine_failed(status, at, file, &why, err);
}

/* `doc`: NULL is the file at `path`. */
static il_status bundle_read(il_bundle *b, il_arena *scratch, const char *path, const il_json *doc, il_error *err) {
    il_json *file;
    const il_json *flat;
    il_preset_shelf shelf = {.arena = scratch};
    const il_presets presets = il_host_presets(&shelf);
    if (!doc) {
        IL_TRY(il_file_document(scratch, path, IL_FILE_TRUSTED, &file, err));
        doc = file;
    }
    IL_TRY(bundle_machine(b, scratch, path, doc, err));
    IL_TRY(il_policy_expand(scratch, doc, &presets, &flat, err));
    return il_policy_new(&b->alloc, flat, b->machine, &b->policy, err);
}

static il_status bundle_make(const il_alloc *alloc, const char *path, const il_json *doc, il_bundle **out, il_error *err) {
    il_arena scratch;
    *out = NULL;
    il_bundle *b = alloc->alloc(alloc->ctx, sizeof *b);
    if (!b) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    *b = (il_bundle){.alloc = *alloc};
    il_arena_init(&b->proven, &b->alloc, BUNDLE_ARENA_BYTES);
    il_arena_init(&scratch, alloc, BUNDLE_ARENA_BYTES);
    if (err) {
        *err = (il_error){0}; /* positions of an earlier use must not stay */
    }
    const il_status status = bundle_read(b, &scratch, path, doc, err);
    il_arena_free(&scratch);
    if (status != IL_OK) {
        il_bundle_free(b);
        return status;
    }
    *out = b;
    return IL_OK;
}

il_status il_bundle_load(const il_alloc *alloc, const char *path, il_bundle **out, il_error *err) {
    return bundle_make(alloc, path, NULL, out, err);
}

il_status il_bundle_new(const il_alloc *alloc, const il_json *doc, const char *path, il_bundle **out, il_error *err) {
    return bundle_make(alloc, path ? path : "", doc, out, err);
}
