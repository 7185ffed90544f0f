/* SPDX-License-Identifier: Apache-2.0 */
/* What other modules of the core ask of a program beside interlock/cel.h. */
#pragma once
#include "base/buf.h"
#include "interlock/cel.h"
#include "json/node.h"

/* Which variables and fields a program reads: calls visit(ctx, var, field) for each `var.field` (field SIZE_MAX for the whole variable).
 * The checker of machines uses it (which variables does a region depend on). */
void il_cel_reads(const il_cel_program *program, void (*visit)(void *ctx, size_t var, size_t field), void *ctx);

/* The expression written back as text, lets expanded, minimal parentheses (exports, reports, round-trip tests). */
void il_cel_print(const il_cel_program *program, il_buf *out);

/* A type as people write it: `list(int)`, `map(string, dyn)`, `optional_type(T)`, `tuple(int, dyn)`; a record by its name. At most cap - 1 bytes and a
 * NUL; returns the bytes written. */
size_t il_cel_type_text(const il_cel_type *type, char *out, size_t cap);
