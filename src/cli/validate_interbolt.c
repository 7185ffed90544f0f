/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/validate_interbolt.h"

#include "base/sha256.h"
#include "host/file.h"
#include "policy/interbolt.h"

il_status il_validate_interbolt(const il_policy *policy, const char *path, il_arena *arena, const il_lint_out *warn,
                                const il_lint_out *found, il_str *fingerprint, il_error *err) {
    uint8_t digest[IL_DIGEST_BYTES];
    char hex[IL_DIGEST_HEX], text[IL_DIGEST_HEX + 8];
    il_json *doc = NULL;
    *fingerprint = (il_str){0};
    IL_TRY(il_file_document(arena, path, IL_FILE_TRUSTED, &doc, err));
    if (!il_interbolt_is(doc)) {
        return IL_OK;
    }
    IL_TRY(il_interbolt_lint(policy, doc, arena, warn, found, err));
    IL_TRY(il_interbolt_fingerprint(doc, arena, digest, err));
    il_digest_hex(digest, hex);
    return il_arena_copy(arena, (il_str){text, il_format(text, sizeof text, "sha256:%s", hex)}, fingerprint, err);
}
