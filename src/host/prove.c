/* SPDX-License-Identifier: Apache-2.0 */
#include "host/prove.h"

#include "base/error.h"
#include "check/harden.h"
#include "host/file.h"

#define PROVE_ARENA_BYTES ((size_t)2 << 30)

static il_status prove_model(const il_alloc *alloc, il_arena *scratch, il_arena *arena, const il_model *model, il_str *table,
                             il_str *certificate, il_error *err) {
    il_harden h = {0};
    il_status status = il_harden_prove(&h, alloc, scratch, model, err);
    if (status == IL_OK && !h.fully_mediated) {
        status = il_error_set(err, IL_E_SEAL, "it is not fully mediated and cannot guard a session; run: interlock harden on it");
    }
    if (status == IL_OK) {
        status = il_arena_copy(arena, h.table, table, err);
    }
    if (status == IL_OK) {
        status = il_arena_copy(arena, h.certificate, certificate, err);
    }
    il_harden_free(&h);
    return status;
}

il_status il_prove_file(const il_alloc *alloc, il_arena *arena, const char *path, il_machine **out, il_error *err) {
    il_arena scratch;
    il_json *doc;
    il_model *model;
    il_str table, certificate;
    *out = NULL;
    il_arena_init(&scratch, alloc, PROVE_ARENA_BYTES);
    il_status status = il_file_document(&scratch, path, IL_FILE_TRUSTED, &doc, err);
    if (status == IL_OK) {
        status = il_model_load(&scratch, doc, &model, err);
    }
    if (status == IL_OK) {
        status = prove_model(alloc, &scratch, arena, model, &table, &certificate, err);
    }
    il_arena_free(&scratch);
    return status == IL_OK ? il_machine_open(alloc, table, certificate, out, err) : status;
}
