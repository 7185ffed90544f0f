/* SPDX-License-Identifier: Apache-2.0 */
/* Words and operators of a POSIX shell command, as long as nothing in it is expanded (POSIX.1-2017, Shell Command Language, 2.2 and 2.3). */
#pragma once
#include "base/arena.h"

typedef enum il_shell_sort {
    IL_SHELL_END = 0, /* of the text */
    IL_SHELL_WORD,    /* quotes removed */
    IL_SHELL_NEXT,    /* ; & && || | or a line's end: another command begins */
    IL_SHELL_FROM,    /* < : the next word is read */
    IL_SHELL_INTO,    /* > >> &> : the next word is written */
    IL_SHELL_STRANGE  /* not understood; `text` says why */
} il_shell_sort;

typedef struct il_shell_token {
    il_shell_sort sort;
    il_str text;
    bool quoted; /* a part of the word was quoted */
} il_shell_token;

typedef struct il_shell_lexer {
    il_str text;
    size_t at;
    char *room; /* text.n bytes for the words without their quotes, which are no longer */
    size_t used;
} il_shell_lexer;

il_shell_token il_shell_next(il_shell_lexer *l);
