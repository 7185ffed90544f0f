/* SPDX-License-Identifier: Apache-2.0 */
/* Command-line options: `--name VALUE`, `--name=VALUE`, `--flag`, in any order among the arguments; `--` ends them; `-` is an argument. */
#pragma once
#include "base/error.h"

typedef struct il_option {
    const char *name;   /* without its dashes */
    const char **value; /* takes a value: where to put it (borrowed from argv) */
    bool *flag;         /* or: set to true */
    const char **list;  /* or: a value that may be given up to `most` times */
    size_t most, *count;
} il_option;

typedef struct il_arguments {
    int n;
    char **v;   /* borrowed from argv, which is reordered */
    int after;  /* of them, the first that stood behind `--`; n when there was no `--` */
    bool ended; /* there was a `--` */
} il_arguments;

/* IL_E_INVALID for an unknown option (with the nearest one), a missing value, a value for a flag, an option given twice. */
IL_NODISCARD il_status il_options_read(int argc, char **argv, const il_option *options, size_t n, il_arguments *out,
                                       il_error *err);
/* A whole number from 1 to `max`. */
IL_NODISCARD il_status il_options_number(const char *option, const char *text, uint64_t max, uint64_t *out, il_error *err);
