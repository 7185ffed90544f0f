/* SPDX-License-Identifier: Apache-2.0 */
/* Documents from disk. Errors say what is wrong with the file; its name is the caller's to print. */
#pragma once
#include "base/arena.h"
#include "json/node.h"

/* The largest policy or machine file: far above any that a person writes, far below what would fill memory. */
#define IL_DOCUMENT_BYTES_MAX ((size_t)4 << 20)

typedef enum il_file_trust {
    IL_FILE_TRUSTED = 0, /* decides what is allowed: refused when group or others may write it */
    IL_FILE_DATA = 1
} il_file_trust;

/* Reads a whole regular file, of IL_FILE_DATA also a pipe (`<(...)` of a shell), into `arena`. IL_E_NOT_FOUND; IL_E_PERMISSION
 * (not readable, or too many may write it); IL_E_LIMIT above `max` bytes, seen before a byte of a file is read; IL_E_INVALID for a
 * folder or device; IL_E_SYNTAX for an empty or a binary one; IL_E_IO. */
IL_NODISCARD il_status il_file_read(il_arena *arena, const char *path, size_t max, il_file_trust trust, il_str *out,
                                    il_error *err);

/* Reads it and parses it as YAML (which JSON is too). Errors carry the position. */
IL_NODISCARD il_status il_file_document(il_arena *arena, const char *path, il_file_trust trust, il_json **out, il_error *err);
