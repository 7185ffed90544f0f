/* SPDX-License-Identifier: Apache-2.0 */
/* Strings, status codes, errors and the allocator that every other header builds on.
 *
 * Threads: everything here is plain data without hidden state; an il_error belongs to its caller.
 *
 *     il_error err = {0};
 *     il_machine *m = NULL;
 *     if (il_machine_open(&alloc, table, certificate, &m, &err) != IL_OK)
 *         report(err.line, err.col, err.msg);          // and do not run the call
 */
#pragma once
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define IL_API __attribute__((visibility("default")))
#define IL_NODISCARD __attribute__((warn_unused_result))
#define IL_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define IL_API
#define IL_NODISCARD
#define IL_PRINTF(f, a)
#endif

/* One row a status: name, number (stable, part of the ABI), meaning. */
#define IL_STATUS_MAP(X)                                                                   \
    X(IL_OK, 0, "fine")                                                                    \
    X(IL_E_ARGUMENT, 1, "the caller broke a rule of the function")                         \
    X(IL_E_MEMORY, 2, "the allocator had no memory")                                       \
    X(IL_E_LIMIT, 3, "a size, depth or count limit was reached")                           \
    X(IL_E_SYNTAX, 4, "the text does not follow its format (JSON, YAML, CEL)")             \
    X(IL_E_INVALID, 5, "well-formed, but says something that is not allowed or not known") \
    X(IL_E_NOT_FOUND, 6, "no such thing")                                                  \
    X(IL_E_EXISTS, 7, "it is there already")                                               \
    X(IL_E_CONFLICT, 8, "somebody else changed it in between; load again")                 \
    X(IL_E_SEAL, 9, "a table or certificate does not verify")                              \
    X(IL_E_MISMATCH, 10, "bound to another policy or machine")                             \
    X(IL_E_STATE, 11, "not possible in the present state")                                 \
    X(IL_E_BUSY, 12, "the store did not answer within its time-out")                       \
    X(IL_E_IO, 13, "reading or writing failed")                                            \
    X(IL_E_DAMAGED, 14, "stored data is damaged or not ours")                              \
    X(IL_E_PERMISSION, 15, "file permissions forbid it, or are too wide to trust")         \
    X(IL_E_VERSION, 16, "a document or ledger of a version that this build does not know") \
    X(IL_E_INTERNAL, 17, "a broken invariant of this library")

typedef enum il_status {
#define IL_STATUS_ENUM(name, number, text) name = number,
    IL_STATUS_MAP(IL_STATUS_ENUM)
#undef IL_STATUS_ENUM
} il_status;

/* The constant's name (`IL_E_LIMIT`); `IL_E_INTERNAL` for a number that is none. Never NULL. */
IL_API const char *il_status_name(il_status s);

/* A borrowed run of bytes, not NUL-terminated, UTF-8 where text is meant. p may be NULL when n is 0. */
typedef struct il_str {
    const char *p;
    size_t n;
} il_str;

#define IL_STR(lit) ((il_str){(lit), sizeof(lit) - 1})
#define IL_STR_ARG(s) ((int)((s).n > (size_t)INT_MAX ? INT_MAX : (s).n)), ((s).p ? (s).p : "")

/* Where and why something failed. `msg` is NUL-terminated, lower case, one line, control characters
 * and invalid bytes escaped, always valid UTF-8. `line` and `col` count from 1 (col in code points), 0 when there is no position;
 * `offset` counts bytes from 0; `span` is how many code points from col on the message is about, never past the end of that line; 0 when it is about
 * the place alone. */
#define IL_ERROR_MSG_BYTES 240
typedef struct il_error {
    il_status code;
    uint32_t line, col, span;
    size_t offset;
    char msg[IL_ERROR_MSG_BYTES];
} il_error;

/* Memory comes from here and nowhere else. alloc returns NULL on failure, memory aligned for max_align_t
 * otherwise; free accepts NULL. Both may be called from any thread that uses an object made with it. */
typedef struct il_alloc {
    void *(*alloc)(void *ctx, size_t n);
    void (*free)(void *ctx, void *p);
    void *ctx;
} il_alloc;

/* A region of memory with a hard cap that is given back as a whole: what makes trees and programs takes one.
 * Threads: one writer; what was allocated may be read from anywhere once writing has ended. */
typedef struct il_arena il_arena;
/* Allocates in pieces from `alloc` (borrowed), `cap_bytes` in all, padding included. NULL: no memory. The caller deletes it. */
IL_API il_arena *il_arena_new(const il_alloc *alloc, size_t cap_bytes);
/* Forgets everything in it but keeps one piece for reuse. */
IL_API void il_arena_reset(il_arena *a);
/* Accepts NULL. */
IL_API void il_arena_delete(il_arena *a);

/* Number of bytes of a SHA-256 digest. */
#define IL_DIGEST_BYTES 32
/* The compression function of SHA-256: takes `nblocks` blocks of 64 bytes into the state (FIPS 180-4, 6.2.2). A host that has a faster one gives it
 * where such a member is offered; NULL there is the library's own, in portable C. Called from any thread. */
typedef void (*il_sha256_blocks)(uint32_t state[8], const uint8_t *blocks, size_t nblocks);

/* Library version, `MAJOR.MINOR.PATCH`. */
IL_API const char *il_version(void);

#ifdef __cplusplus
}
#endif
