/* SPDX-License-Identifier: Apache-2.0 */
/* What a shell command does, as far as its text tells: simple commands of programs that are known, with plain and quoted words, pipes, lists and redirections. Everything
 * else (expansions, substitutions, here-documents, functions, unknown programs and options that start others) is not understood, which is the worst case for every question. */
#pragma once
#include "base/arena.h"
#include "base/error.h"

#define IL_SHELL_BYTES_MAX ((size_t)64 << 10)
#define IL_SHELL_WORDS_MAX 1024u

typedef struct il_shell {
    bool understood; /* false: it may do anything; nothing else is filled */
    char why[96];    /* for people, when it is not */
    bool hosts;      /* reaches other machines */
    bool runs; /* runs code that is not a known reader, changes what cannot be taken back, or writes a file that runs later */
    const il_str *reads; /* words that name files which are read; in the arena */
    size_t nreads;
    const il_str *writes; /* and written */
    size_t nwrites;
} il_shell;
/* IL_E_MEMORY, IL_E_LIMIT (the arena); a text that is too long is not understood. */
IL_NODISCARD il_status il_shell_read(il_str text, il_arena *arena, il_shell *out, il_error *err);
